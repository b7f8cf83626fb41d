//! Which files of a tree are an export of `ChatGPT`.
//!
//! The export has no folder of its own and shares a file name with others, so it is told by the members of the first
//! conversation; the files around it are taken by their names, in the same folder only.

use std::collections::BTreeMap;

use crate::folders::{folder, nearest};
use crate::json_list::{names_at_head, parse};
use crate::members::text;
use crate::{Claim, Look, Tree, file_name};

const HEAD: u64 = 64 * 1024;
/// Files the service puts beside the conversations. Those that are not read say nothing the conversations do not.
const BESIDE: [&str; 12] = [
    "chat.html",
    "user.json",
    "user_settings.json",
    "message_feedback.json",
    "shared_conversations.json",
    "conversation_asset_file_names.json",
    "export_manifest.json",
    "model_comparisons.json",
    "tool_messages.json",
    "library_files.json",
    "group_chats.json",
    "sora.json",
];

pub(super) fn claim(look: &mut Look<'_>) -> Vec<Claim> {
    let mut exports: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in look.find(|path| is_conversations(file_name(path))) {
        let head = look.head(index, HEAD);
        let is_list =
            head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start().starts_with(b"[");
        if is_list && names_at_head(&head).iter().any(|name| name == "mapping") {
            exports.entry(folder(look.path(index)).to_owned()).or_default().push(index);
        }
    }
    if exports.is_empty() {
        return Vec::new();
    }
    let mut beside: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, entry) in look.unclaimed() {
        if let Some(root) = nearest(&entry.path, |folder| exports.contains_key(folder))
            && belongs(&entry.path[root.len()..])
        {
            beside.entry(root).or_default().push(index);
        }
    }
    let beside: Vec<Vec<usize>> =
        exports.keys().map(|root| beside.remove(root.as_str()).unwrap_or_default()).collect();
    let made = exports.into_iter().zip(beside);
    made.map(|((root, conversations), beside)| make(look, &root, conversations, beside)).collect()
}

fn make(look: &mut Look<'_>, root: &str, mut entries: Vec<usize>, mut beside: Vec<usize>) -> Claim {
    entries.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
    beside.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
    let user = beside.iter().copied().find(|index| file_name(look.path(*index)) == "user.json");
    let user = user.and_then(|index| look.whole(index, 1 << 20)).and_then(|bytes| parse(&bytes));
    let account = user.and_then(|user| text(&user, "email").map(str::to_owned));
    let files = beside.iter().filter(|index| is_asset(&look.path(**index)[root.len()..])).count();
    let found = match entries.len() {
        1 => format!("conversations of ChatGPT, {files} files"),
        parts => format!("conversations of ChatGPT in {parts} parts, {files} files"),
    };
    entries.extend(beside);
    Claim { entries, account, found }
}

pub(super) fn is_conversations(name: &str) -> bool {
    name.strip_prefix("conversations")
        .and_then(|rest| rest.strip_suffix(".json"))
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || "-_ ()".contains(c)))
}

/// Whether a file is one of the export's, by its path below the conversations.
fn belongs(path: &str) -> bool {
    BESIDE.contains(&path) || is_asset(path)
}

/// Whether a file is something that was uploaded or made in a conversation, by its path below the conversations.
pub(super) fn is_asset(path: &str) -> bool {
    let name = file_name(path);
    if ["file-", "file_"].iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    match path.split_once('/') {
        Some((top, _)) => {
            top == "dalle-generations" || top.starts_with("user-") || is_conversation_folder(top)
        }
        None => name.strip_suffix(".dat").is_some_and(|stem| !stem.is_empty()),
    }
}

/// Whether a folder is named by a conversation's id: five groups of hex digits.
fn is_conversation_folder(name: &str) -> bool {
    let lengths = name.split('-').map(str::len);
    name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') && lengths.eq([8, 4, 4, 4, 12])
}

/// The claimed entries whose file name passes a test, in order.
pub(super) fn named(tree: &dyn Tree, claim: &Claim, test: impl Fn(&str) -> bool) -> Vec<usize> {
    let name = |index: usize| file_name(&tree.entries()[index].path);
    claim.entries.iter().copied().filter(|index| test(name(*index))).collect()
}
