//! The repository's own files, read once for all checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Directories that hold what machines made.
const NOT_OURS: [&str; 3] = ["target", "node_modules", ".xtask"];
/// Hidden directories that are part of the repository.
const HIDDEN_BUT_OURS: [&str; 3] = [".cargo", ".ci", ".github"];
const TEXT: [&str; 13] =
    ["rs", "md", "toml", "json", "html", "css", "js", "sql", "sh", "txt", "yml", "yaml", "svg"];
const LARGEST_TEXT: u64 = 4 * 1024 * 1024;

/// Every path in the repository, and the text of those that are text. Paths use `/` and start at the root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.add_directory(root, "")?;
        Ok(tree)
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            for (end, _) in path.match_indices('/') {
                tree.paths.insert(path[..end].to_owned());
            }
            tree.paths.insert((*path).to_owned());
            tree.texts.insert((*path).to_owned(), (*text).to_owned());
        }
        tree
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Every text file, in order of path.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every Rust file of our crates, tests and benchmarks included.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        let ours = |path: &str| path.starts_with("crates/") || path.starts_with("xtask/");
        self.with_extension("rs").filter(move |(path, _)| ours(path))
    }

    pub(crate) fn markdown_files(&self) -> impl Iterator<Item = (&str, &str)> {
        // Pages in sample exports are data: their links lead where the service they imitate would lead.
        self.with_extension("md").filter(|(path, _)| !path.starts_with("fixtures/exports/"))
    }

    fn with_extension(&self, extension: &'static str) -> impl Iterator<Item = (&str, &str)> {
        self.texts()
            .filter(move |(path, _)| Path::new(path).extension().is_some_and(|found| found == extension))
    }

    fn add_directory(&mut self, directory: &Path, prefix: &str) -> Result<()> {
        let entries =
            fs::read_dir(directory).with_context(|| format!("{} cannot be read", directory.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if entry.file_type()?.is_dir() {
                if is_ours(&name) {
                    self.add_directory(&entry.path(), &path)?;
                    self.paths.insert(path);
                }
                continue;
            }
            if entry.metadata()?.len() <= LARGEST_TEXT && is_text(&path) {
                // A file that claims to be text and is not UTF-8 is a fixture about exactly that.
                if let Ok(text) = fs::read_to_string(entry.path()) {
                    self.texts.insert(path.clone(), text);
                }
            }
            self.paths.insert(path);
        }
        Ok(())
    }
}

fn is_ours(directory: &str) -> bool {
    let hidden = directory.starts_with('.');
    !NOT_OURS.contains(&directory) && (!hidden || HIDDEN_BUT_OURS.contains(&directory))
}

fn is_text(path: &str) -> bool {
    match Path::new(path).extension() {
        Some(extension) => TEXT.iter().any(|text| extension == *text),
        None => path.starts_with(".ci/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_our_files_and_leaves_what_machines_made() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("crates/a/src/lib.rs", "//! A."),
            ("target/x.rs", "no"),
            (".git/y.md", "no"),
            (".ci/run", "yes"),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Tree::read(root.path()).unwrap();
        let found: Vec<_> = tree.texts().map(|(path, _)| path).collect();
        assert_eq!(found, [".ci/run", "crates/a/src/lib.rs"]);
        assert!(tree.contains("crates/a/src") && !tree.contains("target"));
    }
}
