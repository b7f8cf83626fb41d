//! The one boundary between what a server sent and what a model sees.
//!
//! Record text is written by strangers. Characters that act unseen become one visible character each, so offsets
//! still hold, and their number is stated; binary bodies become metadata, and their paths are listed. Handles are
//! made from the server's own values before this point, so that they still open what they name.

use pdpp_evidence::{neutralise, redact};
use serde_json::{Map, Value};

/// A value fit to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) value: Value,
    /// How many characters were made visible.
    pub(crate) replaced: usize,
    /// Where bytes were left out.
    pub(crate) binary: Vec<String>,
}

/// Neutralises text and leaves out binary bodies.
pub(crate) fn shown(value: &Value) -> Shown {
    let (redacted, binary) = redact(value);
    Shown { binary, ..neutral(&redacted) }
}

/// Neutralises text only.
pub(crate) fn neutral(value: &Value) -> Shown {
    let mut replaced = 0;
    let value = visit(value, &mut replaced);
    Shown { value, replaced, binary: Vec::new() }
}

impl Shown {
    /// States what was changed, beside `data`.
    pub(crate) fn report(&self, structured: &mut Map<String, Value>) {
        if self.replaced > 0 {
            structured.insert("unsafe_chars_replaced".to_owned(), self.replaced.into());
        }
        if !self.binary.is_empty() {
            let listed: Vec<Value> = self.binary.iter().take(20).map(|path| path.as_str().into()).collect();
            structured.insert("binary_redacted".to_owned(), listed.into());
        }
    }
}

fn visit(value: &Value, replaced: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let neutral = neutralise(text);
            *replaced += neutral.replaced;
            neutral.text.into_owned().into()
        }
        Value::Array(items) => items.iter().map(|item| visit(item, replaced)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| {
                let name = neutralise(name);
                *replaced += name.replaced;
                (name.text.into_owned(), visit(member, replaced))
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
