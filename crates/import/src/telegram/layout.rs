//! How an export of Telegram is told, by how it begins, and which files beside it belong to it.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read as _};

use serde_json::Value;

use super::chat::is_chat_type;
use crate::chat::{integer, text};
use crate::json_elements::{Elements, Found};
use crate::{Claim, Look, file_name};

/// How much of a candidate is looked at.
const HEAD: u64 = 64 * 1024;
/// With more JSON than this in a tree, only the name Telegram gives is looked into.
const FEW: usize = 64;
/// The folders an export puts media into.
const FOLDERS: [&str; 12] = [
    "chats",
    "contacts",
    "files",
    "images",
    "photos",
    "profile_pictures",
    "round_video_messages",
    "stickers",
    "stories",
    "video_files",
    "video_messages",
    "voice_messages",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Account,
    OneChat,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) shape: Shape,
    pub(super) account: Option<String>,
    /// The chat's name, for an export of one.
    name: Option<String>,
}

pub(super) fn claims(look: &mut Look<'_>) -> Vec<Claim> {
    let json = |path: &str| path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"));
    let mut candidates = look.find(json);
    if candidates.len() > FEW {
        candidates.retain(|index| file_name(look.path(*index)).starts_with("result"));
    }
    let mut claims: Vec<(String, Claim)> = Vec::new();
    for index in candidates {
        let Some(found) = recognise(&look.head(index, HEAD)) else { continue };
        let path = look.path(index);
        let root = path[..path.rfind('/').map_or(0, |slash| slash + 1)].to_owned();
        let told = match (found.shape, &found.name) {
            (Shape::Account, _) => "a Telegram account".to_owned(),
            (Shape::OneChat, Some(name)) => format!("the chat {name}"),
            (Shape::OneChat, None) => "one chat".to_owned(),
        };
        claims.push((root, Claim { entries: vec![index], account: found.account, found: told }));
    }
    if !claims.is_empty() {
        add_media(look, &mut claims);
    }
    claims.into_iter().map(|(_, claim)| claim).collect()
}

/// Gives each claim the media below its folder; the deepest folder that fits, and the first claim there.
fn add_media(look: &Look<'_>, claims: &mut [(String, Claim)]) {
    let main: HashSet<usize> = claims.iter().flat_map(|(_, claim)| claim.entries.clone()).collect();
    let mut roots: HashMap<String, usize> = HashMap::new();
    for (place, (root, _)) in claims.iter().enumerate() {
        roots.entry(root.clone()).or_insert(place);
    }
    for (index, entry) in look.unclaimed().filter(|(index, _)| !main.contains(index)) {
        if let Some(place) = owner(&entry.path, &roots) {
            claims[place].1.entries.push(index);
        }
    }
}

fn owner(path: &str, roots: &HashMap<String, usize>) -> Option<usize> {
    let mut end = path.rfind('/')?;
    loop {
        let start = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        if FOLDERS.contains(&&path[start..end])
            && let Some(place) = roots.get(&path[..start])
        {
            return Some(*place);
        }
        end = start.checked_sub(1)?;
    }
}

pub(super) fn read_head(reader: impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// What a file is, by how it begins.
pub(super) fn recognise(head: &[u8]) -> Option<Recognised> {
    // Most other JSON is passed over without walking it.
    let opens = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if opens.first() != Some(&b'{') {
        return None;
    }
    one_chat(head).or_else(|| account(head))
}

fn one_chat(head: &[u8]) -> Option<Recognised> {
    let mut elements = Elements::new(head, &["messages"], HEAD_ELEMENT);
    let (mut kind, mut id, mut name) = (false, false, None);
    while let Ok(Some(found)) = elements.next() {
        match found {
            Found::Beside { depth: 0, name: member, json } => match member.as_str() {
                "type" => kind = serde_json::from_slice::<String>(json).is_ok_and(|kind| is_chat_type(&kind)),
                "id" => id = serde_json::from_slice::<i64>(json).is_ok(),
                "name" => name = serde_json::from_slice::<String>(json).ok(),
                _ => {}
            },
            Found::Element { .. } | Found::TooLong { .. } | Found::Broken { .. } => break,
            _ => {}
        }
    }
    (kind && id).then_some(Recognised { shape: Shape::OneChat, account: None, name })
}

/// Longest element of a head; none can be longer.
const HEAD_ELEMENT: usize = 64 * 1024;

fn account(head: &[u8]) -> Option<Recognised> {
    let mut elements = Elements::new(head, &["chats", "list", "*", "messages"], HEAD_ELEMENT);
    let mut account = None;
    let mut is_telegram = false;
    while let Ok(Some(found)) = elements.next() {
        let Found::Beside { depth, name, json } = found else {
            if matches!(found, Found::Enter { .. }) {
                continue;
            }
            break;
        };
        let value = serde_json::from_slice::<Value>(json).unwrap_or_default();
        match (depth, name.as_str()) {
            (0, "about") => is_telegram |= value.as_str().is_some_and(|about| about.contains("Telegram")),
            (0, "personal_information") => {
                is_telegram |= integer(&value, "user_id").is_some();
                let handle = text(&value, "username").or_else(|| text(&value, "phone_number"));
                account =
                    handle.map(str::to_owned).or_else(|| integer(&value, "user_id").map(|id| id.to_string()));
            }
            (3, "type") => is_telegram |= value.as_str().is_some_and(is_chat_type),
            _ => {}
        }
    }
    is_telegram.then_some(Recognised { shape: Shape::Account, account, name: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_told_by_how_they_begin() {
        let told = |head: &str| recognise(head.as_bytes()).map(|found| (found.shape, found.account));
        let about = r#"{"about":"Here is the data you asked Telegram for","contacts":{"list":[{"x"#;
        assert_eq!(told(about), Some((Shape::Account, None)));
        let known =
            r#"{"personal_information":{"user_id":5,"username":"@mo","phone_number":"+1"},"chats":{"list":["#;
        assert_eq!(told(known), Some((Shape::Account, Some("@mo".into()))));
        let chats = r#"{"chats":{"about":"","list":[{"name":"A","type":"personal_chat","id":1,"messages":[{"#;
        assert_eq!(told(chats), Some((Shape::Account, None)));
        let one = r#"{"name":"A","type":"private_group","id":7,"messages":[{"id":1,"#;
        assert_eq!(told(one), Some((Shape::OneChat, None)));
        for other in [
            "",
            "[]",
            "{}",
            r#"{"name":"x","type":"note","id":1,"messages":[]}"#,
            r#"{"chats":[]}"#,
            "{\"a\"",
        ] {
            assert_eq!(told(other), None, "{other}");
        }
    }
}
