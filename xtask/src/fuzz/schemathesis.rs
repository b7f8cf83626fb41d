//! Finds schemathesis, configures it for the loaded samples, and runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::fuzz::Options;
use crate::fuzz::samples::Samples;
use crate::process;
use crate::venv::Venv;
use crate::workspace::Workspace;

const CONFIG: &str = "xtask/schemathesis.toml";
/// A run of the default size takes a fraction of this; one that reaches it hangs.
const LONGEST_RUN: Duration = Duration::from_mins(10);

#[derive(Debug)]
pub(super) struct Schemathesis {
    program: PathBuf,
    storage: PathBuf,
}

/// One caller's turn.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) config: &'a Path,
    pub(super) url: &'a str,
    pub(super) token: &'a str,
    pub(super) options: &'a Options,
}

impl Schemathesis {
    pub(super) fn find_or_install(workspace: &Workspace) -> Result<Self> {
        let program = Venv::find_or_install(workspace)?.program("schemathesis");
        Ok(Self { program, storage: workspace.tools().join("hypothesis") })
    }

    /// Runs every check against every operation, as whoever holds the token.
    pub(super) fn run(&self, run: &Run<'_>) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.arg("--config-file").arg(run.config).args(["--no-color", "run"]);
        command.arg(format!("{}/openapi.json", run.url)).args(["--url", run.url, "--checks", "all"]);
        command.args(["--max-examples", &run.options.max_examples.to_string()]);
        command.args(["--header", &format!("Authorization: Bearer {}", run.token)]);
        command.args(&run.options.arguments);
        // Its own working directory, so that nothing it writes lands in the repository.
        command.current_dir(run.config.parent().unwrap_or(Path::new(".")));
        command.env("HYPOTHESIS_STORAGE_DIRECTORY", &self.storage);
        let status = process::finish_within(&mut command, LONGEST_RUN)?;
        if !status.success() {
            bail!("schemathesis found failures ({status})");
        }
        Ok(())
    }
}

/// The settings, with the dictionaries they name beside them.
pub(super) fn write_config(workspace: &Workspace, scratch: &Path, samples: &Samples) -> Result<PathBuf> {
    let config = scratch.join("schemathesis.toml");
    fs::copy(workspace.path(CONFIG), &config).with_context(|| format!("{CONFIG} cannot be copied"))?;
    let dictionaries = [
        ("streams", &samples.streams),
        ("records", &samples.records),
        ("fields", &samples.fields),
        ("connections", &samples.connections),
    ];
    for (name, words) in dictionaries {
        if words.is_empty() {
            bail!("the sample archive gave no {name} to fuzz with");
        }
        fs::write(scratch.join(format!("{name}.dict")), dictionary(words))
            .with_context(|| format!("the dictionary of {name} cannot be written"))?;
    }
    Ok(config)
}

/// One quoted word per line, in the form libFuzzer made common.
fn dictionary(words: &[String]) -> String {
    let quoted = |word: &String| word.replace('\\', r"\\").replace('"', "\\\"");
    words.iter().flat_map(|word| ["\"".to_owned(), quoted(word), "\"\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionary_words_are_quoted() {
        assert_eq!(dictionary(&["plain".into(), r#"["a\b"]"#.into()]), "\"plain\"\n\"[\\\"a\\\\b\\\"]\"\n");
    }
}
