//! `browser`: the owner's pages in a real Chromium, and a public MCP client that is let in through them.
//!
//! A `pdpp serve` with sample data starts without an owner. The browser becomes the owner by the printed link, signs
//! in, and answers what clients ask, a hostile one among them; axe-core looks at every page. The browser's part is in
//! `xtask/clients/browser`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::npm::Npm;
use crate::server::RunningServer;
use crate::workspace::Workspace;
use crate::{debian, process, tools};

const EXPORTS: [&str; 3] =
    ["fixtures/exports/slack", "fixtures/exports/notes", "fixtures/exports/mail/Maildir"];
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const PICTURES: &str = "docs/images";
/// A run takes a minute or two; one that reaches this hangs.
const LONGEST_RUN: Duration = Duration::from_mins(9);

/// Drive the owner's pages in a headless Chromium.
///
/// Installs Chromium by name where none is found, and the pinned puppeteer-core and axe-core into
/// `.xtask/npm`. Nothing but loopback is reached. Prints one line per check.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Take the pictures in `docs/images` anew.
    #[arg(long)]
    screenshots: bool,
}

pub(crate) fn browser(workspace: &Workspace, options: &Options) -> Result<()> {
    let npm = Npm::find_or_install(workspace)?;
    let chromium = find_or_install_chromium()?;
    let pdpp = workspace.build_pdpp()?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let data = scratch.path().join("data");
    for export in EXPORTS {
        let mut import = Command::new(&pdpp);
        import.arg("import").arg(workspace.path(export)).arg("--data").arg(&data);
        process::capture(&mut import)?;
    }
    let server = RunningServer::start(&pdpp, &data, scratch.path())?;
    let plan = json!({
        "url": server.url(),
        "first_run": first_run_link(&server.log())?,
        "passphrase": "two boats and a lantern",
        "chromium": chromium,
        "scratch": scratch.path(),
        "screenshots": options.screenshots.then(|| workspace.path(PICTURES)),
    });
    let checked = drive(workspace, &npm, scratch.path(), &plan.to_string());
    if checked.is_err() {
        println!("--- the last lines of the server's log\n{}", server.log_tail());
    }
    let stopped = server.stop();
    checked.and(stopped)
}

fn drive(workspace: &Workspace, npm: &Npm, scratch: &Path, plan: &str) -> Result<()> {
    let path = scratch.join("plan.json");
    fs::write(&path, plan).context("the plan cannot be written")?;
    let mut client = npm.node(&workspace.path("xtask/clients/browser/main.mjs"));
    client.arg(&path).arg(npm.root()).current_dir(scratch);
    if !process::finish_within(&mut client, LONGEST_RUN)?.success() {
        bail!("the browser found mismatches; each line marked FAIL is one");
    }
    Ok(())
}

fn find_or_install_chromium() -> Result<PathBuf> {
    let find = || NAMES.iter().find_map(|name| tools::find_on_path(name));
    if let Some(found) = find() {
        return Ok(found);
    }
    debian::install(&["chromium"])?;
    find().context("Chromium was installed and is not on PATH")
}

/// What the server prints while nobody is its owner.
fn first_run_link(log: &str) -> Result<String> {
    let link = log.split_whitespace().rfind(|word| word.contains("/owner/first-run?"));
    Ok(link.with_context(|| format!("the server printed no link for the first owner:\n{log}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_read_from_what_the_server_says() {
        let log = "pdpp serves /d on http://x\nset it here: http://x/owner/first-run?secret=abc\n";
        assert_eq!(first_run_link(log).unwrap(), "http://x/owner/first-run?secret=abc");
        assert!(first_run_link("nothing").is_err());
    }
}
