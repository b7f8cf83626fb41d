//! The npm packages of the tasks: `.xtask/npm`, from the pinned `xtask/npm`. A recent Node is one of them, because
//! the systems we build on have older ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{debian, process};

const SOURCE: &str = "xtask/npm";
const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

#[derive(Debug)]
pub(crate) struct Npm {
    root: PathBuf,
}

impl Npm {
    /// A copy of the lock file beside the packages says what was installed from it.
    pub(crate) fn find_or_install(workspace: &Workspace) -> Result<Self> {
        let npm = Self { root: workspace.tools().join("npm") };
        let installed = npm.root.join("installed.json");
        let lock = format!("{SOURCE}/package-lock.json");
        let wanted =
            fs::read_to_string(workspace.path(&lock)).with_context(|| format!("{lock} cannot be read"))?;
        if fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
            println!("installing {SOURCE} into .xtask/npm");
            fs::create_dir_all(&npm.root).context(".xtask/npm cannot be made")?;
            for file in FILES {
                fs::copy(workspace.path(SOURCE).join(file), npm.root.join(file))
                    .with_context(|| format!("{SOURCE}/{file} cannot be copied"))?;
            }
            if process::capture(Command::new("npm").arg("--version")).is_err() {
                debian::install(&["npm"])?;
            }
            // Only errors: npm's own Node may be too old for the suite, and that is why another is installed.
            let mut install = Command::new("npm");
            install.args(["ci", "--loglevel", "error", "--no-progress"]);
            process::run(install.current_dir(&npm.root))?;
            fs::write(&installed, wanted).context("the packages cannot be marked as complete")?;
        }
        Ok(npm)
    }

    /// Where the packages are, for a script that stands elsewhere.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The program of a package.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.root.join("node_modules/.bin").join(name)
    }

    /// Node with a script: the installed one, or the system's where none is published for its kind.
    pub(crate) fn node(&self, script: &Path) -> Command {
        let installed = self.program("node");
        let mut node = Command::new(if installed.is_file() { installed } else { "node".into() });
        node.arg(script);
        node
    }
}
