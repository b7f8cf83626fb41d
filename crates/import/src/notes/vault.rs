//! All notes and files of one claim, and how a link finds one of them.
//!
//! A path and four hashes are held for each, some 200 bytes: a vault of a hundred thousand notes costs twenty
//! megabytes. A hash that fits is checked against the path itself.

use std::hash::{DefaultHasher, Hasher as _};

use unicode_normalization::UnicodeNormalization as _;

use super::claim::vaults;
use super::paths::{archive_prefix, is_hidden, is_markdown, is_text, split_notion_id};
use crate::folders::{folder, nearest};
use crate::{Claim, Entry, file_name, mint_key, stem};

/// Most files of one name that a link is held against.
const MOST_NAMESAKES: usize = 1000;

/// A file of the vault, by its number among them.
pub(super) type FileNumber = usize;

/// The files of one claim.
#[derive(Debug)]
pub(super) struct Vault {
    files: Vec<File>,
    /// Hashes of whole paths and of file names, sorted; each with and without the extension for notes.
    names: Vec<(u64, FileNumber)>,
}

#[derive(Debug)]
pub(super) struct File {
    /// The entry of the tree.
    pub(super) entry: usize,
    /// The path inside the vault, in composed characters.
    pub(super) path: String,
    pub(super) is_note: bool,
}

impl File {
    /// The key of a note or a file: Notion's own id for a page, otherwise its path.
    pub(super) fn key(&self) -> String {
        match split_notion_id(stem(&self.path)) {
            (_, Some(id)) if self.is_note => id.to_owned(),
            _ => mint_key(&self.path),
        }
    }
}

impl Vault {
    pub(super) fn of(entries: &[Entry], claim: &Claim) -> Self {
        let vaults = vaults(entries.iter().map(|entry| entry.path.as_str()));
        let mut files: Vec<File> = claim
            .entries
            .iter()
            .filter(|entry| !is_hidden(&entries[**entry].path))
            .map(|entry| {
                let path = entries[*entry].path.as_str();
                // Where a vault lies does not change what is in it.
                let own =
                    nearest(path, |folder| vaults.contains(folder)).map_or(archive_prefix(path), str::len);
                let path: String = path[own..].nfc().collect();
                File { entry: *entry, is_note: is_markdown(&path) || is_text(&path), path }
            })
            .collect();
        files.sort_by(|a, b| (&a.path, a.entry).cmp(&(&b.path, b.entry)));
        let mut names: Vec<(u64, FileNumber)> = Vec::with_capacity(files.len() * 4);
        for (number, file) in files.iter().enumerate() {
            for name in file_names(file) {
                names.push((hash(&folded(name)), number));
            }
        }
        names.sort_unstable();
        names.dedup();
        Self { files, names }
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    /// The file that a link's target leads to, seen from a note. First a path from the note, then a path from the
    /// root, then a name anywhere: of several, the one with the shortest path.
    pub(super) fn find(&self, target: &str, from: FileNumber) -> Option<FileNumber> {
        let target: String = target.nfc().collect();
        let target = target.trim();
        if target.is_empty() {
            return None;
        }
        let beside = resolved(folder(&self.files[from].path), target);
        let from_root = resolved("", target.trim_start_matches('/'));
        let whole = |path: &String| self.candidates(path).find(|number| self.is_called(*number, path, true));
        if let Some(found) = beside.as_ref().and_then(whole).or_else(|| from_root.as_ref().and_then(whole)) {
            return Some(found);
        }
        // The end of a path names a file as well as its name does.
        let wanted = from_root?;
        let named =
            self.candidates(file_name(&wanted)).filter(|number| self.is_called(*number, &wanted, false));
        named.min_by_key(|number| (self.files[*number].path.len(), *number))
    }

    fn candidates(&self, name: &str) -> impl Iterator<Item = FileNumber> {
        let wanted = hash(&folded(name));
        let start = self.names.partition_point(|(hash, _)| *hash < wanted);
        self.names[start..]
            .iter()
            .take_while(move |(hash, _)| *hash == wanted)
            .take(MOST_NAMESAKES)
            .map(|(_, number)| *number)
    }

    /// Whether a file has this path, or one that ends with it, whatever the case of its letters.
    fn is_called(&self, number: FileNumber, wanted: &str, whole: bool) -> bool {
        let wanted = folded(wanted);
        let fits = |path: &str| {
            let path = folded(path);
            path == wanted || (!whole && path.strip_suffix(&wanted).is_some_and(|rest| rest.ends_with('/')))
        };
        let file = &self.files[number];
        fits(&file.path) || (file.is_note && fits(without_extension(&file.path)))
    }
}

/// What a file can be found by.
fn file_names(file: &File) -> impl Iterator<Item = &str> {
    let path = file.path.as_str();
    let short = file.is_note.then(|| without_extension(path));
    [Some(path), Some(file_name(path)), short, short.map(file_name)].into_iter().flatten()
}

fn without_extension(path: &str) -> &str {
    let folder = folder(path).len();
    &path[..folder + stem(path).len()]
}

fn folded(name: &str) -> String {
    name.to_lowercase()
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// A target as a path from the root; `None` when it climbs out.
fn resolved(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], from: &str, target: &str, expected: Option<&str>) {
        let entries: Vec<Entry> =
            paths.iter().map(|path| Entry { path: (*path).to_owned(), bytes: 0 }).collect();
        let claim = Claim { entries: (0..entries.len()).collect(), account: None, found: String::new() };
        let vault = Vault::of(&entries, &claim);
        let from = vault.files().iter().position(|file| file.path == from).unwrap();
        let found = vault.find(target, from).map(|number| vault.files()[number].path.as_str());
        assert_eq!(found, expected, "{target}");
    }

    #[test]
    fn a_link_finds_what_is_beside_it_then_from_the_root_then_anywhere() {
        let paths =
            ["A.md", "deep/A.md", "deep/down/B.md", "deep/down/pic.png", "x/y/Only.md", "x/Cafe\u{301}.md"];
        check(&paths, "deep/down/B.md", "A", Some("A.md"));
        check(&paths, "deep/down/B.md", "../A.md", Some("deep/A.md"));
        check(&paths, "deep/A.md", "a", Some("deep/A.md"));
        check(&paths, "A.md", "only", Some("x/y/Only.md"));
        check(&paths, "A.md", "y/Only", Some("x/y/Only.md"));
        check(&paths, "A.md", "z/Only", None);
        check(&paths, "A.md", "pic.png", Some("deep/down/pic.png"));
        check(&paths, "A.md", "pic", None);
        check(&paths, "A.md", "../../etc/passwd", None);
        check(&paths, "A.md", "Caf\u{e9}", Some("x/Caf\u{e9}.md"));
        check(&paths, "A.md", "/deep/down/B", Some("deep/down/B.md"));
        check(&paths, "A.md", "", None);
    }

    #[test]
    fn an_archive_does_not_change_a_path() {
        check(&["v.zip/A.md", "v.zip/b/C.md"], "A.md", "b/C", Some("b/C.md"));
    }
}
