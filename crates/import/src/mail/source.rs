//! Finds the messages in claimed entries, one at a time, wherever and however they lie.

use std::io::{BufRead, Read as _};

use super::flags::Flags;
use super::folder::{Kind, folder, maildir_flags};
use super::headers::field_name_end;
use super::mbox::{LONGEST, Mbox};
use crate::tree::open_buffered;
use crate::{Complaint, Stop, Tree};

/// One message as it lies in the export.
#[derive(Debug)]
pub(super) struct Raw<'r> {
    pub(super) bytes: &'r [u8],
    /// What the mailbox says in front of it, if it lies in one.
    pub(super) separator: Option<&'r [u8]>,
    pub(super) folder: Option<&'r str>,
    /// What its place says about it.
    pub(super) flags: Flags,
    pub(super) is_too_long: bool,
    /// Whether a file ends with it, so that it may be cut.
    pub(super) is_last: bool,
    path: &'r str,
    number: Option<u64>,
}

impl Raw<'_> {
    /// Where it stands, for a complaint.
    pub(super) fn place(&self) -> String {
        match self.number {
            Some(number) => format!("{} message {number}", self.path),
            None => self.path.to_owned(),
        }
    }
}

/// What is found on the way.
#[derive(Debug)]
pub(super) enum Found<'r> {
    Message(Raw<'r>),
    Trouble(Complaint),
}

type Take<'t> = dyn FnMut(Found<'_>) -> Result<(), Stop> + 't;

/// Gives every message of the entries, in their order.
pub(super) fn each(tree: &mut dyn Tree, entries: &[usize], take: &mut Take<'_>) -> Result<(), Stop> {
    for index in entries {
        let path = tree.entries()[*index].path.clone();
        let kind = Kind::of(&path).unwrap_or(Kind::Mailbox);
        if kind == Kind::Index {
            continue;
        }
        let folder = folder(&path, kind);
        let file = File { path: &path, folder: folder.as_deref() };
        match open_buffered(tree, *index) {
            Ok(reader) => file.read(reader, kind, take)?,
            Err(error) => take(Found::Trouble(Complaint::unreadable(&path, &error)))?,
        }
    }
    Ok(())
}

struct File<'f> {
    path: &'f str,
    folder: Option<&'f str>,
}

impl File<'_> {
    fn read(&self, mut reader: impl BufRead, kind: Kind, take: &mut Take<'_>) -> Result<(), Stop> {
        let head = match reader.fill_buf() {
            Ok(head) => head,
            Err(error) => return take(Found::Trouble(Complaint::unreadable(self.path, &error))),
        };
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        // A file under any name may hold one message without a separator.
        let is_single = !head.starts_with(b"From ") && field_name_end(head).is_some();
        match kind {
            Kind::Maildir | Kind::Emlx => self.single(reader, kind, take),
            _ if is_single => self.single(reader, kind, take),
            _ => self.mailbox(reader, take),
        }
    }

    fn mailbox(&self, reader: impl BufRead, take: &mut Take<'_>) -> Result<(), Stop> {
        let mut mbox = Mbox::new(reader);
        loop {
            match mbox.next() {
                Ok(Some(cut)) => take(Found::Message(Raw {
                    bytes: cut.bytes,
                    separator: Some(cut.separator),
                    folder: self.folder,
                    flags: Flags::default(),
                    is_too_long: cut.is_too_long,
                    is_last: cut.is_last,
                    path: self.path,
                    number: Some(cut.number),
                }))?,
                Ok(None) => break,
                Err(error) => {
                    take(Found::Trouble(Complaint::unreadable(self.path, &error)))?;
                    break;
                }
            }
        }
        if mbox.has_lead {
            let message = "The beginning of this mailbox belongs to no message; it was skipped.";
            take(Found::Trouble(Complaint::damaged(self.path, message)))?;
        }
        Ok(())
    }

    fn single(&self, reader: impl BufRead, kind: Kind, take: &mut Take<'_>) -> Result<(), Stop> {
        let mut bytes = Vec::new();
        if let Err(error) = reader.take(LONGEST as u64 + 1).read_to_end(&mut bytes) {
            return take(Found::Trouble(Complaint::unreadable(self.path, &error)));
        }
        let is_too_long = bytes.len() > LONGEST;
        bytes.truncate(LONGEST);
        let mut flags = if kind == Kind::Maildir { maildir_flags(self.path) } else { Flags::default() };
        let mut message = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        if kind == Kind::Emlx {
            if let Some((inner, after)) = unwrap_apple(message) {
                message = inner;
                flags = apple_flags(after).unwrap_or_default();
            } else {
                let told = "The line that says how long the message is does not fit; it was read to its end.";
                take(Found::Trouble(Complaint::damaged(self.path, told)))?;
            }
        }
        let mut separator = None;
        if message.starts_with(b"From ") {
            let end = message.iter().position(|byte| *byte == b'\n').map_or(message.len(), |end| end + 1);
            separator = Some(&message[5.min(end)..end]);
            message = &message[end..];
        }
        take(Found::Message(Raw {
            bytes: message,
            separator,
            folder: self.folder,
            flags,
            is_too_long,
            is_last: true,
            path: self.path,
            number: None,
        }))
    }
}

/// Apple Mail writes a line with the length, the message, and a property list.
fn unwrap_apple(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = bytes.iter().take(32).position(|byte| *byte == b'\n')?;
    let length: usize = std::str::from_utf8(&bytes[..line]).ok()?.trim().parse().ok()?;
    bytes[line + 1..].split_at_checked(length)
}

/// The number below the key `flags` of the property list.
fn apple_flags(list: &[u8]) -> Option<Flags> {
    let text = String::from_utf8_lossy(&list[..list.len().min(64 * 1024)]);
    let (_, after) = text.split_once("<key>flags</key>")?;
    let (_, after) = after.split_once("<integer>")?;
    let (number, _) = after.split_once("</integer>")?;
    number.trim().parse().ok().map(Flags::of_apple)
}
