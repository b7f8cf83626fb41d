//! The key webhook secrets are sealed under: in no backup of the store alone.
//!
//! A data directory makes its own. Over a database every node must have the same one, so none makes any: a node with a
//! key of its own would seal secrets that no other can open.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pdpp_access::{Entropy, random_hex};
use pdpp_events::SecretKey;
use pdpp_store::StoreError;

/// Its name in the data directory.
const KEY_FILE: &str = "events.key";

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum SecretsKeyError {
    /// Every node needs one, and this one has none.
    #[error(
        "there is no key for webhook secrets in {0}. With a database every node needs the same one: make it once with \
         `head -c 32 /dev/urandom > events.key && chmod 600 events.key`, copy it to every node, and name it with \
         --secrets-key-file FILE"
    )]
    Missing(String),
    /// What is there is none.
    #[error("{0} is not a key for webhook secrets, which has exactly 32 bytes")]
    NotAKey(String),
    /// It cannot be read, or made.
    #[error("the key for webhook secrets in {path} cannot be used")]
    Unusable {
        /// Which file.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl From<SecretsKeyError> for StoreError {
    fn from(error: SecretsKeyError) -> Self {
        Self::Unwritable(Box::new(error))
    }
}

/// Whether a key may be made where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nobody else needs it.
    Made,
    /// Others have it.
    Refused,
}

/// The key in a file that was named, else in the data directory.
pub(crate) fn secrets_key(
    (named, data): (Option<&Path>, &Path),
    missing: Missing,
    entropy: &dyn Entropy,
) -> Result<SecretKey, SecretsKeyError> {
    let path: PathBuf = named.map_or_else(|| data.join(KEY_FILE), Path::to_owned);
    let shown = || path.display().to_string();
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A key that was named is somebody's already.
            if missing == Missing::Refused || named.is_some() {
                return Err(SecretsKeyError::Missing(shown()));
            }
            make_key(entropy, &path)
        }
        read => read,
    };
    let bytes = bytes.map_err(|source| SecretsKeyError::Unusable { path: shown(), source })?;
    let key = <[u8; 32]>::try_from(bytes);
    key.map(SecretKey::new).map_err(|_| SecretsKeyError::NotAKey(shown()))
}

/// Whoever comes second takes the key of whoever came first: it appears whole, or not at all.
fn make_key(entropy: &dyn Entropy, path: &Path) -> io::Result<Vec<u8>> {
    let draft = path.with_extension(format!("key.{}", random_hex(entropy, 8)));
    let made = write_private(&draft, SecretKey::mint(entropy).reveal());
    let linked = made.and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::read(path),
    }
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use pdpp_testkit::SeededEntropy;

    use super::*;

    fn key(named: Option<&Path>, data: &Path, missing: Missing) -> Result<Vec<u8>, String> {
        let key = secrets_key((named, data), missing, &SeededEntropy::default());
        key.map(|key| key.reveal().to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_directory_makes_its_key_once() {
        let data = tempfile::tempdir().unwrap();
        let made = key(None, data.path(), Missing::Made).unwrap();
        assert_eq!(key(None, data.path(), Missing::Made).unwrap(), made);
        assert_eq!(
            key(None, data.path(), Missing::Refused).unwrap(),
            made,
            "a key that is there serves a node"
        );
    }

    #[test]
    fn a_node_without_a_key_is_told_how_to_get_one() {
        let data = tempfile::tempdir().unwrap();
        let said = key(None, data.path(), Missing::Refused).unwrap_err();
        assert!(said.contains("head -c 32 /dev/urandom") && said.contains("--secrets-key-file"), "{said}");
        assert!(!data.path().join(KEY_FILE).exists(), "none is made");
        let named = data.path().join("shared.key");
        assert!(key(Some(&named), data.path(), Missing::Made).is_err(), "a named key is not made either");
        fs::write(&named, [7; 32]).unwrap();
        assert_eq!(key(Some(&named), data.path(), Missing::Refused).unwrap(), [7; 32]);
        fs::write(&named, [7; 33]).unwrap();
        assert!(key(Some(&named), data.path(), Missing::Refused).unwrap_err().contains("exactly 32 bytes"));
    }
}
