//! The rows of a page, as a tree or as the bytes that came.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::text::PREVIEWED;
use crate::plain::{Member, Reader, Visit, text_of, tree_of};
use crate::record::{self, is_plain_id};
use crate::row::{Named, PlainRow};
use crate::tokens::{RawRows, Scale};

/// What a server sent.
#[derive(Debug)]
pub(super) enum Body {
    /// Any JSON.
    Tree(Value),
    /// A page that can be shown as it came.
    Plain(PlainPage),
}

impl Body {
    /// What stands around the rows.
    pub(super) fn envelope(&self) -> &Value {
        match self {
            Self::Tree(body) => body,
            Self::Plain(page) => &page.envelope,
        }
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Tree(body) => record::rows(body).len(),
            Self::Plain(page) => page.costs.len(),
        }
    }

    /// How many records there are, of which `looked_into` are the rows that could be one.
    pub(super) fn count_of<T>(&self, looked_into: &[T]) -> usize {
        match self {
            Self::Tree(_) => looked_into.len(),
            Self::Plain(page) => page.costs.len(),
        }
    }

    /// How closely costs are told.
    pub(super) fn scale(&self) -> Scale {
        match self {
            Self::Tree(_) => Scale::Close,
            Self::Plain(page) => page.scale,
        }
    }

    /// The rows, or as many of them as are looked into, which stand in this place unless they say so themselves.
    pub(super) fn named(&self, stream: &str, connection_id: Option<&str>) -> Vec<Named<'_>> {
        match self {
            Self::Tree(body) => {
                let rows = record::rows(body).iter().filter_map(Value::as_object);
                rows.map(|row| Named::new(row, stream, connection_id)).collect()
            }
            Self::Plain(page) => page.first.iter().map(Named::plain).collect(),
        }
    }
}

/// A page of live records under their own ids, whose bytes need no change. Only what is looked into is taken out
/// of them: the first rows, and what stands around them all.
#[derive(Debug)]
pub(super) struct PlainPage {
    pub(super) json: Arc<str>,
    /// With nothing where the rows were.
    envelope: Value,
    first: Vec<PlainRow>,
    /// Where the ids of the rows stand.
    ids: Vec<Range<usize>>,
    /// What each row costs.
    pub(super) costs: Vec<usize>,
    /// What stands around them costs.
    pub(super) envelope_cost: usize,
    /// How closely both are told.
    scale: Scale,
}

impl PlainPage {
    /// Reads a page; none when it is of another kind.
    pub(super) fn read(bytes: &Bytes, scale: Scale) -> Option<Self> {
        Self::of(str::from_utf8(bytes).ok()?.into(), scale)
    }

    /// The same for a text.
    pub(super) fn of(json: Arc<str>, scale: Scale) -> Option<Self> {
        let mut page = Around { json: &json, scale, rows: None };
        let mut reader = Reader::new(&json);
        reader.object(&mut page)?;
        let rows = page.rows.filter(|_| reader.is_at_end())?;
        let (before, after) = (&json[..rows.place.start], &json[rows.place.end..]);
        let around = [before, "null", after].concat();
        Some(Self {
            envelope: tree_of(&around)?,
            envelope_cost: scale.cost(&around),
            first: rows.first,
            ids: rows.ids,
            costs: rows.costs,
            json,
            scale,
        })
    }

    /// The ids of the rows.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(|place| self.json.get(place.clone()).unwrap_or_default())
    }
}

/// The object around the rows.
struct Around<'j> {
    json: &'j str,
    scale: Scale,
    rows: Option<Rows>,
}

/// What is kept of the rows.
#[derive(Default)]
struct Rows {
    place: Range<usize>,
    first: Vec<PlainRow>,
    ids: Vec<Range<usize>>,
    costs: Vec<usize>,
}

impl<'j> Visit<'j> for Around<'j> {
    /// A cursor may look like bytes, and is sent back letter by letter.
    fn may_be_bytes(&self, name: &str) -> bool {
        ["next_cursor", "next_changes_since"].contains(&name)
    }

    fn value(&mut self, reader: &mut Reader<'j>, name: &'j str) -> Option<()> {
        match name {
            // Rows stand in one of these; a page with both, or with something else there, is of another kind.
            "data" | "records" if self.rows.is_none() => {
                self.rows = Some(Rows::read(self.json, self.scale, reader)?);
                Some(())
            }
            // A schema says whose bearer it was given to.
            "data" | "records" | "bearer" => None,
            _ => reader.skip(),
        }
    }
}

impl Rows {
    fn read<'j>(json: &'j str, scale: Scale, reader: &mut Reader<'j>) -> Option<Self> {
        let mut rows = Self::default();
        let mut costs = RawRows::new(scale);
        let mut row = Row::default();
        rows.place = reader.array(|reader| {
            row.next();
            let start = reader.at();
            reader.object(&mut row)?;
            let id = row.id.take()?;
            rows.costs.push(costs.cost(json, &row.members, &row.before));
            if rows.first.len() < PREVIEWED {
                let text = &json[start..reader.at()];
                rows.first.push(PlainRow::read(text, &json[id.clone()], &row.members)?);
            }
            rows.ids.push(id);
            Some(())
        })?;
        Some(rows)
    }
}

/// One row.
#[derive(Default)]
struct Row<'j> {
    members: Vec<Member<'j>>,
    /// Of the row before.
    before: Vec<Member<'j>>,
    id: Option<Range<usize>>,
}

impl Row<'_> {
    /// Makes room for the next row.
    fn next(&mut self) {
        std::mem::swap(&mut self.before, &mut self.members);
        self.members.clear();
        self.id = None;
    }
}

impl<'j> Visit<'j> for Row<'j> {
    fn before(&self, place: usize) -> Option<Member<'j>> {
        self.before.get(place).copied()
    }

    fn member(&mut self, member: Member<'j>) -> Option<()> {
        match member.name {
            // What stood in the row before was looked at there.
            name if member.repeats && name != "result_id" => {}
            "result_id" => {
                let id = text_of(member.value).filter(|id| is_plain_id(id))?;
                self.id = Some(member.end - 1 - id.len()..member.end - 1);
            }
            // What may say that the record is gone.
            "deleted" | "op" => return None,
            "object" if member.value == "\"tombstone\"" => return None,
            _ => {}
        }
        self.members.push(member);
        Some(())
    }
}
