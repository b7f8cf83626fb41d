//! A row of a page as it is looked into: as a tree, or as the text that came.
//!
//! Of a row that can be shown as it came, little is looked into, and making a tree of it costs more than all the rest. So
//! only the fields that may be listed by themselves become values; a whole tree is made where a record must be cut.

use std::borrow::Cow;

use pdpp_evidence::RecordHandle;
use serde_json::{Map, Value};

use crate::ladder::{content_fields, is_content};
use crate::plain::{Member, members_of, same, tree_of, unescaped};
use crate::record::{self, is_plain_id, plain_handle, usable_id};

/// The longest text that is listed only where it holds whitespace, with its quotes.
const SHORT: usize = 64 + 2;

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'v> {
    Tree(&'v Map<String, Value>),
    Plain(&'v PlainRow),
}

/// A row of a live record under its own plain id, which can be shown as it came.
#[derive(Debug)]
pub(crate) struct PlainRow {
    json: String,
    id: String,
    /// What the row says beside its id, as JSON.
    pub(crate) part: String,
    /// The fields that may be listed.
    fields: Vec<(String, Value)>,
}

/// A row of a page, and the record it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Named<'v> {
    pub(crate) row: Row<'v>,
    pub(crate) handle: Option<RecordHandle>,
    /// What a model passes on; none when no tool would take it.
    pub(crate) id: Option<Cow<'v, str>>,
}

impl<'v> Named<'v> {
    /// A row, and where it stands unless it says so itself.
    pub(crate) fn new(row: &'v Map<String, Value>, stream: &str, connection_id: Option<&str>) -> Self {
        let handle = record::identity(row, Some(stream), connection_id);
        let own_id = || record::text(row, "result_id").filter(|id| is_plain_id(id)).map(Cow::Borrowed);
        let id = handle.as_ref().and_then(|handle| own_id().or_else(|| usable_id(handle).map(Cow::Owned)));
        Self { row: Row::Tree(row), handle, id }
    }

    pub(crate) fn plain(row: &'v PlainRow) -> Self {
        Self { row: Row::Plain(row), handle: plain_handle(&row.id), id: Some(Cow::Borrowed(&row.id)) }
    }
}

impl<'v> Row<'v> {
    /// Whether the row says that its record is gone.
    pub(crate) fn is_deleted(self) -> bool {
        match self {
            Self::Tree(row) => record::is_deleted(row),
            Self::Plain(_) => false,
        }
    }

    /// The fields that are content; those that nothing lists may be missing.
    pub(crate) fn fields(self) -> Vec<(&'v str, &'v Value)> {
        match self {
            Self::Tree(row) => content_fields(row).map(|(name, value)| (name.as_str(), value)).collect(),
            Self::Plain(row) => row.fields.iter().map(|(name, value)| (name.as_str(), value)).collect(),
        }
    }

    /// The row as a tree.
    pub(crate) fn tree(self) -> Cow<'v, Map<String, Value>> {
        match self {
            Self::Tree(row) => Cow::Borrowed(row),
            Self::Plain(row) => Cow::Owned(serde_json::from_str(&row.json).unwrap_or_default()),
        }
    }
}

impl PlainRow {
    /// A row of these members, which were read from `json`.
    pub(crate) fn read(json: &str, id: &str, members: &[Member<'_>]) -> Option<Self> {
        let data = find(members, "data").filter(|data| data.value.starts_with('{'));
        // Its own id marks it as an envelope, if it has a payload.
        let (payload, part) = if let Some(data) = data {
            let payload = members_of(data.value)?;
            let part = part(data.value, &payload, members);
            (Cow::Owned(payload), part)
        } else {
            (Cow::Borrowed(members), json.to_owned())
        };
        let listed = payload.iter().filter(|member| may_be_listed(member.value));
        let content = listed.filter(|member| is_content(member.name, data.is_none()));
        let fields = content.map(|member| Some((unescaped(member.name)?, tree_of(member.value)?)));
        let fields = fields.collect::<Option<Vec<_>>>()?;
        Some(Self { json: json.to_owned(), id: id.to_owned(), part, fields })
    }
}

/// What a row says beside its id: the payload, what was expanded, and when it was emitted unless that is the same.
fn part(data: &str, payload: &[Member<'_>], row: &[Member<'_>]) -> String {
    let emitted_at = find(row, "emitted_at");
    let news = emitted_at.filter(|at| !payload.iter().any(|member| same(member.value, at.value)));
    let mut part = String::with_capacity(data.len() + 64);
    part.push_str(data.strip_suffix('}').unwrap_or(data));
    for member in [news, find(row, "expanded")].into_iter().flatten() {
        if find(payload, member.name).is_none() {
            part.push_str(if part.len() > 1 { ",\"" } else { "\"" });
            part.push_str(member.name);
            part.push_str("\":");
            part.push_str(member.value);
        }
    }
    part.push('}');
    part
}

fn find<'m, 'j>(members: &'m [Member<'j>], name: &str) -> Option<&'m Member<'j>> {
    members.iter().find(|member| member.name == name)
}

/// Whether a value may be listed by itself: a structure, or a text that is longer than a name or holds whitespace. Of what
/// an escape or a wide character stands for, nothing is said here.
fn may_be_listed(value: &str) -> bool {
    let telling = |byte: u8| matches!(byte, b' ' | b'\\') || !byte.is_ascii();
    match value.as_bytes().first() {
        Some(b'{' | b'[') => true,
        Some(b'"') => value.len() > SHORT || value.bytes().any(telling),
        _ => false,
    }
}
