//! What the fields of one stream can do, in the words of the flag strings.

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

/// For each operation of a flag, the fields that have it: `count_distinct=sender;group_by_time=sent_at`.
pub(super) fn inverted(fields: &[Field<'_>], flag: &str, most: usize) -> String {
    let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
    for field in fields {
        for kind in field.words(flag) {
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, names)) => names.push(word(field.name)),
                None => kinds.push((kind, vec![word(field.name)])),
            }
        }
    }
    let one = |(kind, names): &(&str, Vec<String>)| {
        let more = names.len().saturating_sub(most);
        let shown = names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join("|");
        let more = if more > 0 { format!("|+{more}") } else { String::new() };
        if kind.is_empty() { format!("{shown}{more}") } else { format!("{kind}={shown}{more}") }
    };
    kinds.iter().map(one).collect::<Vec<_>>().join(";")
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
