//! Installs schemathesis, configures it for the loaded samples, and runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::fuzz::Options;
use crate::fuzz::samples::Samples;
use crate::process;
use crate::workspace::Workspace;

const CONFIG: &str = "xtask/schemathesis.toml";
const REQUIREMENTS: &str = "xtask/requirements.txt";
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
    /// A copy of the requirements inside the environment says what was installed from them.
    pub(super) fn find_or_install(workspace: &Workspace) -> Result<Self> {
        let environment = workspace.tools().join("venv");
        let (program, installed) = (environment.join("bin/schemathesis"), environment.join("installed.txt"));
        let wanted = fs::read_to_string(workspace.path(REQUIREMENTS))
            .with_context(|| format!("{REQUIREMENTS} cannot be read"))?;
        if !program.is_file() || fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
            println!("installing schemathesis into .xtask/venv");
            make_environment(&environment)?;
            let mut pip = Command::new(environment.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]);
            process::run(pip.current_dir(workspace.root()))?;
            fs::write(&installed, wanted).context("the environment cannot be marked as complete")?;
        }
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
        finish_within(&mut command, LONGEST_RUN)
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

/// Debian leaves `venv` out of its Python; the package is installed when that is allowed.
fn make_environment(environment: &Path) -> Result<()> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(environment);
    let Err(error) = process::capture(&mut venv) else {
        return Ok(());
    };
    let root = process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root {
        return Err(error.context("install Python 3 with its venv module (Debian: python3-venv)"));
    }
    process::run(Command::new("apt-get").args(["update", "-qq"]))?;
    process::run(Command::new("apt-get").args(["install", "-y", "-qq", "python3", "python3-venv"]))?;
    process::capture(&mut venv).map(drop)
}

fn finish_within(command: &mut Command, limit: Duration) -> Result<()> {
    let started = Instant::now();
    let mut child = command.spawn().context("schemathesis could not be started")?;
    loop {
        if let Some(status) = child.try_wait().context("schemathesis cannot be watched")? {
            if !status.success() {
                bail!("schemathesis found failures ({status})");
            }
            return Ok(());
        }
        if started.elapsed() > limit {
            child.kill().and_then(|()| child.wait()).context("schemathesis cannot be stopped")?;
            bail!("schemathesis was stopped: it ran longer than {} s", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionary_words_are_quoted() {
        assert_eq!(dictionary(&["plain".into(), r#"["a\b"]"#.into()]), "\"plain\"\n\"[\\\"a\\\\b\\\"]\"\n");
    }

    #[test]
    fn a_run_that_hangs_is_stopped() {
        let error = finish_within(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }

    #[test]
    fn a_run_that_finds_failures_fails() {
        assert!(finish_within(&mut Command::new("false"), Duration::from_secs(10)).is_err());
        assert!(finish_within(&mut Command::new("true"), Duration::from_secs(10)).is_ok());
    }
}
