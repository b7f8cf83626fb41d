//! The directory itself: there, private, writable, with room to grow.

use std::path::Path;

use super::Check;
use crate::screen::{quoted, size};

/// Below this, writing may fail soon.
const LITTLE: u64 = 256 << 20;

pub(super) fn look(data: &Path, has_database: bool) -> Vec<Check> {
    let shown = data.display();
    if !data.exists() && has_database {
        return vec![Check::note("directory", format!("{shown} is not there yet"), "`pdpp serve` makes it")];
    }
    if !data.exists() {
        let fix = "load something with `pdpp import`, or look around with `pdpp demo`";
        return vec![Check::note("directory", format!("{shown} is not there yet"), fix)];
    }
    if !data.is_dir() {
        return vec![Check::wrong(
            "directory",
            format!("{shown} is no directory"),
            "name another with --data DIR",
        )];
    }
    let mut checks = Vec::new();
    if has_database || data.join("store.db").exists() {
        checks.push(Check::well("directory", shown.to_string()));
    } else {
        let fix = "load something with `pdpp import`";
        checks.push(Check::note("directory", format!("{shown} holds no data yet"), fix));
    }
    checks.extend(modes(data));
    checks.push(writable(data));
    checks.extend(room(data));
    checks.extend(left_behind(data));
    checks
}

#[cfg(unix)]
fn modes(data: &Path) -> Vec<Check> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let mut checks = Vec::new();
    for (path, private) in [("", 0o700), ("store.db", 0o600), ("ledger.db", 0o600), ("blobs", 0o700)] {
        let path = if path.is_empty() { data.to_owned() } else { data.join(path) };
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        let mode = metadata.permissions().mode() & 0o777;
        let shown = path.display().to_string();
        if mode & 0o077 != 0 {
            let fix = format!("chmod {private:o} {}", quoted(&shown));
            checks.push(Check::wrong("modes", format!("{shown} can be opened by others ({mode:o})"), fix));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            let fix = format!("chown -R \"$(id -u)\" {}", quoted(&shown));
            checks.push(Check::wrong("owner", format!("{shown} belongs to another account"), fix));
        }
    }
    if checks.is_empty() {
        checks.push(Check::well("modes", "only your account can open it"));
    }
    checks
}

#[cfg(not(unix))]
fn modes(_: &Path) -> Vec<Check> {
    Vec::new()
}

/// Only trying tells: a mode says nothing about a disk that is mounted for reading.
fn writable(data: &Path) -> Check {
    match tempfile::Builder::new().prefix(".pdpp-doctor-").tempfile_in(data) {
        Ok(_) => Check::well("writable", "files can be made in it"),
        Err(error) => {
            let fix = "check the disk and its mount options, and whose directory it is";
            Check::wrong("writable", format!("nothing can be written in it: {error}"), fix)
        }
    }
}

#[cfg(unix)]
fn room(data: &Path) -> Option<Check> {
    let disk = rustix::fs::statvfs(data).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < LITTLE {
        let fix =
            "make room on the disk; a full disk refuses writes, and with them reads, which need the ledger";
        return Some(Check::wrong("disk", format!("only {} are free", size(free)), fix));
    }
    Some(Check::well("disk", format!("{} free", size(free))))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<Check> {
    None
}

/// What an interrupted command left.
fn left_behind(data: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    let name = data.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_ours = |entry: &str| {
        entry.starts_with(".pdpp-restore-") || entry.starts_with(&format!("{name}.before-restore-"))
    };
    let beside =
        data.parent().and_then(|parent| std::fs::read_dir(parent).ok()).into_iter().flatten().flatten();
    let beside = beside
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|entry| is_ours(&entry.to_string_lossy())));
    for path in beside.chain(Some(data.join("search.verify")).filter(|path| path.exists())) {
        let shown = path.display().to_string();
        let fix = format!("remove it when no other command runs: rm -r {}", quoted(&shown));
        checks.push(Check::note("left behind", shown, fix));
    }
    checks
}
