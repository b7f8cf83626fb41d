//! Which texts are chats, and which files beside them they name.

use std::collections::HashSet;

use super::content;
use super::header::Header;
use crate::{Claim, Look, file_name};

/// How much of a candidate is looked at.
const HEAD: u64 = 16 * 1024;
/// With more texts than this in a tree, only names that `WhatsApp` gives are looked into.
const FEW: usize = 64;
/// Longest chat that is searched for the names of its media; longer ones claim by the shape of names.
const MOST: u64 = 64 * 1024 * 1024;

/// Chats are texts; a text that a chat attached lies beside it too, and is told by how it begins when it is read.
pub(super) fn could_be_chat(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("txt"))
}

fn is_named_by_whatsapp(path: &str) -> bool {
    let name = file_name(path);
    name == "_chat.txt" || name.to_lowercase().contains("whatsapp")
}

pub(super) fn claim(look: &mut Look<'_>) -> Option<Claim> {
    let mut candidates = look.find(could_be_chat);
    if candidates.len() > FEW {
        candidates.retain(|index| is_named_by_whatsapp(look.path(*index)));
    }
    let mut chats = Vec::new();
    let mut media: HashSet<String> = HashSet::new();
    let mut folders: HashSet<String> = HashSet::new();
    for index in candidates {
        let named = is_named_by_whatsapp(look.path(index));
        if !is_chat(&look.head(index, HEAD), named) {
            continue;
        }
        chats.push(index);
        let path = look.path(index);
        let folder = path[..path.rfind('/').map_or(0, |slash| slash + 1)].to_owned();
        match look.whole(index, MOST) {
            Some(bytes) => gather(&String::from_utf8_lossy(&bytes), &folder, &mut media),
            None => _ = folders.insert(folder),
        }
    }
    if chats.is_empty() {
        return None;
    }
    let found = if chats.len() == 1 { "1 chat".to_owned() } else { format!("{} chats", chats.len()) };
    let known: HashSet<usize> = chats.iter().copied().collect();
    let mut entries = chats;
    for (index, entry) in look.unclaimed().filter(|(index, _)| !known.contains(index)) {
        let cut = entry.path.rfind('/').map_or(0, |slash| slash + 1);
        let (folder, name) = entry.path.split_at(cut);
        if media.contains(&entry.path) || (folders.contains(folder) && content::is_named_by_phone(name)) {
            entries.push(index);
        }
    }
    Some(Claim { entries, account: None, found })
}

/// Whether a text begins as chats do. One that `WhatsApp` did not name has to show it twice, with an author.
pub(super) fn is_chat(head: &[u8], named: bool) -> bool {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next().and_then(Header::parse) else {
        return false;
    };
    let spoken = |header: &Header<'_>| header.rest.contains(": ");
    let others: Vec<Header<'_>> = lines.filter_map(Header::parse).collect();
    named || (!others.is_empty() && (spoken(&first) || others.iter().any(spoken)))
}

/// The paths of the files that a chat names.
fn gather(text: &str, folder: &str, media: &mut HashSet<String>) {
    for line in text.lines() {
        let words = match Header::parse(line) {
            Some(header) => header.rest.split_once(": ").map_or("", |(_, words)| words),
            None => line,
        };
        if let Some(name) = content::media_of_line(words) {
            media.insert(format!("{folder}{name}"));
        }
    }
}
