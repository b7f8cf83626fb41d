//! The one boundary between what a server sent and what a model sees.
//!
//! Record text is written by strangers. Characters that act unseen become one visible character each, so offsets
//! still hold, and their number is stated; binary bodies become metadata, and their paths are listed. Handles are
//! made from the server's own values before this point, so that they still open what they name.

use pdpp_evidence::{neutralise, redact_in_place};
use serde_json::{Map, Value};

use crate::text::clipped;

/// Where a page says how to go on, in each of the shapes servers send.
const CURSORS: [&str; 4] =
    ["/next_cursor", "/next_changes_since", "/data/next_cursor", "/data/next_changes_since"];

/// How many paths are listed, and how much of each: they are made of names that stand in records.
const LISTED: usize = 20;
const LISTED_CHARS: usize = 200;

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
    Shown::of(value.clone())
}

/// Neutralises text only.
pub(crate) fn neutral(value: &Value) -> Shown {
    let mut shown = Shown { value: value.clone(), replaced: 0, binary: Vec::new() };
    shown.neutralise();
    shown
}

/// Neutralises text of a value that is not needed as it was.
pub(crate) fn neutralised(value: Value) -> Value {
    let mut shown = Shown { value, replaced: 0, binary: Vec::new() };
    shown.neutralise();
    shown.value
}

impl Shown {
    /// Neutralises text and leaves out binary bodies of a value that is not needed as it was.
    pub(crate) fn of(value: Value) -> Self {
        let mut shown = Self { value, replaced: 0, binary: Vec::new() };
        shown.redact();
        shown.neutralise();
        shown
    }

    /// Neutralises text and leaves out binary bodies of a page that is not needed as it was.
    pub(crate) fn of_page(value: Value) -> Self {
        let mut shown = Self { value, replaced: 0, binary: Vec::new() };
        shown.redact_page();
        shown.neutralise();
        shown
    }

    /// Leaves out binary bodies; the first half of what must be done.
    pub(crate) fn redact(&mut self) {
        self.binary = redact_in_place(&mut self.value);
    }

    /// Leaves out binary bodies, but not a page's own cursors: they may look like bytes, and are sent back letter by
    /// letter. A record's field of that name is content like any other.
    pub(crate) fn redact_page(&mut self) {
        let kept = CURSORS.map(|place| self.value.pointer_mut(place).map(Value::take));
        self.redact();
        for (place, cursor) in CURSORS.iter().zip(kept) {
            if let (Some(held), Some(cursor)) = (self.value.pointer_mut(place), cursor) {
                *held = cursor;
            }
        }
    }

    /// Neutralises text; the second half.
    pub(crate) fn neutralise(&mut self) {
        neutralise_in_place(&mut self.value, &mut self.replaced);
    }

    /// States what was changed, beside `data`.
    pub(crate) fn report(&self, structured: &mut Map<String, Value>) {
        if self.replaced > 0 {
            structured.insert("unsafe_chars_replaced".to_owned(), self.replaced.into());
        }
        if !self.binary.is_empty() {
            let listed = self.binary.iter().take(LISTED).map(|path| clipped(path, LISTED_CHARS));
            let listed: Vec<Value> = listed.map(Value::from).collect();
            structured.insert("binary_redacted".to_owned(), listed.into());
        }
    }
}

fn neutralise_in_place(value: &mut Value, replaced: &mut usize) {
    match value {
        Value::String(text) => {
            let neutral = neutralise(text);
            if neutral.replaced > 0 {
                *replaced += neutral.replaced;
                *text = neutral.text.into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| neutralise_in_place(item, replaced)),
        Value::Object(members) => {
            if members.keys().any(|name| neutralise(name).replaced > 0) {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, member)| {
                        let name = neutralise(&name);
                        *replaced += name.replaced;
                        (name.text.into_owned(), member)
                    })
                    .collect();
            }
            members.values_mut().for_each(|member| neutralise_in_place(member, replaced));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
