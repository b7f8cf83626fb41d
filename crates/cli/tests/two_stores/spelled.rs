//! Answers as two servers would spell them alike: what each makes by itself is named by when it was first met.

use std::collections::HashMap;

use serde_json::Value;

/// What ids that a server makes begin with.
const KINDS: [&str; 6] = ["cin_", "grt_", "tok_", "req_", "cli_", "sub_"];
/// Members whose texts are sealed anew each time.
const SEALED: [&str; 4] = ["next_cursor", "cursor", "next_changes_since", "next_page_token"];

#[derive(Default)]
pub(super) struct Spelled {
    met: HashMap<String, String>,
}

impl Spelled {
    pub(super) fn of(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let spelled = members.iter().map(|(name, value)| match value {
                    Value::String(_) if SEALED.contains(&name.as_str()) => {
                        (name.clone(), Value::from("SEALED"))
                    }
                    value => (name.clone(), self.of(value)),
                });
                spelled.collect()
            }
            Value::Array(values) => values.iter().map(|value| self.of(value)).collect(),
            Value::String(text) => Value::from(self.text(text)),
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut spelled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(is_word) {
            spelled.push_str(&rest[..at]);
            let word = &rest[at..];
            let word = &word[..word.find(|c| !is_word(c)).unwrap_or(word.len())];
            spelled.push_str(&self.word(word));
            rest = &rest[at + word.len()..];
        }
        spelled.push_str(rest);
        // Times of this run are those of no record.
        if text.len() == 24 && text.ends_with('Z') && text.as_bytes()[4] == b'-' && text > "2026-06" {
            return "NOW".to_owned();
        }
        spelled
    }

    fn word(&mut self, word: &str) -> String {
        // A link holds the cursor it goes on from.
        if word.len() > 80 {
            return "SEALED".to_owned();
        }
        let Some(kind) = KINDS.into_iter().find(|kind| word.starts_with(kind) && word.len() > 12) else {
            return word.to_owned();
        };
        let count = self.met.len();
        self.met.entry(word.to_owned()).or_insert_with(|| format!("{kind}{count}")).clone()
    }
}
