//! Which message this is, and which conversation it belongs to.

use std::num::NonZeroU64;

use sha2::{Digest as _, Sha256};

use super::headers::Headers;
use crate::{hash_key, mint_key};

/// Fields that say what a message without an id is.
const TELLING: [&str; 6] = ["date", "from", "to", "cc", "subject", "received"];

/// Eight bytes that stand for a text. Kept for every message of an import, so that the same one is known again. Two
/// messages of one mark are still told apart by their prints, so nothing is lost where two ids should meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Mark(NonZeroU64);

impl Mark {
    pub(super) fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let number = digest[..8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Self(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }
}

/// What tells one message from others.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    /// The id its sender gave it.
    pub(super) message_id: Option<String>,
    /// The key its record has, unless another message took the same id first.
    pub(super) key: String,
    pub(super) mark: Mark,
    /// Tells messages under one id apart: some programs give all they send the same.
    pub(super) print: u32,
}

impl Identity {
    pub(super) fn read(headers: &Headers, body: &[u8]) -> Self {
        let message_id = headers.ids("message-id").into_iter().next().or_else(|| {
            let bare = headers.raw("message-id")?.trim_matches(['<', '>', ' ']);
            (!bare.is_empty() && bare.len() <= 998).then(|| bare.to_owned())
        });
        let key = match &message_id {
            Some(id) => mint_key(id),
            None => hash_of(headers, body),
        };
        let sent = [headers.raw("from"), headers.raw("date")].map(Option::unwrap_or_default).join("\n");
        let digest = Sha256::digest(sent.as_bytes());
        let print = digest[..4].iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        Self { mark: Mark::of(&key), message_id, key, print }
    }

    /// The key of a message whose id another one took first.
    pub(super) fn other_key(&self) -> String {
        hash_key(&[&self.key, &format!("{:08x}", self.print)])
    }
}

/// What was added on the way into a mailbox (line ends, labels, marks) does not count.
fn hash_of(headers: &Headers, body: &[u8]) -> String {
    let mut hasher = Sha256::new();
    for line in body.trim_ascii_end().split(|byte| *byte == b'\r') {
        hasher.update(line);
    }
    let digest = hasher.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let mut parts: Vec<&str> = TELLING.iter().map(|name| headers.raw(name).unwrap_or_default()).collect();
    parts.push(&digest);
    hash_key(&parts)
}

/// The conversation a message says it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ThreadId {
    /// A number its provider gave.
    Given(u64),
    /// The message it began with.
    Root(Mark),
}

impl ThreadId {
    /// The key of the conversation's record.
    pub(super) fn key(self) -> String {
        match self {
            Self::Given(number) => number.to_string(),
            Self::Root(Mark(number)) => format!("h{number:016x}"),
        }
    }

    /// A mark that no message has, which stands for the conversation while messages are counted.
    pub(super) fn mark(self) -> Mark {
        match self {
            Self::Given(number) => Mark::of(&format!("conversation\n{number}")),
            Self::Root(mark) => mark,
        }
    }

    /// The provider's number, if it gave one.
    pub(super) fn given(headers: &Headers) -> Option<Self> {
        headers.raw("x-gm-thrid")?.trim().parse().ok().map(Self::Given)
    }
}

/// The message this one answers, or the one its conversation began with: the first it refers to.
pub(super) fn parent(headers: &Headers) -> Option<Mark> {
    let first = |name: &str| headers.ids(name).into_iter().next();
    let id = first("references").or_else(|| first("in-reply-to"))?;
    Some(Mark::of(&mint_key(&id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(block: &str, body: &str) -> Identity {
        Identity::read(&Headers::parse(block.as_bytes()), body.as_bytes())
    }

    #[test]
    fn an_id_is_the_key_where_there_is_one() {
        assert_eq!(identity("Message-ID: <a.1@example.org>", "x").key, "a.1@example.org");
        assert_eq!(identity("Message-Id: bare", "x").key, "bare");
        assert!(identity("Message-ID: <a b/c@x>", "x").key.starts_with('h'));
    }

    #[test]
    fn without_an_id_what_it_says_is_the_key() {
        let one = identity("From: a@x\nSubject: s", "hello\r\n").key;
        assert_eq!(one, identity("X-Mozilla-Status: 0001\nFrom: a@x\nSubject: s", "hello\n\n").key);
        assert_ne!(one, identity("From: a@x\nSubject: s", "hallo\n").key);
        assert_ne!(one, identity("From: a@x\nSubject: t", "hello\n").key);
    }

    #[test]
    fn messages_under_one_id_are_told_apart() {
        let (one, two) =
            (identity("Message-ID: <same>\nDate: 1", ""), identity("Message-ID: <same>\nDate: 2", ""));
        assert_eq!(one.mark, two.mark);
        assert_ne!(one.print, two.print);
        assert_ne!(one.other_key(), two.other_key());
    }
}
