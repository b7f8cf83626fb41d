//! A change of one configuration file: shown, applied with a backup, undone.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::host::{Entry, Host};
use crate::terminal;

/// Lines of the file shown around a change.
const CONTEXT: usize = 2;
/// No configuration comes near this.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What a file was and what it becomes; no text means no file.
#[derive(Debug)]
pub(super) struct Change {
    file: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

impl Change {
    pub(super) fn new(host: &Host, before: Option<String>, after: Option<String>) -> Self {
        Self { file: host.file.clone(), before, after }
    }

    pub(super) fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.before == self.after
    }

    /// Prints the lines that go and the lines that come.
    pub(super) fn show(&self) -> anyhow::Result<()> {
        terminal::line(&format!("--- {}", self.file.display()))?;
        terminal::line(&format!("+++ {}", self.file.display()))?;
        for line in
            diff(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
        {
            terminal::line(&line)?;
        }
        Ok(())
    }

    /// Writes the new text. The file as it was is kept beside it when `keep` says so and it was there.
    pub(super) fn apply(&self, keep: bool) -> anyhow::Result<()> {
        if keep && self.before.is_some() {
            let backup = backup_of(&self.file);
            fs::copy(&self.file, &backup)
                .with_context(|| format!("cannot keep a copy in {}", backup.display()))?;
            terminal::note(&format!("The file as it was is in {}", backup.display()));
        }
        replace(&self.file, self.after.as_deref())
    }

    /// Writes the old text again.
    pub(super) fn undo(&self) -> anyhow::Result<()> {
        if self.is_nothing() {
            return Ok(());
        }
        replace(&self.file, self.before.as_deref())
    }
}

/// The text of a file; none when there is no file.
pub(super) fn read(file: &Path) -> anyhow::Result<Option<String>> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.len() > MAX_BYTES => anyhow::bail!("{} is too large", file.display()),
        Ok(_) => {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            Ok(Some(text))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// What the file was before the entry came: the backup, if the file is still exactly what was made of it; else the file
/// without the entry.
pub(super) fn original(
    host: &Host,
    now: Option<&str>,
    name: &str,
    entry: &Entry,
) -> anyhow::Result<Option<String>> {
    let backup = read(&backup_of(&host.file))?;
    let made_of = |text: Option<&str>| host.edit(text, name, Some(entry)).ok();
    if backup.is_some() && made_of(backup.as_deref()).as_deref() == now {
        return Ok(backup);
    }
    if backup.is_none() && made_of(None).as_deref() == now {
        return Ok(None);
    }
    host.edit(now, name, None).map(Some)
}

pub(super) fn forget_backup(file: &Path) -> anyhow::Result<()> {
    match fs::remove_file(backup_of(file)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".pdpp-backup");
    file.with_file_name(name)
}

/// Replaces a file at once, where it really is: a link stays a link, and the file keeps its permissions.
fn replace(file: &Path, text: Option<&str>) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", file.display());
    let Some(text) = text else {
        return fs::remove_file(file).with_context(cannot);
    };
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = real.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(cannot)?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    fresh.write_all(text.as_bytes()).with_context(cannot)?;
    if let Ok(metadata) = fs::metadata(&real) {
        fresh.as_file().set_permissions(metadata.permissions()).with_context(cannot)?;
    }
    fresh.as_file().sync_all().with_context(cannot)?;
    fresh.persist(&real).map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}

/// The changed lines with some around them. A change here is always in one place.
fn diff(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let left = old.len().min(new.len()) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(left).take_while(|(a, b)| a == b).count();
    let around = |lines: &[&str]| lines.iter().map(|line| format!(" {line}")).collect::<Vec<_>>();
    let signed =
        |sign: char, lines: &[&str]| lines.iter().map(|line| format!("{sign}{line}")).collect::<Vec<_>>();
    let end = old.len() - tail;
    [
        vec![format!("@@ line {} @@", same + 1)],
        around(&old[same.saturating_sub(CONTEXT)..same]),
        signed('-', &old[same..end]),
        signed('+', &new[same..new.len() - tail]),
        around(&old[end..(end + CONTEXT).min(old.len())]),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let lines = diff("a\nb\nc\nd\ne\n", "a\nb\nc\nX\nd\ne\n");
        assert_eq!(lines, ["@@ line 4 @@", " b", " c", "+X", " d", " e"]);
        assert_eq!(diff("", "{\n}\n"), ["@@ line 1 @@", "+{", "+}"]);
        assert_eq!(diff("a\na\n", "a\n"), ["@@ line 2 @@", " a", "-a"]);
    }
}
