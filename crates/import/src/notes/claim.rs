//! Which files of a tree are notes, and which lie there for their sake.
//!
//! Any folder may hold a `README.md`, so this format is asked late and takes little: notes, and the files of folders
//! that hold notes or lie in a vault or an export of Notion.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::paths::{is_hidden, is_markdown, is_text, split_notion_id};
use crate::folders::{folder, nearest, parent};
use crate::{Claim, Look, file_name, stem};

/// Names that files have which are about other files.
const ABOUT: [&str; 7] = ["readme", "license", "licence", "changelog", "contributing", "notice", "authors"];
/// Folders below notes where their files lie.
const KEPT_APART: [&str; 10] = [
    "assets",
    "attachments",
    "images",
    "img",
    "media",
    "files",
    "resources",
    "_resources",
    "static",
    "pictures",
];

pub(super) fn claim(look: &mut Look<'_>) -> Vec<Claim> {
    let notes = look.find(|path| is_markdown(path) && !is_hidden(path));
    if notes.is_empty() || is_only_about(look, &notes) {
        return Vec::new();
    }
    let vaults = vaults(look.unclaimed().map(|(_, entry)| entry.path.as_str()));
    let mut claims: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    let with_notes: HashSet<String> =
        notes.iter().map(|index| folder(look.path(*index)).to_owned()).collect();
    let pages =
        notes.iter().map(|index| look.path(*index)).filter(|path| split_notion_id(stem(path)).1.is_some());
    let notion: BTreeSet<String> = pages.map(|path| folder(path).to_owned()).collect();
    for (index, entry) in look.unclaimed() {
        let path = entry.path.as_str();
        let vault = nearest(path, |folder| vaults.contains(folder));
        let taken = match () {
            // A vault's settings are its own, and are not read.
            () if is_hidden(path) => vault.is_some(),
            () if is_markdown(path)
                || vault.is_some()
                || nearest(path, |folder| notion.contains(folder)).is_some() =>
            {
                true
            }
            () if with_notes.contains(folder(path)) => is_text(path) || !is_foreign(path),
            () => lies_apart(path, &with_notes) && !is_foreign(path),
        };
        if taken {
            claims.entry(vault.map(str::to_owned)).or_default().push(index);
        }
    }
    // One vault needs no name: it is the owner's notes. Several are told apart by their folders.
    let several = claims.len() > 1;
    claims
        .into_iter()
        .map(|(vault, mut entries)| {
            entries.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
            let seen = entries.iter().map(|index| look.path(*index)).filter(|path| !is_hidden(path));
            let (count, others) =
                seen.fold(
                    (0, 0),
                    |(notes, others), path| {
                        if is_markdown(path) { (notes + 1, others) } else { (notes, others + 1) }
                    },
                );
            let kind = if !notion.is_empty() {
                " of Notion"
            } else if vault.is_some() {
                " of a vault"
            } else {
                ""
            };
            let name = vault.as_deref().map(|root| file_name(root.trim_end_matches('/')));
            let account = name.filter(|name| several && !name.is_empty()).map(str::to_owned);
            let found = format!("{count} notes{kind}, {others} other files");
            Claim { entries, account, found }
        })
        .filter(|claim| claim.entries.iter().any(|index| notes.binary_search(index).is_ok()))
        .collect()
}

/// The folders that hold the settings of a vault.
pub(super) fn vaults<'p>(paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let root = |path: &'p str| {
        let root = &path[..path.find(".obsidian/")?];
        (root.is_empty() || root.ends_with('/')).then(|| root.to_owned())
    };
    paths.filter_map(root).collect()
}

/// Whether the only notes are about the other files here.
fn is_only_about(look: &Look<'_>, notes: &[usize]) -> bool {
    let about = |index: &usize| {
        let name = stem(look.path(*index)).to_ascii_lowercase();
        ABOUT.iter().any(|known| name == *known)
    };
    notes.iter().all(about) && look.unclaimed().count() > notes.len()
}

/// Files that are data of some program rather than something a person put beside a note.
fn is_foreign(path: &str) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    [".json", ".xml", ".mbox", ".ics", ".vcf", ".jsonl", ".ndjson", ".db", ".sqlite", ".exe", ".js"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Whether a file lies in a folder for files, at most two below notes.
fn lies_apart(path: &str, with_notes: &HashSet<String>) -> bool {
    let own = folder(path);
    let mut apart = false;
    let mut at = Some(own);
    for _ in 0..3 {
        let Some(here) = at.filter(|here| !here.is_empty()) else { return false };
        let name = file_name(here.trim_end_matches('/')).to_ascii_lowercase();
        apart |= KEPT_APART.contains(&name.as_str());
        at = parent(here);
        if apart && at.is_some_and(|above| with_notes.contains(above)) {
            return true;
        }
    }
    false
}
