//! What the words of a `read` command mean: perhaps a URL, then what to read.

use pdpp_evidence::RecordHandle;

use crate::exit::{EndCode, Ended};

/// A wrong call of `read`.
pub(super) fn wrong(message: impl Into<String>) -> Ended {
    Ended::new(EndCode::ReadUsage, message)
}

/// The URL, for a command that needs no other word.
pub(super) fn nothing(word: Option<String>, fixed: bool) -> Result<Option<String>, Ended> {
    match word {
        Some(_) if fixed => Err(twice()),
        word => Ok(word),
    }
}

/// The URL, if there is one word more than the one a command needs, and that word.
pub(super) fn one(mut words: Vec<String>, fixed: bool) -> Result<(Option<String>, String), Ended> {
    let last = words.pop().unwrap_or_default();
    match words.pop() {
        Some(_) if fixed => Err(twice()),
        first => Ok((first, last)),
    }
}

/// The URL, if there is one word more than a query needs, and the query.
pub(super) fn query(words: Vec<String>, fixed: bool) -> Result<(Option<String>, String), Ended> {
    if let [first, second] = words.as_slice()
        && (fixed || !looks_like_url(first))
    {
        return Err(wrong(format!("write a query of several words in quotes: '{first} {second}'")));
    }
    one(words, fixed)
}

/// The URL, if there is one word more than needed, and the record: a stream and its key, or one handle.
pub(super) fn record(
    words: Vec<String>,
    fixed: bool,
    connection_id: Option<&str>,
) -> Result<(Option<String>, RecordHandle), Ended> {
    let named = |stream: &str, id: &str| RecordHandle {
        connection_id: connection_id.map(str::to_owned),
        stream: stream.to_owned(),
        record_id: id.to_owned(),
    };
    match words.as_slice() {
        [handle] => Ok((None, parse(handle, connection_id)?)),
        [first, second] if !fixed && (first.contains("://") || is_whole_handle(second)) => {
            Ok((Some(first.clone()), parse(second, connection_id)?))
        }
        [stream, id] => Ok((None, named(stream, id))),
        [first, stream, id] if !fixed => Ok((Some(first.clone()), named(stream, id))),
        _ => Err(twice()),
    }
}

fn twice() -> Ended {
    wrong("there is one word too many, or the server is named twice; write its URL first, or after --url")
}

fn parse(handle: &str, connection_id: Option<&str>) -> Result<RecordHandle, Ended> {
    let mut found = RecordHandle::parse(handle).map_err(|error| {
        wrong(format!("'{handle}' names no record: {error}, or give the stream and the key"))
    })?;
    match (&found.connection_id, connection_id) {
        (Some(own), Some(other)) if own != other => Err(wrong(format!(
            "the id names the connection {own} and --connection-id {other}; leave one out"
        ))),
        (None, Some(other)) => {
            found.connection_id = Some(other.to_owned());
            Ok(found)
        }
        _ => Ok(found),
    }
}

/// Whether a word can only be a handle that is complete in itself.
fn is_whole_handle(word: &str) -> bool {
    RecordHandle::parse(word).is_ok_and(|handle| handle.connection_id.is_some())
}

fn looks_like_url(word: &str) -> bool {
    let host = word.contains(['.', ':']) || word.eq_ignore_ascii_case("localhost");
    host && !word.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_query_may_have_a_url_before_it() {
        let check = |text, fixed, expected| {
            let found = query(words(text), fixed).ok();
            let found = found.map(|(url, query)| format!("{} {query}", url.unwrap_or_default()));
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("storage", false, Some(" storage"));
        check("data.example.org storage", false, Some("data.example.org storage"));
        check("http://localhost:1 storage", false, Some("http://localhost:1 storage"));
        check("winter storage", false, None);
        check("a.example storage", true, None);
        check("storage", true, Some(" storage"));
    }

    #[test]
    fn a_record_is_a_stream_and_a_key_or_a_handle() {
        let check = |text, fixed, connection, expected| {
            let found = record(words(text), fixed, connection).ok();
            let found = found.map(|(url, handle)| format!("{} {}", url.unwrap_or_default(), handle.id()));
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("messages m1", false, None, Some(" messages:m1"));
        check("messages m1", false, Some("cin_a"), Some(" cin_a/messages:m1"));
        check("cin_a/messages:m1", false, None, Some(" cin_a/messages:m1"));
        check("messages:m1", false, Some("cin_a"), Some(" cin_a/messages:m1"));
        check("a.example cin_a/messages:m1", false, None, Some("a.example cin_a/messages:m1"));
        check("http://localhost messages:m1", false, None, Some("http://localhost messages:m1"));
        check("a.example messages m1", false, None, Some("a.example messages:m1"));
        check("a.example messages m1", true, None, None);
        check("cin_a/messages:m1", false, Some("cin_b"), None);
        check("m1", false, None, None);
    }

    #[test]
    fn one_word_more_than_needed_is_the_url() {
        assert_eq!(one(words("messages"), false).ok(), Some((None, "messages".to_owned())));
        let both = Some((Some("a.example".to_owned()), "messages".to_owned()));
        assert_eq!(one(words("a.example messages"), false).ok(), both);
        assert!(one(words("a.example messages"), true).is_err());
        assert!(nothing(Some("a.example".to_owned()), true).is_err());
    }
}
