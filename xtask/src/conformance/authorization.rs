//! The suite's scenarios for authorization servers, against the real `pdpp serve`.
//!
//! The suite registers nothing itself and prints the address that a person should open. Here a client is registered
//! for it, the owner approves through the consent routes, and the suite's own callback is called with the answer.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::npm::Npm;
use crate::owner::Owner;
use crate::server::{RunningServer, free_address};
use crate::workspace::Workspace;
use crate::{http, process};

const MANIFEST: &str = "fixtures/exports/jsonl/manifest.json";
const RECORDS: &str = "fixtures/exports/jsonl/records.jsonl";
/// All the suite has, and each must pass every check it makes, recommendations included.
pub(super) const SCENARIOS: [&str; 2] =
    ["authorization-server-metadata-endpoint", "authorization-code-grant"];
const LONGEST_RUN: Duration = Duration::from_mins(2);

pub(super) fn authorization(workspace: &Workspace, npm: &Npm, scratch: &Path) -> Result<Vec<String>> {
    println!("--- authorization server");
    let pdpp = workspace.build_pdpp()?;
    let data = scratch.join("data");
    let mut import = Command::new(&pdpp);
    import.args(["import", "--format", "jsonl", "--manifest", MANIFEST, RECORDS, "--data"]).arg(&data);
    process::capture(import.current_dir(workspace.root()))?;
    let server = RunningServer::start(&pdpp, &data, scratch)?;
    let owner = Owner::of(&pdpp, &data, server.url())?;
    let results = scratch.join("authorization");
    let output = run(npm, server.url(), &owner, &results).with_context(|| server.log_tail())?;
    let complaints = SCENARIOS.iter().filter_map(|scenario| judge(scenario, &results, &output)).collect();
    server.stop()?;
    Ok(complaints)
}

fn run(npm: &Npm, url: &str, owner: &Owner, results: &Path) -> Result<String> {
    fs::create_dir_all(results).context("no place for the results")?;
    let port = free_address()?.port().to_string();
    let redirect = format!("http://127.0.0.1:{port}/callback");
    let registration = json!({ "client_name": "Conformance suite", "redirect_uris": [redirect] });
    let client = http::post(&format!("{url}/oauth/register"), None, &registration)?.text("client_id")?;

    let log = results.join("output.txt");
    let output = File::create(&log).context("the suite's output cannot be kept")?;
    let mut suite = npm.node(&npm.program("conformance"));
    suite.args(["authorization", "--url", url, "--client-id", &client, "--port", &port]);
    suite.args(["--resource", &format!("{url}/mcp"), "--output-dir"]).arg(results);
    suite.stdout(output.try_clone()?).stderr(output).current_dir(results);
    let ended = AtomicBool::new(false);
    let (finished, approved) = thread::scope(|scope| {
        let approver = scope.spawn(|| approve_when_asked(owner, url, &log, &ended));
        let finished = process::finish_within(&mut suite, LONGEST_RUN);
        ended.store(true, Ordering::Relaxed);
        (finished, approver.join().unwrap_or_else(|_| bail!("the approval stopped")))
    });
    let output = fs::read_to_string(&log).context("the suite's output cannot be read")?;
    finished.with_context(|| output.clone())?;
    approved.with_context(|| output.clone())?;
    Ok(output)
}

/// Waits for the address in the suite's output, approves, and goes back to the suite as a browser would.
fn approve_when_asked(owner: &Owner, url: &str, log: &Path, ended: &AtomicBool) -> Result<()> {
    let start = format!("{url}/oauth/authorize?");
    while !ended.load(Ordering::Relaxed) {
        let output = fs::read_to_string(log).unwrap_or_default();
        // The line is complete once another follows it.
        let whole = output.rsplit_once('\n').map_or("", |(lines, _)| lines);
        if let Some(address) = whole.lines().find(|line| line.starts_with(&start)) {
            let back = owner.approve(address)?;
            let answer = http::get(&back, None)?;
            return if answer.status == 200 {
                Ok(())
            } else {
                bail!("the callback answered {}", answer.status)
            };
        }
        thread::sleep(Duration::from_millis(50));
    }
    bail!("the suite ended without asking for an approval")
}

/// What is wrong with a scenario, by the file it left; nothing if every check is a success.
fn judge(scenario: &str, results: &Path, output: &str) -> Option<String> {
    let prefix = format!("authorization-server-{scenario}-2");
    let folders = fs::read_dir(results).into_iter().flatten().flatten();
    let report = folders
        .filter(|folder| folder.file_name().to_string_lossy().starts_with(&prefix))
        .find_map(|folder| fs::read_to_string(folder.path().join("checks.json")).ok());
    let Some(report) = report else {
        return Some(format!("{scenario} was not run:\n{output}"));
    };
    let (good, all) = successes(&report);
    println!("{} {scenario}: {good} of {all} checks", if good == all && all > 0 { "✓" } else { "✗" });
    (good != all || all == 0).then(|| format!("{scenario}: {report}"))
}

fn successes(report: &str) -> (usize, usize) {
    let checks: Vec<serde_json::Value> = serde_json::from_str(report).unwrap_or_default();
    (checks.iter().filter(|check| check["status"] == "SUCCESS").count(), checks.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_and_a_skipped_check_are_no_successes() {
        let report = r#"[{"status":"SUCCESS"},{"status":"WARNING"},{"status":"SKIPPED"}]"#;
        assert_eq!(successes(report), (1, 3));
        assert_eq!(successes("not json"), (0, 0));
    }

    #[test]
    fn a_scenario_without_a_report_is_a_complaint() {
        let empty = tempfile::tempdir().unwrap();
        assert!(judge("authorization-code-grant", empty.path(), "").unwrap().contains("not run"));
    }
}
