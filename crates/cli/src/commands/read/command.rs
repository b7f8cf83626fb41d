//! The command that reads on: as arguments for a program, as one line for a shell.

use pdpp_evidence::{FieldWindowRead, RecordHandle};

use super::source::Source;
use crate::terminal;

/// `pdpp read field-window` for a call of that route.
pub(super) fn field_window(source: &Source, read: &FieldWindowRead) -> Vec<String> {
    let number = |value: usize| value.to_string();
    let options = [
        ("field", Some(read.field.clone())),
        ("q", read.q.clone()),
        ("before-chars", read.before_chars.map(number)),
        ("offset-chars", read.offset_chars.filter(|_| read.q.is_none()).map(number)),
        ("limit-chars", Some(number(read.limit_chars))),
    ];
    let record = RecordHandle {
        connection_id: read.connection_id.clone(),
        stream: read.stream.clone(),
        record_id: read.record_id.clone(),
    };
    of("field-window", source, named(&record), options)
}

/// `pdpp read fetch` for a record.
pub(super) fn fetch(source: &Source, record: &RecordHandle) -> Vec<String> {
    of("fetch", source, named(record), [])
}

/// The next page of a search.
pub(super) fn search_on(source: &Source, query: &str, cursor: &str) -> Vec<String> {
    of("search", source, (vec![query.to_owned()], None), [("cursor", Some(cursor.to_owned()))])
}

/// The words that name a record, and its connection. A key that a terminal would show otherwise than it is goes
/// inside a handle.
fn named(record: &RecordHandle) -> (Vec<String>, Option<String>) {
    let id = record.id();
    if id.starts_with("pdpp://") {
        return (vec![id], None);
    }
    (vec![record.stream.clone(), record.record_id.clone()], record.connection_id.clone())
}

fn of<const N: usize>(
    action: &str,
    source: &Source,
    (words, connection_id): (Vec<String>, Option<String>),
    options: [(&str, Option<String>); N],
) -> Vec<String> {
    let mut flags = Vec::new();
    let places = [("connection-id", connection_id), ("cache-root", source.cache_root.clone())];
    for (name, value) in options.into_iter().chain(places) {
        match value {
            Some(value) if value.starts_with('-') => flags.push(format!("--{name}={value}")),
            Some(value) => flags.extend([format!("--{name}"), value]),
            None => {}
        }
    }
    let mut command: Vec<String> = ["pdpp", "read", action].map(str::to_owned).to_vec();
    let dashed = words.iter().any(|word| word.starts_with('-'));
    let words = std::iter::once(source.url.clone()).chain(words);
    if dashed {
        command.extend(flags);
        command.push("--".to_owned());
        command.extend(words);
    } else {
        command.extend(words);
        command.extend(flags);
    }
    command
}

/// The command for a shell. One that a terminal cannot show as it is says so, because a wrong command is worse
/// than none.
pub(super) fn shell(command: &[String]) -> String {
    let line = command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    if terminal::safe(&line) == line && !line.contains('\n') {
        return line;
    }
    "(the command holds characters a terminal cannot show; --format json has it)".to_owned()
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("messages", "messages"),
            ("http://127.0.0.1:7663", "http://127.0.0.1:7663"),
            ("winter storage", "'winter storage'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("~root", "'~root'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
        assert!(shell(&["a\u{1b}[2J".to_owned()]).contains("--format json"));
    }
}
