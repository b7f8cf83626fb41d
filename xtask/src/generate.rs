//! `generate`: keeps `docs/reference` equal to what the code says.
//!
//! The binary describes itself through its hidden `pdpp reference DIR` command; this task runs it, adds which tests show
//! which requirement row, and compares. Files listed in [`BY_HAND`] live beside the generated ones and are left alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{coverage, process};

const REFERENCE: &str = "docs/reference";
const BY_HAND: [&str; 5] = ["benchmarks.md", "mcp-conformance.md", "mcp-tokens.md", "parity.md", "README.md"];

/// Write `docs/reference` from the code: `openapi.json`, errors, routes, settings, commands, MCP tools, tests of MCP rows.
///
/// With `--check` nothing is written: the task fails when a file differs from what the code would
/// generate, and says which.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Compare instead of writing.
    #[arg(long)]
    check: bool,
}

impl Options {
    pub(crate) fn checking() -> Self {
        Self { check: true }
    }
}

pub(crate) fn generate(workspace: &Workspace, options: &Options) -> Result<()> {
    let pdpp = workspace.build_pdpp()?;
    let fresh = tempfile::tempdir().context("no temporary directory")?;
    process::run(Command::new(pdpp).arg("reference").arg(fresh.path()).current_dir(workspace.root()))?;

    let committed_directory = workspace.path(REFERENCE);
    let mut fresh = read_directory(fresh.path())?;
    if fresh.is_empty() {
        bail!("`pdpp reference` wrote nothing");
    }
    fresh.insert("mcp-rows.md".to_owned(), coverage::page(workspace)?.into_bytes());
    let drifts = compare(&read_directory(&committed_directory)?, &fresh);
    if options.check {
        return report(&drifts);
    }
    fs::create_dir_all(&committed_directory).with_context(|| format!("{REFERENCE} cannot be made"))?;
    for drift in &drifts {
        let path = committed_directory.join(&drift.file);
        match fresh.get(&drift.file) {
            Some(content) => fs::write(&path, content),
            None => fs::remove_file(&path),
        }
        .with_context(|| format!("{} cannot be changed", path.display()))?;
        println!("{REFERENCE}/{}: {}", drift.file, drift.what);
    }
    println!("{REFERENCE}: {} files, {} changed", fresh.len(), drifts.len());
    Ok(())
}

fn report(drifts: &[Drift]) -> Result<()> {
    if drifts.is_empty() {
        return Ok(());
    }
    for drift in drifts {
        println!("{REFERENCE}/{}: {}", drift.file, drift.what);
    }
    bail!("{REFERENCE} is not what the code generates; run `cargo xtask generate` and commit the result")
}

#[derive(Debug, PartialEq, Eq)]
struct Drift {
    file: String,
    what: String,
}

type Files = BTreeMap<String, Vec<u8>>;

fn compare(committed: &Files, fresh: &Files) -> Vec<Drift> {
    let stale = committed
        .keys()
        .filter(|file| !fresh.contains_key(*file) && !BY_HAND.contains(&file.as_str()))
        .map(|file| Drift { file: file.clone(), what: "no longer generated".to_owned() });
    let differing = fresh.iter().filter_map(|(file, content)| {
        let what = match committed.get(file) {
            None => "missing".to_owned(),
            Some(old) if old == content => return None,
            Some(old) => format!("differs from line {}", first_difference(old, content)),
        };
        Some(Drift { file: file.clone(), what })
    });
    differing.chain(stale).collect()
}

fn first_difference(old: &[u8], new: &[u8]) -> usize {
    let newline = |byte: &u8| *byte == b'\n';
    1 + old.split(newline).zip(new.split(newline)).take_while(|(old, new)| old == new).count()
}

fn read_directory(directory: &Path) -> Result<Files> {
    let mut files = Files::new();
    if !directory.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(directory).with_context(|| format!("{} cannot be read", directory.display()))? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            let content = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            files.insert(name.to_string_lossy().into_owned(), content);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(committed: &[(&str, &str)], fresh: &[(&str, &str)], expected: &[&str]) {
        let files = |list: &[(&str, &str)]| -> Files {
            list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let found: Vec<_> = compare(&files(committed), &files(fresh))
            .into_iter()
            .map(|drift| format!("{}: {}", drift.file, drift.what))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_files_have_not_drifted() {
        check(&[("errors.md", "a\nb")], &[("errors.md", "a\nb")], &[]);
    }

    #[test]
    fn a_changed_file_names_the_first_line_that_differs() {
        check(&[("errors.md", "a\nb\nc")], &[("errors.md", "a\nB\nc")], &["errors.md: differs from line 2"]);
        check(&[("errors.md", "a")], &[("errors.md", "a\nb")], &["errors.md: differs from line 2"]);
    }

    #[test]
    fn a_missing_file_has_drifted() {
        check(&[], &[("routes.md", "x")], &["routes.md: missing"]);
    }

    #[test]
    fn a_file_the_code_no_longer_generates_has_drifted() {
        check(&[("tools.md", "x")], &[], &["tools.md: no longer generated"]);
    }

    #[test]
    fn files_written_by_hand_are_left_alone() {
        check(&[("benchmarks.md", "x"), ("README.md", "y")], &[], &[]);
    }
}
