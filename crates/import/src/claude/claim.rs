//! Which files of a tree are an export of Claude.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;

use crate::folders::{folder, nearest, parent};
use crate::json_list::{names_at_head, parse};
use crate::members::text;
use crate::{Claim, Look, Tree, file_name};

const HEAD: u64 = 64 * 1024;

/// What a file of the export holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Conversations,
    Project,
    Memory,
    Users,
}

impl Kind {
    /// By the path; whether it is so, the contents tell.
    pub(super) fn of(path: &str) -> Option<Self> {
        let stem = file_name(path).strip_suffix(".json")?;
        let above = folder(path).trim_end_matches('/');
        match (stem, file_name(above)) {
            ("projects", _) | (_, "projects") => Some(Self::Project),
            ("memories", _) | (_, "memories") => Some(Self::Memory),
            ("users", _) => Some(Self::Users),
            _ => {
                let rest = stem.strip_prefix("conversations")?;
                rest.chars().all(|c| c.is_ascii_digit() || "-_ ()".contains(c)).then_some(Self::Conversations)
            }
        }
    }

    pub(super) fn element(self) -> &'static str {
        match self {
            Self::Conversations => "conversation",
            Self::Project => "project",
            Self::Memory => "memory",
            Self::Users => "user",
        }
    }

    /// A member that every element has.
    fn member(self) -> &'static [&'static str] {
        match self {
            Self::Conversations => &["chat_messages"],
            Self::Project => &["docs", "prompt_template"],
            Self::Memory => &["conversations_memory", "project_memories", "memory_files"],
            Self::Users => &["email_address", "full_name"],
        }
    }

    fn is_told_by(self, head: &[u8]) -> bool {
        names_at_head(head).iter().any(|name| self.member().contains(&name.as_str()))
    }
}

pub(super) fn claim(look: &mut Look<'_>) -> Vec<Claim> {
    let mut exports: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in look.find(|path| Kind::of(path) == Some(Kind::Conversations)) {
        if Kind::Conversations.is_told_by(&look.head(index, HEAD)) {
            exports.entry(root(look.path(index)).to_owned()).or_default().push(index);
        }
    }
    if exports.is_empty() {
        return Vec::new();
    }
    for index in look.find(|path| Kind::of(path).is_some_and(|kind| kind != Kind::Conversations)) {
        let Some(export) =
            nearest(look.path(index), |folder| exports.contains_key(folder)).map(str::to_owned)
        else {
            continue;
        };
        let told = Kind::of(look.path(index)).is_some_and(|kind| kind.is_told_by(&look.head(index, HEAD)));
        if told && let Some(entries) = exports.get_mut(&export) {
            entries.push(index);
        }
    }
    exports.into_values().map(|entries| make(look, entries)).collect()
}

fn make(look: &mut Look<'_>, mut entries: Vec<usize>) -> Claim {
    entries.sort_by_cached_key(|index| (Kind::of(look.path(*index)), look.path(*index).to_owned()));
    let of_kind = |look: &Look<'_>, kind: Kind| -> Vec<usize> {
        entries.iter().copied().filter(|index| Kind::of(look.path(*index)) == Some(kind)).collect()
    };
    let users = of_kind(look, Kind::Users);
    let account = users.iter().find_map(|index| address(&parse(&look.whole(*index, 1 << 20)?)?));
    let found = match of_kind(look, Kind::Project).len() {
        0 => "conversations of Claude".to_owned(),
        _ => "conversations and projects of Claude".to_owned(),
    };
    Claim { entries, account, found }
}

/// The address of the only user. An export of a whole team belongs to none of them.
fn address(users: &Value) -> Option<String> {
    let user = match users {
        Value::Array(users) if users.len() == 1 => &users[0],
        Value::Array(_) => return None,
        one => one,
    };
    text(user, "email_address").map(str::to_owned)
}

/// The folder an export lies in. Archives that were delivered together (`conversations-000.zip`) are one export, and
/// lie in the folder around them.
fn root(path: &str) -> &str {
    let own = folder(path);
    let archive = own.strip_suffix(".zip/").map(file_name).unwrap_or_default();
    let is_part = archive.rsplit_once('-').is_some_and(|(name, number)| {
        name == "conversations" && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_part { parent(own).unwrap_or(own) } else { own }
}

/// Whether a file is one object rather than a list of them.
pub(super) fn begins_with_object(tree: &mut dyn Tree, index: usize) -> bool {
    let mut head = Vec::new();
    let read = tree.open(index).and_then(|bytes| bytes.take(256).read_to_end(&mut head));
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    read.is_ok() && head.trim_ascii_start().starts_with(b"{")
}
