//! Finds or installs the cargo subcommands that CI needs.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// A program published as a package of the same name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    package: &'static str,
    version: &'static str,
}

pub(crate) const NEXTEST: Tool = Tool { package: "cargo-nextest", version: "0.9.151" };
pub(crate) const DENY: Tool = Tool { package: "cargo-deny", version: "0.20.2" };

impl Tool {
    /// A command that starts the tool in the repository.
    ///
    /// One installed here earlier comes first, then whatever `PATH` holds; only then is the pinned
    /// version built, without optimization, because compiling it takes longer than it ever runs.
    pub(crate) fn command(self, workspace: &Workspace) -> Result<Command> {
        let installed = workspace.tools().join("tools/bin").join(self.package);
        let program = if installed.is_file() {
            installed
        } else if let Some(found) = find_on_path(self.package) {
            found
        } else {
            self.install(workspace)?;
            installed
        };
        let mut command = Command::new(program);
        command.current_dir(workspace.root());
        Ok(command)
    }

    fn install(self, workspace: &Workspace) -> Result<()> {
        println!("installing {} {} into .xtask/tools", self.package, self.version);
        let mut install = workspace.cargo(["install", "--locked", "--debug", "--quiet", "--root"]);
        install.arg(workspace.tools().join("tools"));
        install.arg(format!("{}@{}", self.package, self.version)).env("CARGO_PROFILE_DEV_DEBUG", "0");
        process::run(&mut install)
    }
}

/// A program the system has.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(program)).find(|program| program.is_file())
}
