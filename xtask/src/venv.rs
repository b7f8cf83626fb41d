//! The Python environment of the tasks: `.xtask/venv`, from the pinned `xtask/requirements.txt`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{debian, process};

const REQUIREMENTS: &str = "xtask/requirements.txt";

#[derive(Debug)]
pub(crate) struct Venv {
    root: PathBuf,
}

impl Venv {
    /// A copy of the requirements inside the environment says what was installed from them.
    pub(crate) fn find_or_install(workspace: &Workspace) -> Result<Self> {
        let venv = Self { root: workspace.tools().join("venv") };
        let installed = venv.root.join("installed.txt");
        let wanted = fs::read_to_string(workspace.path(REQUIREMENTS))
            .with_context(|| format!("{REQUIREMENTS} cannot be read"))?;
        if fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
            println!("installing {REQUIREMENTS} into .xtask/venv");
            make(&venv.root)?;
            let mut pip = Command::new(venv.program("python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]);
            process::run(pip.current_dir(workspace.root()))?;
            fs::write(&installed, wanted).context("the environment cannot be marked as complete")?;
        }
        Ok(venv)
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }
}

/// Debian leaves `venv` out of its Python.
fn make(root: &Path) -> Result<()> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(root);
    let Err(error) = process::capture(&mut venv) else {
        return Ok(());
    };
    debian::install(&["python3", "python3-venv"]).with_context(|| format!("{error:#}"))?;
    process::capture(&mut venv).map(drop)
}
