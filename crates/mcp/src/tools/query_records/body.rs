//! The rows of a page, as a tree or as the bytes that came.

use std::ops::Range;

use bytes::Bytes;
use serde_json::Value;

use super::text::PREVIEWED;
use crate::plain::{Member, Reader, Visit, text_of};
use crate::record::{self, is_plain_id};
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

    /// The rows, or as many of them as are looked into.
    pub(super) fn rows(&self) -> &[Value] {
        match self {
            Self::Tree(body) => record::rows(body),
            Self::Plain(page) => &page.first,
        }
    }
}

/// A page of live records under their own ids, whose bytes need no change. Trees are made of what is looked into: the
/// first rows, and what stands around them all.
#[derive(Debug)]
pub(super) struct PlainPage {
    pub(super) bytes: Bytes,
    /// With nothing where the rows were.
    envelope: Value,
    first: Vec<Value>,
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
        let json = str::from_utf8(bytes).ok()?;
        let mut page = Around { json, scale, rows: None };
        let mut reader = Reader::new(json);
        reader.object(&mut page)?;
        let rows = page.rows.filter(|_| reader.is_at_end())?;
        let (before, after) = (&json[..rows.place.start], &json[rows.place.end..]);
        let around = [before, "null", after].concat();
        Some(Self {
            envelope: serde_json::from_str(&around).ok()?,
            envelope_cost: scale.cost(&around),
            first: rows.first,
            ids: rows.ids,
            costs: rows.costs,
            bytes: bytes.clone(),
            scale,
        })
    }

    /// The ids of the rows.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        let text = |place: &Range<usize>| self.bytes.get(place.clone()).map(str::from_utf8);
        self.ids.iter().map(move |place| text(place).and_then(Result::ok).unwrap_or_default())
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
    first: Vec<Value>,
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
            row.members.clear();
            row.id = None;
            let start = reader.at();
            reader.object(&mut row)?;
            rows.ids.push(row.id.take()?);
            rows.costs.push(costs.cost(json, &row.members));
            if rows.first.len() < PREVIEWED {
                rows.first.push(serde_json::from_str(&json[start..reader.at()]).ok()?);
            }
            Some(())
        })?;
        Some(rows)
    }
}

/// One row.
#[derive(Default)]
struct Row<'j> {
    members: Vec<Member<'j>>,
    id: Option<Range<usize>>,
}

impl<'j> Visit<'j> for Row<'j> {
    fn member(&mut self, member: Member<'j>) -> Option<()> {
        match member.name {
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
