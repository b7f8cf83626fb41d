//! What the fields of one stream can do, in the words of the flag strings.

use std::collections::HashSet;

use pdpp_evidence::{flags, neutralise};
use serde_json::Value;

use super::rows::{Row, list, text};

/// A field and its flags.
pub(super) struct Field<'d> {
    pub(super) name: &'d str,
    pub(super) flags: String,
}

/// The fields of a stream, those that can be read first.
pub(super) fn fields<'d>(row: &Row<'d>) -> Vec<Field<'d>> {
    let Some(declared) = row.stream.get("field_capabilities").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut fields: Vec<Field<'_>> = declared
        .iter()
        .map(|(name, capability)| Field {
            name,
            flags: match capability {
                Value::String(flags) => one_word(flags),
                other => one_word(&flags(other)),
            },
        })
        .collect();
    fields.sort_by_key(|field| !field.is_granted());
    fields
}

/// Flags as one word: whatever a server wrote, they cannot end their bracket or their line.
fn one_word(flags: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || "[]{};".contains(c) { '_' } else { c };
    neutralise(flags).text.chars().map(plain).collect()
}

/// The names of the fields that can be read.
pub(crate) fn granted_fields<'d>(row: &Row<'d>) -> Vec<&'d str> {
    fields(row).iter().filter(|field| field.is_granted()).map(|field| field.name).collect()
}

impl Field<'_> {
    pub(super) fn is_granted(&self) -> bool {
        self.flags.split(',').all(|flag| flag != "g=false")
    }

    /// The operations of a flag such as `a=sum|max`; one empty word for a bare flag.
    fn words(&self, flag: &str) -> impl Iterator<Item = &str> {
        self.flags
            .split(',')
            .filter_map(move |token| {
                let rest = token.strip_prefix(flag)?;
                if rest.is_empty() { Some("") } else { rest.strip_prefix('=') }
            })
            .flat_map(|words| words.split('|'))
            .filter(|word| !word.starts_with("unusable"))
    }
}

/// The most operations of a flag that are told apart; the protocol has six.
const MAX_KINDS: usize = 24;
/// The longest name of a field in such a list, in bytes.
const MAX_NAME: usize = 200;

/// An operation, and the fields that have it.
struct Operation<'f> {
    kind: &'f str,
    fields: Vec<&'f str>,
    /// How many more have it.
    more: usize,
    /// The last of them: some servers say the same twice.
    last: &'f str,
}

/// For each operation of a flag, the fields that have it: `count_distinct=sender;group_by_time=sent_at`.
pub(super) fn inverted(fields: &[Field<'_>], flag: &str, most: usize) -> String {
    let mut operations: Vec<Operation<'_>> = Vec::new();
    let mut others = HashSet::new();
    for (field, kind) in fields.iter().flat_map(|field| field.words(flag).map(move |kind| (field.name, kind)))
    {
        if let Some(known) = operations.iter_mut().find(|known| known.kind == kind) {
            known.add(field, most);
        } else if operations.len() < MAX_KINDS {
            operations.push(Operation::new(kind, field, most));
        } else {
            others.insert(kind);
        }
    }
    let mut list: Vec<String> = operations.iter().map(Operation::line).collect();
    if !others.is_empty() {
        list.push(format!("more_kinds={}", others.len()));
    }
    list.join(";")
}

impl<'f> Operation<'f> {
    fn new(kind: &'f str, field: &'f str, most: usize) -> Self {
        let mut operation = Self { kind, fields: Vec::new(), more: 0, last: "" };
        operation.add(field, most);
        operation
    }

    fn add(&mut self, field: &'f str, most: usize) {
        if std::ptr::eq(self.last, field) {
            return;
        }
        self.last = field;
        if self.fields.len() < most && field.len() <= MAX_NAME {
            self.fields.push(field);
        } else {
            self.more += 1;
        }
    }

    fn line(&self) -> String {
        let mut names: Vec<String> = self.fields.iter().map(|name| word(name)).collect();
        names.extend((self.more > 0).then(|| format!("+{}", self.more)));
        let names = names.join("|");
        if self.kind.is_empty() { names } else { format!("{}={names}", self.kind) }
    }
}

/// The ways in which some field can be searched: `lex|sem`.
pub(super) fn search_modes(fields: &[Field<'_>]) -> String {
    let usable = |mode: &&str| fields.iter().any(|field| field.words(mode).next().is_some());
    ["lex", "sem"].into_iter().filter(usable).collect::<Vec<_>>().join("|")
}

/// The relations that can be expanded: `author->users(one,max=10)`.
pub(super) fn relations(row: &Row<'_>) -> Vec<String> {
    list(row.stream, "expand_capabilities")
        .iter()
        .take(20)
        .filter_map(|relation| {
            let name = text(relation, "name").or_else(|| text(relation, "relation"))?;
            let target = text(relation, "target_stream").or_else(|| text(relation, "stream"));
            let mut notes: Vec<String> =
                text(relation, "cardinality").map(|word_| vec![word(word_)]).unwrap_or_default();
            if relation.get("usable") == Some(&Value::Bool(false)) {
                notes.push(format!(
                    "unusable:{}",
                    text(relation, "reason").map_or_else(|| "not_granted".to_owned(), word)
                ));
            } else if let Some(most) = relation.get("max_limit").and_then(Value::as_u64) {
                notes.push(format!("max={most}"));
            }
            let target = target.map(|target| format!("->{}", word(target))).unwrap_or_default();
            let notes = if notes.is_empty() { String::new() } else { format!("({})", notes.join(",")) };
            Some(format!("{}{target}{notes}", word(name)))
        })
        .collect()
}

/// The names of the views.
pub(super) fn views(row: &Row<'_>) -> Vec<String> {
    let name = |view| text(view, "name").or_else(|| text(view, "id")).map(word);
    list(row.stream, "views").iter().take(20).filter_map(name).collect()
}

/// A name a call may repeat: bare when nothing in it can be mistaken, else a JSON string. It is never cut.
pub(super) fn word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:@+~/$#%*".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        crate::text::quoted(name, usize::MAX)
    }
}
