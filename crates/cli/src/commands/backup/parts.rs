//! Which files a backup may hold, and where they may lie.

use std::path::Path;

/// Files beside the databases larger than this are nothing of ours.
const LARGEST: u64 = 1 << 20;

/// Settings and keys that lie beside the databases, by name.
pub(super) fn beside(data: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(data)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.metadata().is_ok_and(|file| file.is_file() && file.len() <= LARGEST))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_beside(name))
        .collect();
    names.sort();
    names
}

/// Whether a backup may put a file of this name there: a database, a settings or key file, or an attachment.
pub(super) fn is_ours(path: &str) -> bool {
    pdpp_server::DATABASES.contains(&path) || is_beside(path) || is_blob(path)
}

fn is_beside(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_kept = !name.contains(".db") && !name.contains(".lock") && !name.contains("..");
    is_kept
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && name.bytes().all(plain)
}

fn is_blob(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    match parts.as_slice() {
        ["blobs", subject, two, digest] => {
            is_beside(subject)
                && digest.len() == 64
                && hex(digest)
                && digest.starts_with(two)
                && two.len() == 2
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_places_are_ours() {
        let digest = "ab".repeat(32);
        for ours in
            ["store.db", "ledger.db", "pdpp.toml", "events.key", &format!("blobs/owner_local/ab/{digest}")]
        {
            assert!(is_ours(ours), "{ours}");
        }
        for foreign in [
            "",
            ".",
            "..",
            "../store.db",
            "/etc/passwd",
            ".ssh",
            "store.db-wal",
            "blobs/x",
            "search/meta.json",
            "blobs/../ab/x",
            &format!("blobs/owner_local/cd/{digest}"),
            &format!("blobs/owner_local/ab/{digest}/x"),
        ] {
            assert!(!is_ours(foreign), "{foreign}");
        }
    }
}
