//! Files that hold secrets: readable by their owner alone, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde_json::Value;

/// No credential file comes near this.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// For people who keep their configuration in a repository.
const IGNORE: &str = "*\n!.gitignore\n";

/// Reads a file that must be this user's own. One that others could read is closed to them first.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    guard(&file)?;
    let mut text = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_FILE_BYTES) {
        return Err(io::Error::other("it is too large for a credential"));
    }
    Ok(text)
}

#[cfg(unix)]
fn guard(file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let metadata = file.metadata()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        // Whoever owns it could put another token into it, and see what is asked with that.
        return Err(io::Error::other("it belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))
            .map_err(|_| io::Error::other("others can read it, and that cannot be changed"))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn guard(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Replaces a file: a crash leaves the old one or the new one. What is renamed into place was never readable by
/// anyone else.
pub(super) fn write(path: &Path, document: &Value) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    fresh.write_all(&text)?;
    fresh.as_file().sync_all()?;
    fresh.persist(path).map_err(|error| error.error)?;
    // The rename itself must survive a crash too; a file system that cannot promise that is used all the same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Makes the directories of the cache, closed to others.
pub(super) fn prepare(root: &Path) -> io::Result<()> {
    let made = !root.exists();
    fs::create_dir_all(root)?;
    if made {
        close(root)?;
    }
    let folder = root.join("clients");
    fs::create_dir_all(&folder)?;
    close(&folder)?;
    let ignore = root.join(".gitignore");
    match fs::read_to_string(&ignore) {
        Ok(text) if text.lines().any(|line| line.trim() == "*") => Ok(()),
        Ok(text) => fs::write(&ignore, format!("{}\n{IGNORE}", text.trim_end())),
        Err(_) => fs::write(&ignore, IGNORE),
    }
}

#[cfg(unix)]
fn close(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn close(_folder: &Path) -> io::Result<()> {
    Ok(())
}
