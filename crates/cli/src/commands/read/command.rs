//! The command that reads on: as arguments for a program, as one line for a shell.

use pdpp_evidence::{FieldWindowRead, RecordHandle};

use super::source::{Place, Source};
use crate::terminal;

/// An option and its value; none leaves it out.
pub(super) type Flag = (&'static str, Option<String>);

/// `pdpp read field-window` for a call of that route.
pub(super) fn field_window(source: &Source, read: &FieldWindowRead) -> Vec<String> {
    let number = |value: usize| value.to_string();
    let flags = vec![
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
    of_record("field-window", source, &record, flags)
}

/// `pdpp read fetch` for a record.
pub(super) fn fetch(source: &Source, record: &RecordHandle) -> Vec<String> {
    of_record("fetch", source, record, Vec::new())
}

/// `pdpp read blob` for a stored blob; the file is left to whoever types it.
pub(super) fn blob(source: &Source, blob_id: &str, connection_id: Option<&str>) -> Vec<String> {
    let flags = vec![("connection-id", connection_id.map(str::to_owned))];
    of("blob", source, vec![blob_id.to_owned()], flags)
}

/// The words that name a record, and its connection. A key that a terminal would show otherwise than it is goes
/// inside a handle.
fn of_record(action: &str, source: &Source, record: &RecordHandle, mut flags: Vec<Flag>) -> Vec<String> {
    let id = record.id();
    if id.starts_with("pdpp://") {
        return of(action, source, vec![id], flags);
    }
    flags.push(("connection-id", record.connection_id.clone()));
    of(action, source, vec![record.stream.clone(), record.record_id.clone()], flags)
}

/// A `read` command on the same server, or on the same data directory.
pub(super) fn of(action: &str, source: &Source, words: Vec<String>, mut flags: Vec<Flag>) -> Vec<String> {
    let mut places = Vec::new();
    match &source.place {
        Place::Server(url) => places.push(url.clone()),
        Place::Directory(path, subject) => {
            flags.extend([("data", Some(path.clone())), ("subject", subject.clone())]);
        }
    }
    flags.push(("cache-root", source.cache_root.clone()));
    let mut written = Vec::new();
    for (name, value) in flags {
        match value {
            Some(value) if value.starts_with('-') => written.push(format!("--{name}={value}")),
            Some(value) => written.extend([format!("--{name}"), value]),
            None => {}
        }
    }
    let mut command: Vec<String> = ["pdpp", "read", action].map(str::to_owned).to_vec();
    let dashed = words.iter().any(|word| word.starts_with('-'));
    let words = places.into_iter().chain(words);
    if dashed {
        command.extend(written);
        command.push("--".to_owned());
        command.extend(words);
    } else {
        command.extend(words);
        command.extend(written);
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
