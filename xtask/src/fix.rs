//! `fix`: makes every change a machine can make for you.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{generate, process};

/// Applies clippy's suggestions, then formats, so that what clippy wrote is formatted too.
pub(crate) fn fix(workspace: &Workspace) -> Result<()> {
    let clippy = ["clippy", "--fix", "--workspace", "--all-targets", "--allow-dirty", "--allow-staged"];
    process::run(&mut workspace.cargo(clippy))?;
    process::run(&mut workspace.cargo(["fmt", "--all"]))?;
    generate::generate(workspace, &generate::Options::default())
}
