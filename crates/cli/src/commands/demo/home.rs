//! Where the demo lives: a temporary directory that goes with it, or one the owner keeps.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::exit::Usage;
use crate::terminal;

/// How often removal is tried: whoever still writes an index file is soon done.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// The demo's data directory.
#[derive(Debug)]
pub(super) enum Home {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Home {
    /// A directory to keep must be new: invented mail among the owner's own would never be told apart again.
    pub(super) fn choose(keep: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = keep else {
            let made = tempfile::Builder::new().prefix("pdpp-demo-").tempdir();
            return Ok(Self::Temporary(made.context("cannot make a temporary directory")?));
        };
        let taken = path.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if taken || path.is_file() {
            let message = format!(
                "{} holds something already; name a new directory to keep the demo in",
                path.display()
            );
            return Err(Usage(message).into());
        }
        Ok(Self::Kept(std::path::absolute(path).context("cannot tell where that directory is")?))
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(directory) => directory.path(),
        }
    }

    pub(super) const fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// Removes what is temporary, and says where it lies if that cannot be done.
    pub(super) fn leave(self) {
        let Self::Temporary(directory) = self else { return };
        for _ in 0..ATTEMPTS {
            match std::fs::remove_dir_all(directory.path()) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => thread::sleep(PAUSE),
                _ => return,
            }
        }
        terminal::note(&format!("{} could not be removed; please do so", directory.path().display()));
    }
}
