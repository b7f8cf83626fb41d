//! Finds mail in a tree, by its first bytes.
//!
//! A Maildir may hold a million files. Of each folder a few are looked at, and the others are taken to be alike; a
//! file without an extension is looked at by itself, because that is what Thunderbird's mailboxes are.

use std::collections::{HashMap, HashSet};

use super::folder::Kind;
use super::headers::field_name_end;
use crate::{Claim, Look, file_name};

/// How many files of one folder and kind are looked at.
const LOOKS: u32 = 3;
/// How many files without an extension are looked at altogether.
const MOST_GUESSES: usize = 20_000;
/// How much of a file is looked at.
const HEAD: u64 = 4096;

/// Names of which the beginning of a message holds at least one.
const TELLING: [&str; 10] = [
    "from",
    "to",
    "date",
    "subject",
    "received",
    "message-id",
    "return-path",
    "delivered-to",
    "mime-version",
    "x-gm-thrid",
];

struct Candidate {
    index: usize,
    kind: Kind,
    folder: u32,
}

pub(super) fn claim(look: &mut Look<'_>) -> Option<Claim> {
    let (candidates, guesses, mut indexes) = candidates(look);
    let mut looked: HashMap<(u32, bool), (u32, bool)> = HashMap::new();
    let (mut mailboxes, mut messages) = (Vec::new(), Vec::new());
    for Candidate { index, kind, folder } in candidates {
        let seen = looked.entry((folder, kind == Kind::Maildir)).or_default();
        let fits = match kind {
            Kind::Mailbox => is_mailbox(&look.head(index, HEAD * 16), true),
            _ if seen.0 >= LOOKS => seen.1,
            _ => {
                let fits = is_message(&look.head(index, HEAD), kind);
                *seen = (seen.0 + 1, seen.1 || fits);
                fits
            }
        };
        match kind {
            _ if !fits => {}
            Kind::Mailbox => mailboxes.push(index),
            _ => messages.push(index),
        }
    }
    mailboxes.extend(guesses.into_iter().filter(|index| is_mailbox(&look.head(*index, HEAD), false)));
    if mailboxes.is_empty() && messages.is_empty() {
        return None;
    }
    let found = match (mailboxes.len(), messages.len()) {
        (boxes, 0) => counted(boxes, "mailbox", "mailboxes"),
        (0, files) => counted(files, "message file", "message files"),
        (boxes, files) => {
            format!(
                "{}, {}",
                counted(boxes, "mailbox", "mailboxes"),
                counted(files, "message file", "message files")
            )
        }
    };
    let mut entries = mailboxes;
    entries.append(&mut messages);
    entries.append(&mut indexes);
    // The order of an archive is the order it was packed in; that of paths is the same every time.
    entries.sort_by(|one, other| look.path(*one).cmp(look.path(*other)));
    Some(Claim { entries, account: None, found })
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What could be mail by its path, what only its bytes can tell, and the indexes that lie beside mailboxes.
fn candidates(look: &Look<'_>) -> (Vec<Candidate>, Vec<usize>, Vec<usize>) {
    let (mut candidates, mut guesses, mut indexes) = (Vec::new(), Vec::new(), Vec::new());
    let mut folders: HashMap<&str, u32> = HashMap::new();
    let has_index: HashSet<&str> =
        look.unclaimed().filter_map(|(_, entry)| entry.path.strip_suffix(".msf")).collect();
    for (index, entry) in look.unclaimed() {
        let path = entry.path.as_str();
        match Kind::of(path) {
            Some(Kind::Index) => indexes.push(index),
            Some(kind) => {
                let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                let next = u32::try_from(folders.len()).unwrap_or(u32::MAX);
                candidates.push(Candidate { index, kind, folder: *folders.entry(parent).or_insert(next) });
            }
            None => {
                let is_bare = !file_name(path).contains('.') && guesses.len() < MOST_GUESSES;
                if entry.bytes > 5 && (is_bare || has_index.contains(path)) {
                    guesses.push(index);
                }
            }
        }
    }
    (candidates, guesses, indexes)
}

/// Whether bytes begin a mailbox. A file that is named one may be damaged at its beginning.
fn is_mailbox(head: &[u8], is_named: bool) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let mut lines = head.split(|byte| *byte == b'\n');
    let begins = lines.next().is_some_and(|line| line.starts_with(b"From "));
    if begins
        && lines.next().is_some_and(|line| field_name_end(line).is_some() || line.starts_with(b">From "))
    {
        return true;
    }
    is_named && (begins || has_fields(head) || head.windows(6).any(|bytes| bytes == b"\nFrom "))
}

fn is_message(head: &[u8], kind: Kind) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let rest = |head: &[u8]| head.iter().position(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
    if kind == Kind::Emlx {
        let (count, message) = head.split_at(rest(head));
        let count = count.trim_ascii();
        return !count.is_empty() && count.iter().all(u8::is_ascii_digit) && has_fields(message);
    }
    let head = head.trim_ascii_start();
    if head.starts_with(b"From ") { has_fields(&head[rest(head)..]) } else { has_fields(head) }
}

/// Whether bytes begin with header fields, one of which only mail has.
fn has_fields(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    let mut is_mail = false;
    for line in lines.take(200) {
        let Some(end) = field_name_end(line) else {
            if matches!(line, [b' ' | b'\t' | b'>', ..]) || is_mail {
                continue;
            }
            return false;
        };
        let name = String::from_utf8_lossy(line[..end].trim_ascii()).to_ascii_lowercase();
        is_mail |= TELLING.contains(&name.as_str());
    }
    is_mail
}
