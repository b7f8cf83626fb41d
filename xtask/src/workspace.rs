//! Where the repository is, how its cargo is called, and how its binary is built.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process;

/// The repository this task runs in.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The repository this program was built from, wherever it is called.
    pub(crate) fn find() -> Result<Self> {
        let own = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = own.parent().context("xtask has no parent directory")?.to_owned();
        if !root.join("Cargo.toml").is_file() {
            bail!("{} holds no Cargo.toml: run this through `cargo xtask`", root.display());
        }
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where installed tools live: inside the repository, ignored by git.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join(".xtask")
    }

    /// A cargo command in the repository, on the toolchain that runs this task.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Builds `pdpp` and returns the executable's path. A test is built beside it: only then do features that tests ask
    /// for count, and without them every dependency would be compiled a second time.
    pub(crate) fn build_pdpp(&self) -> Result<PathBuf> {
        self.build(&["--bin", "pdpp", "--test", "shared"], "pdpp")
    }

    /// Builds an example and returns the executable's path.
    pub(crate) fn build_example(&self, name: &str) -> Result<PathBuf> {
        self.build(&["--example", name], name)
    }

    /// The test profile and the whole workspace's features make its dependencies the ones the
    /// tests link, so nothing is compiled for this alone.
    fn build(&self, targets: &[&str], name: &str) -> Result<PathBuf> {
        let mut build = self.cargo(["build", "--locked", "--workspace", "--profile", "test"]);
        build.args(targets);
        build.arg("--message-format=json-render-diagnostics").stderr(std::process::Stdio::inherit());
        let messages = process::capture(&mut build)?;
        find_executable(&messages, name)
            .with_context(|| format!("cargo built `{name}` without saying where it is"))
    }
}

#[derive(Deserialize)]
struct BuildMessage {
    target: Option<BuildTarget>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct BuildTarget {
    name: String,
}

/// Where cargo's JSON messages say the binary is; the target directory may be configured elsewhere.
fn find_executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<BuildMessage>(line).ok())
        .filter(|message| message.target.as_ref().is_some_and(|target| target.name == name))
        .find_map(|message| message.executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_read_from_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"serde"},"executable":null}"#,
            "\nnot json\n",
            r#"{"reason":"compiler-artifact","target":{"name":"pdpp"},"executable":"/t/debug/pdpp"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(find_executable(messages, "pdpp"), Some(PathBuf::from("/t/debug/pdpp")));
    }

    #[test]
    fn a_build_without_the_binary_finds_nothing() {
        assert_eq!(find_executable(r#"{"reason":"build-finished","success":true}"#, "pdpp"), None);
    }
}
