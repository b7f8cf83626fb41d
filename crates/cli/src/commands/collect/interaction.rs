//! A connector's questions, put to the person at the terminal. Answers go to the connector and nowhere else.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::message::Question;
use crate::prompt::{self, Answer, Deadline, Sight};
use crate::terminal;

/// Most answers one question can ask for.
const MOST_FIELDS: usize = 20;
/// How long a question that sets no time is waited for: nobody may be there.
const PATIENCE: Duration = Duration::from_mins(30);
/// The longest time a question can ask for.
const MOST_PATIENCE: f64 = 24.0 * 3600.0;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unanswered {
    Cancelled,
    Timeout,
}

/// Asks, and gives the line that answers the connector.
pub(super) fn ask(question: &Question) -> Value {
    let answer = if io::stdin().is_terminal() {
        put(question)
    } else {
        let message =
            "The connector has a question, and there is no terminal to answer on; run it in one. It asks: ";
        terminal::note(&format!("{message}{}", question.message));
        Err(Unanswered::Cancelled)
    };
    let mut response = json!({"type": "INTERACTION_RESPONSE", "request_id": question.request_id});
    match answer {
        Ok(data) => {
            response["status"] = json!("success");
            response["data"] = Value::Object(data);
        }
        Err(Unanswered::Cancelled) => response["status"] = json!("cancelled"),
        Err(Unanswered::Timeout) => {
            terminal::note("No answer came in time; the connector was told so.");
            response["status"] = json!("timeout");
        }
    }
    response
}

/// The answers by name.
fn put(question: &Question) -> Result<Map<String, Value>, Unanswered> {
    terminal::note(&format!("The connector asks: {}", question.message));
    let deadline = Deadline::after(Some(patience(question)));
    if question.kind == "manual_action" {
        let answer = line("Done? [y/N] ", Sight::Seen, deadline)?;
        return if matches!(answer.trim(), "y" | "Y" | "yes") {
            Ok(Map::new())
        } else {
            Err(Unanswered::Cancelled)
        };
    }
    let mut answers = Map::new();
    for (name, sight) in fields(question) {
        let text = line(&format!("{name}: "), sight, deadline)?;
        // An empty line is how a person says no.
        if text.is_empty() {
            return Err(Unanswered::Cancelled);
        }
        answers.insert(name, Value::String(text));
    }
    Ok(answers)
}

fn line(prompt: &str, sight: Sight, deadline: Deadline) -> Result<String, Unanswered> {
    match prompt::ask(prompt, sight, deadline) {
        Answer::Line(text) => Ok(text),
        Answer::GivenUp => Err(Unanswered::Cancelled),
        Answer::TooLate => Err(Unanswered::Timeout),
    }
}

fn patience(question: &Question) -> Duration {
    match question.timeout_seconds {
        Some(seconds) if seconds > 0.0 => Duration::from_secs_f64(seconds.min(MOST_PATIENCE)),
        _ => PATIENCE,
    }
}

/// What to ask for, and whether it is typed unseen: everything that is a credential, unless it is plainly a name.
fn fields(question: &Question) -> Vec<(String, Sight)> {
    let properties = question.schema.as_ref().and_then(|schema| schema.get("properties"));
    let named: Vec<(String, Sight)> = properties
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .take(MOST_FIELDS)
        .map(|(name, _)| (name.clone(), if is_plain(name) { Sight::Seen } else { Sight::Unseen }))
        .collect();
    match (named.is_empty(), question.kind.as_str()) {
        (false, _) => named,
        (true, "otp") => vec![("code".to_owned(), Sight::Seen)],
        (true, _) => vec![("value".to_owned(), Sight::Unseen)],
    }
}

/// Whether a field is plainly a name and no secret.
fn is_plain(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    is(&["user", "name", "mail", "login", "url", "host"])
        && !is(&["pass", "secret", "token", "key", "pin", "code"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_plainly_a_name_is_seen() {
        for (name, plain) in [
            ("username", true),
            ("Email", true),
            ("password", false),
            ("user_password", false),
            ("login_token", false),
            ("answer", false),
        ] {
            assert_eq!(is_plain(name), plain, "{name}");
        }
    }
}
