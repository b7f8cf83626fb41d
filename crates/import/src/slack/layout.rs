//! Where things stand in a Slack export.

use std::collections::HashSet;

use super::channels::ChannelKind;
use crate::{Look, file_name};

/// How much of a list is looked at.
const HEAD: u64 = 32 * 1024;

/// What an entry of an export is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    People,
    Conversations(ChannelKind),
    Logs,
    /// Canvases and lists.
    Documents,
    /// What was written in one conversation on one day.
    Day {
        folder: String,
    },
    Upload {
        file_id: String,
    },
}

impl Part {
    /// The order of reading: names before what uses them.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::People => 0,
            Self::Conversations(_) => 1,
            Self::Logs => 2,
            Self::Documents => 3,
            Self::Day { .. } => 4,
            Self::Upload { .. } => 5,
        }
    }
}

/// What an entry is, by its path below the root of the export.
pub(super) fn part_of(path: &str) -> Option<Part> {
    let parts: Vec<&str> = path.splitn(4, '/').collect();
    match *parts.as_slice() {
        ["users.json" | "org_users.json"] => Some(Part::People),
        ["channels.json"] => Some(Part::Conversations(ChannelKind::Public)),
        ["groups.json"] => Some(Part::Conversations(ChannelKind::Private)),
        ["mpims.json"] => Some(Part::Conversations(ChannelKind::GroupDirect)),
        ["dms.json"] => Some(Part::Conversations(ChannelKind::Direct)),
        ["integration_logs.json"] => Some(Part::Logs),
        ["canvases.json" | "lists.json"] => Some(Part::Documents),
        ["__uploads", id, _] => Some(Part::Upload { file_id: id.to_owned() }),
        ["attachments", name] | [_, "attachments", name] => {
            let (id, _) = name.split_once('-')?;
            Some(Part::Upload { file_id: id.to_owned() })
        }
        [folder, day] if is_day(day) => Some(Part::Day { folder: folder.to_owned() }),
        _ => None,
    }
}

pub(super) fn day_folder(path: &str) -> Option<&str> {
    path.split_once('/').filter(|(_, day)| is_day(day)).map(|(folder, _)| folder)
}

/// `2024-05-06.json`
fn is_day(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|day| {
        day.len() == 10
            && day.bytes().enumerate().all(|(place, byte)| match place {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    })
}

/// The folders, each with its last `/`, that hold lists as Slack writes them.
pub(super) fn roots(look: &mut Look<'_>) -> HashSet<String> {
    const LISTS: [&str; 5] = ["users.json", "channels.json", "groups.json", "mpims.json", "dms.json"];
    let candidates = look.find(|path| LISTS.contains(&file_name(path)));
    let mut roots = HashSet::new();
    for index in candidates {
        let name = file_name(look.path(index)).to_owned();
        let path = look.path(index);
        let root = path[..path.len() - name.len()].to_owned();
        if !roots.contains(&root) && is_list_of_slack(&name, &look.head(index, HEAD)) {
            roots.insert(root);
        }
    }
    roots
}

fn is_list_of_slack(name: &str, head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let has = |member: &str| head.contains(&format!("\"{member}\""));
    let list = head.trim_start_matches('\u{feff}').trim_start().starts_with('[');
    let members = match name {
        "users.json" => has("profile") && (has("team_id") || has("deleted") || has("is_bot")),
        _ => has("members") && has("created"),
    };
    list && has("id") && members
}

/// The root an entry stands under, and what it is there.
pub(super) fn place<'p>(path: &'p str, roots: &HashSet<String>) -> Option<(&'p str, Part)> {
    let mut end = path.len();
    // Nothing of an export stands deeper than three names below its root.
    for _ in 0..3 {
        end = path[..end].rfind('/').unwrap_or(0);
        let root = if end == 0 { "" } else { &path[..=end] };
        if roots.contains(root)
            && let Some(part) = part_of(&path[root.len()..])
        {
            return Some((root, part));
        }
        if end == 0 {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_told_by_their_place() {
        let roots = HashSet::from([String::new(), "a/b.zip/".to_owned()]);
        let told = |path: &'static str| place(path, &roots).map(|(root, part)| (root, part.rank()));
        assert_eq!(told("users.json"), Some(("", 0)));
        assert_eq!(told("a/b.zip/dms.json"), Some(("a/b.zip/", 1)));
        assert_eq!(told("a/b.zip/general/2024-05-06.json"), Some(("a/b.zip/", 4)));
        assert_eq!(told("a/b.zip/general/attachments/F1-x.png"), Some(("a/b.zip/", 5)));
        assert_eq!(told("__uploads/F1/x.png"), Some(("", 5)));
        for other in ["general/2024-5-06.json", "general/notes.json", "a/c/d/users.json", "x.png"] {
            assert_eq!(told(other), None, "{other}");
        }
    }
}
