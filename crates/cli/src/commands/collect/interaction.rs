//! A connector's questions, put to the person at the terminal. Answers go to the connector and nowhere else.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::{Map, Value, json};

use super::message::Question;
use crate::terminal;

/// Most answers one question can ask for.
const MOST_FIELDS: usize = 20;

/// Asks, and gives the line that answers the connector.
pub(super) fn ask(question: &Question) -> Value {
    let answer = if io::stdin().is_terminal() { put(question) } else { None };
    match answer {
        Some(data) => json!({"type": "INTERACTION_RESPONSE", "request_id": question.request_id,
                             "status": "success", "data": data}),
        None => {
            json!({"type": "INTERACTION_RESPONSE", "request_id": question.request_id, "status": "cancelled"})
        }
    }
}

/// The answers by name; `None` when the person gave up.
fn put(question: &Question) -> Option<Map<String, Value>> {
    terminal::note(&format!("The connector asks: {}", question.message));
    if question.kind == "manual_action" {
        return confirm().then(Map::new);
    }
    let mut answers = Map::new();
    for (name, hidden) in fields(question) {
        let prompt = format!("{}: ", terminal::safe(&name));
        let text = if hidden { rpassword::prompt_password(prompt).ok()? } else { line(&prompt)? };
        if text.is_empty() {
            return None;
        }
        answers.insert(name, Value::String(text));
    }
    Some(answers)
}

/// What to ask for, and whether it is typed unseen: everything that is a credential, unless it is plainly a name.
fn fields(question: &Question) -> Vec<(String, bool)> {
    let properties = question.schema.as_ref().and_then(|schema| schema.get("properties"));
    let named: Vec<(String, bool)> = properties
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .take(MOST_FIELDS)
        .map(|(name, _)| {
            let seen =
                ["user", "name", "mail", "login", "url", "host"].iter().any(|part| name.contains(part));
            (name.clone(), !seen)
        })
        .collect();
    match (named.is_empty(), question.kind.as_str()) {
        (false, _) => named,
        (true, "otp") => vec![("code".to_owned(), false)],
        (true, _) => vec![("value".to_owned(), true)],
    }
}

fn line(prompt: &str) -> Option<String> {
    // A terminal that cannot be written to cannot be asked either.
    io::stderr().write_all(prompt.as_bytes()).and_then(|()| io::stderr().flush()).ok()?;
    let mut text = String::new();
    io::stdin().read_line(&mut text).ok()?;
    Some(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn confirm() -> bool {
    terminal::confirm("Done?").unwrap_or(false)
}
