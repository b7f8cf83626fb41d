//! `conformance`: the official MCP suite against our HTTP endpoint.
//!
//! The suite asks for tools and prompts of its own, so it runs against a fixture, `crates/mcp/examples/conformance`,
//! which serves them through the code that `pdpp serve` uses. What may fail stands in
//! `xtask/conformance-expected.yaml`; the suite's own list of expected failures counts warnings as failures, so the
//! comparison is made here. Its scenarios for authorization servers run against `pdpp serve` itself.

mod authorization;
mod fixture;
mod page;
mod verdict;

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::conformance::fixture::Fixture;
use crate::npm::Npm;
use crate::process;
use crate::workspace::Workspace;

const EXPECTED: &str = "xtask/conformance-expected.yaml";
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];
/// A run takes ten seconds; one that reaches this hangs.
const LONGEST_RUN: Duration = Duration::from_mins(3);

/// Run the official MCP conformance suite against our HTTP endpoint and authorization server.
///
/// Installs the pinned suite into `.xtask/npm` and judges both revisions of the protocol by
/// `xtask/conformance-expected.yaml`. Nothing may fail at the authorization server of `pdpp serve`. What came out must be
/// what `docs/reference/mcp-conformance.md` says.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Write what came out into that page, instead of comparing it.
    #[arg(long)]
    write: bool,
}

pub(crate) fn conformance(workspace: &Workspace, options: &Options) -> Result<()> {
    let npm = Npm::find_or_install(workspace)?;
    let expected =
        fs::read_to_string(workspace.path(EXPECTED)).with_context(|| format!("{EXPECTED} cannot be read"))?;
    let program = workspace.build_example("conformance")?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let fixture = Fixture::start(&program)?;

    let (mut complaints, mut runs) = (Vec::new(), Vec::new());
    for revision in REVISIONS {
        println!("--- {revision}");
        let results = scratch.path().join(revision);
        let output = run(&npm, fixture.url(), revision, &results)?;
        println!("{}", verdict::summary(&output).context("the suite printed no summary")?);
        let required = required(&npm, revision)?;
        let expected = verdict::Expected::of(&expected, revision);
        let outcomes = verdict::outcomes(&output);
        for complaint in verdict::judge(&required, &expected, &outcomes) {
            println!("{}", failures_of(&results, &complaint.scenario));
            complaints.push(format!("{revision}: {complaint}"));
        }
        runs.push(page::Run { revision, required, outcomes });
    }
    if !complaints.is_empty() {
        bail!("the endpoint is not what {EXPECTED} says:\n{}", complaints.join("\n"));
    }
    let complaints = authorization::authorization(workspace, &npm, scratch.path())?;
    if !complaints.is_empty() {
        bail!("the authorization server does not conform:\n{}", complaints.join("\n"));
    }
    page::keep(workspace, &page::page(&suite(&npm)?, &runs, &authorization::SCENARIOS)?, options.write)
}

/// The suite's name and version.
fn suite(npm: &Npm) -> Result<String> {
    const NAME: &str = "@modelcontextprotocol/conformance";
    let path = npm.root().join("node_modules").join(NAME).join("package.json");
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let package: Value = serde_json::from_str(&text).context("the suite's package is not JSON")?;
    Ok(format!("{NAME} {}", package["version"].as_str().context("the suite has no version")?))
}

/// What the suite printed. Its exit code says only that something failed, which may be expected.
fn run(npm: &Npm, url: &str, revision: &str, results: &Path) -> Result<String> {
    fs::create_dir_all(results).context("no place for the results")?;
    let log = results.join("output.txt");
    let output = File::create(&log).context("the suite's output cannot be kept")?;
    let mut suite = npm.node(&npm.program("conformance"));
    suite.args(["server", "--url", url, "--requirements", revision, "--output-dir"]).arg(results);
    suite.stdout(output.try_clone()?).stderr(output).current_dir(results);
    let finished = process::finish_within(&mut suite, LONGEST_RUN);
    let output = fs::read_to_string(&log).context("the suite's output cannot be read")?;
    match finished {
        Ok(_) if verdict::summary(&output).is_some() => Ok(output),
        Ok(status) => bail!("the suite did not finish ({status}):\n{output}"),
        Err(error) => Err(error.context(output)),
    }
}

/// The scenarios that the suite itself says a revision requires.
fn required(npm: &Npm, revision: &str) -> Result<Vec<String>> {
    let path = npm
        .root()
        .join("node_modules/@modelcontextprotocol/conformance/requirements")
        .join(format!("{revision}.yaml"));
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let required = verdict::list_under(&text, "server");
    if required.is_empty() {
        bail!("{} requires nothing of a server", path.display());
    }
    Ok(required)
}

/// Why a scenario failed, from the file the suite left.
fn failures_of(results: &Path, scenario: &str) -> String {
    let prefix = format!("server-{scenario}-2");
    let folders = fs::read_dir(results).into_iter().flatten().flatten();
    folders
        .filter(|folder| folder.file_name().to_string_lossy().starts_with(&prefix))
        .filter_map(|folder| fs::read_to_string(folder.path().join("checks.json")).ok())
        .map(|checks| verdict::failed_checks(&checks))
        .collect::<Vec<_>>()
        .join("\n")
}
