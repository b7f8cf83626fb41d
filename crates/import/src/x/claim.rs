//! Finds archives in a tree.

use std::collections::BTreeMap;

use serde_json::Value;

use super::files::{MEDIA, base_name};
use super::script;
use crate::members::text;
use crate::{Claim, Look, file_name};

/// Scripts that are read, and those that only serve the archive's own viewer.
const SCRIPTS: [&str; 18] = [
    "account",
    "profile",
    "tweets",
    "tweet",
    "note-tweet",
    "community-tweet",
    "deleted-tweets",
    "like",
    "direct-messages",
    "direct-messages-group",
    "follower",
    "following",
    "block",
    "mute",
    "manifest",
    "tweet-headers",
    "deleted-tweet-headers",
    "direct-message-headers",
];
/// Scripts that make a folder an archive.
const TELLING: [&str; 6] = ["account", "tweets", "tweet", "like", "direct-messages", "follower"];
/// Largest `account.js`.
const ACCOUNT: u64 = 1024 * 1024;

pub(super) fn claim(look: &mut Look<'_>) -> Vec<Claim> {
    let mut roots: BTreeMap<String, Claim> = BTreeMap::new();
    for index in look.find(|path| base_name(file_name(path)).is_some_and(|name| TELLING.contains(&name))) {
        let root = folder(look.path(index)).to_owned();
        if !roots.contains_key(&root) && script::is_script(&look.head(index, 256)) {
            roots.insert(root, Claim { entries: Vec::new(), account: None, found: String::new() });
        }
    }
    if roots.is_empty() {
        return Vec::new();
    }
    for index in look.find(|_| true) {
        let path = look.path(index);
        let Some((root, is_account)) = place_in(path, &roots) else { continue };
        let account =
            if is_account { look.whole(index, ACCOUNT).as_deref().and_then(username) } else { None };
        if let Some(claim) = roots.get_mut(&root) {
            claim.entries.push(index);
            claim.account = account.or(claim.account.take());
        }
    }
    roots
        .into_values()
        .map(|mut claim| {
            let media = claim.entries.iter().filter(|index| is_media(look.path(**index))).count();
            let whose = claim.account.as_deref().map_or(String::new(), |name| format!(" of {name}"));
            claim.found = format!("an X archive{whose}, {media} media files");
            claim
        })
        .collect()
}

/// The archive a path belongs to, and whether it is the account's own script.
fn place_in(path: &str, roots: &BTreeMap<String, Claim>) -> Option<(String, bool)> {
    let (above, name) = (folder(path), file_name(path));
    if roots.contains_key(above) {
        let known = base_name(name).is_some_and(|name| SCRIPTS.contains(&name)) || name == "README.txt";
        return known.then(|| (above.to_owned(), name == "account.js"));
    }
    if is_media(path) {
        let root = folder(above);
        return roots.contains_key(root).then(|| (root.to_owned(), false));
    }
    // The page that shows the archive lies beside `data`, with its own scripts; nothing of the owner is in it.
    let viewer = if name == "Your archive.html" { above } else { &path[..path.find("assets/")?] };
    let root = format!("{}{}data", viewer.trim_end_matches('/'), if viewer.is_empty() { "" } else { "/" });
    roots.contains_key(&root).then_some((root, false))
}

fn is_media(path: &str) -> bool {
    MEDIA.iter().any(|(name, _)| file_name(folder(path)) == *name)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn username(script: &[u8]) -> Option<String> {
    let start = script.iter().position(|byte| *byte == b'[')?;
    let list: Value = serde_json::from_slice(&script[start..]).ok()?;
    text(list.get(0)?.get("account")?, "username").map(|name| format!("@{name}"))
}
