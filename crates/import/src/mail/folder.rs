//! What a path says about the mail in it: its folder, and the marks in a file's name.

use super::flags::Flags;
use crate::file_name;

/// How an entry holds mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Many messages, or one, told by the first bytes.
    Mailbox,
    /// One message of a Maildir.
    Maildir,
    /// One message in a file of its own.
    Eml,
    /// One message as Apple Mail keeps it.
    Emlx,
    /// An index that some program keeps beside its mailbox; it holds no mail.
    Index,
}

impl Kind {
    /// What an entry could be by its path; `None` when its first bytes have to tell.
    pub(super) fn of(path: &str) -> Option<Self> {
        let name = file_name(path);
        let lower = name.to_ascii_lowercase();
        let mut parents = path.rsplit('/').skip(1);
        if matches!(parents.next(), Some("cur" | "new")) && !name.starts_with('.') {
            return Some(Self::Maildir);
        }
        match lower.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "eml" => Some(Self::Eml),
            "emlx" => Some(Self::Emlx),
            "msf" => Some(Self::Index),
            "mbox" | "mbx" => Some(Self::Mailbox),
            _ if lower == "mbox" => Some(Self::Mailbox),
            _ if lower == "table_of_contents" && path.contains(".mbox/") => Some(Self::Index),
            _ => None,
        }
    }
}

/// The folder the mail lies in, as its program shows it; `None` when the path says nothing.
pub(super) fn folder(path: &str, kind: Kind) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let (name, parents) = parts.split_last()?;
    let named = match kind {
        Kind::Maildir => return Some(maildir_folder(parents.split_last()?.1)),
        Kind::Mailbox if name.eq_ignore_ascii_case("mbox") => inside(parents, ".mbox"),
        Kind::Mailbox => {
            let base = name.strip_suffix(".mbox").or(name.strip_suffix(".mbx")).unwrap_or(name);
            let mut above = inside(parents, ".sbd");
            above.push(base);
            above
        }
        Kind::Emlx => {
            let inner = parents.iter().rposition(|part| part.strip_suffix(".mbox").is_some())?;
            inside(&parents[..=inner], ".mbox")
        }
        Kind::Eml => parents.last().copied().into_iter().collect(),
        Kind::Index => return None,
    };
    let folder = named.join("/");
    if folder.is_empty() { None } else { Some(folder) }
}

/// The unbroken run of folders with an ending, up to the last, without it.
fn inside<'p>(parents: &[&'p str], ending: &str) -> Vec<&'p str> {
    let run = parents.iter().rev().map_while(|part| part.strip_suffix(ending));
    let mut run: Vec<&str> = run.collect();
    run.reverse();
    run
}

/// `.Archive.2026` is the folder `Archive/2026`; what has no dot in front is the inbox, or a folder by its own name.
fn maildir_folder(above: &[&str]) -> String {
    match above.last() {
        Some(part) if part.starts_with('.') => {
            let name = part[1..].strip_prefix("INBOX.").unwrap_or(&part[1..]);
            decode_name(&name.replace('.', "/"))
        }
        Some(part) if !part.eq_ignore_ascii_case("maildir") && above.len() > 1 => decode_name(part),
        _ => "INBOX".to_owned(),
    }
}

/// Folder names of servers are written in a UTF-7 of their own: `Envoy&AOk-s` is `Envoyés`.
fn decode_name(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let Some((coded, beyond)) = after.split_once('-') else {
            return name.to_owned();
        };
        if coded.is_empty() {
            out.push('&');
        } else {
            let bytes = super::transfer::base64(coded.replace(',', "/").as_bytes());
            let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            let Ok(text) = String::from_utf16(&units.collect::<Vec<_>>()) else {
                return name.to_owned();
            };
            out.push_str(&text);
        }
        rest = beyond;
    }
    out + rest
}

/// The marks behind `:2,` in the name of a Maildir's file. Where a colon is no letter of a name, `;` or `!` stand.
pub(super) fn maildir_flags(path: &str) -> Flags {
    let name = file_name(path);
    let marks =
        [":2,", ";2,", "!2,"].iter().find_map(|mark| name.rsplit_once(mark)).map_or("", |(_, marks)| marks);
    // What still lies in `new` was never looked at.
    let is_new = path.rsplit('/').nth(1) == Some("new");
    let has = |mark: char| marks.contains(mark);
    Flags {
        read: Some(has('S') && !is_new),
        starred: Some(has('F')),
        answered: Some(has('R')),
        draft: Some(has('D')),
        deleted: Some(has('T')),
        gone: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_their_programs_show_them() {
        for (path, expected) in [
            ("Takeout/Mail/All mail.mbox", "All mail"),
            ("Profile/Mail/Local Folders/Inbox", "Inbox"),
            ("Profile/Mail/Local Folders/Archives.sbd/2026.sbd/May", "Archives/2026/May"),
            ("Export/Sent Messages.mbox/mbox", "Sent Messages"),
            ("V10/X/INBOX.mbox/Work.mbox/AB/Data/Messages/12.emlx", "INBOX/Work"),
            ("Maildir/cur/1.host:2,S", "INBOX"),
            ("cur/1.host:2,S", "INBOX"),
            ("Maildir/.Archive.2026/new/1.host", "Archive/2026"),
            ("Maildir/.Envoy&AOk-s/cur/1.host", "Envoyés"),
            ("Maildir/.A&-B/cur/1.host", "A&B"),
            ("mail/Work/cur/1.host", "Work"),
            ("notes/letter.eml", "notes"),
            ("letter.eml", "none"),
            ("mbox", "none"),
        ] {
            let kind = Kind::of(path).unwrap_or(Kind::Mailbox);
            assert_eq!(folder(path, kind).as_deref().unwrap_or("none"), expected, "{path}");
        }
    }

    #[test]
    fn marks_in_the_name_of_a_file_are_read() {
        let flags = maildir_flags("Maildir/cur/1700000000.M1P2.host,S=12:2,RS");
        assert_eq!((flags.read, flags.answered, flags.starred), (Some(true), Some(true), Some(false)));
        let flags = maildir_flags("Maildir/cur/1700000000.M1P2.host;2,FT");
        assert_eq!((flags.read, flags.starred, flags.deleted), (Some(false), Some(true), Some(true)));
        assert_eq!(maildir_flags("Maildir/new/1").read, Some(false));
    }
}
