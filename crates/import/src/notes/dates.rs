//! When a note says it was written and changed.

use serde_json::{Map, Value};

use crate::members::{time_of_seconds, time_of_text};

const CREATED: [&str; 8] =
    ["created", "createdat", "createdtime", "datecreated", "creationdate", "ctime", "date", "published"];
const UPDATED: [&str; 14] = [
    "updated",
    "updatedat",
    "updatedtime",
    "dateupdated",
    "lastupdated",
    "modified",
    "modifiedat",
    "datemodified",
    "lastmodified",
    "lastmod",
    "mtime",
    "lastedited",
    "lasteditedtime",
    "edited",
];

/// The first and the last time a note's front matter gives. The last is the first where no other is given.
pub(super) fn dates(front_matter: &Map<String, Value>) -> (Option<String>, Option<String>) {
    let created = first(front_matter, &CREATED);
    let updated = first(front_matter, &UPDATED).or_else(|| created.clone());
    (created, updated)
}

/// The value of the first of these names that holds a time, however the name is spelled.
fn first(front_matter: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let members: Vec<(String, &Value)> =
        front_matter.iter().map(|(name, value)| (plain(name), value)).collect();
    names.iter().find_map(|wanted| {
        members.iter().filter(|(name, _)| name == wanted).find_map(|(_, value)| time(value))
    })
}

fn time(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => time_of_words(text),
        // Seconds or milliseconds since 1970; smaller numbers are years or days.
        Value::Number(number) => match number.as_f64()? {
            seconds if (1e8..1e11).contains(&seconds) => time_of_seconds(seconds),
            millis if (1e11..1e14).contains(&millis) => time_of_seconds(millis / 1000.0),
            _ => None,
        },
        Value::Array(items) => items.first().and_then(|item| item.as_str()).and_then(time_of_words),
        _ => None,
    }
}

/// YAML writes `2026-01-02 03:04:05 +02:00`: spaces where others have none.
fn time_of_words(text: &str) -> Option<String> {
    let text = text.trim();
    match text.split_once(' ') {
        Some((day, rest)) => time_of_text(&format!("{day}T{}", rest.replace(' ', ""))),
        None => time_of_text(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(front_matter: Value, expected: (&str, &str)) {
        let (created, updated) = dates(front_matter.as_object().unwrap());
        let told = (created.unwrap_or_default(), updated.unwrap_or_default());
        assert_eq!((told.0.as_str(), told.1.as_str()), expected, "{front_matter}");
    }

    #[test]
    fn dates_are_found_under_many_names() {
        check(json!({"Date Created": "2026-01-02"}), ("2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z"));
        check(
            json!({"created": "2026-01-02T03:04", "last-modified": "2026-02-03 04:05:06 +0200"}),
            ("2026-01-02T03:04:00Z", "2026-02-03T02:05:06Z"),
        );
        check(
            json!({"created": 1_767_323_045_000_i64, "updated": "soon"}),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        );
        check(json!({"date": 2026, "modified": null}), ("", ""));
        check(
            json!({"date": "never", "created": "2026-01-02"}),
            ("2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z"),
        );
    }
}
