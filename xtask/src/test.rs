//! `test`: everything CI runs, in order, cheapest first.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use clap::ValueEnum;

use crate::workspace::Workspace;
use crate::{
    browser, clients, conformance, coverage, fuzz, generate, nodes, objects, postgres, process, promises,
    recall, tidy, tools,
};

/// Run everything CI runs; the first failure stops it.
///
/// The steps, in order: fmt, clippy, docs, tidy, deny, generate, rows, nextest, doctests, objects,
/// nodes, recall, conformance, clients, browser, fuzz. The last lines are a table of what ran and how long it took. A failure names the command that repeats it.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Leave a step out; repeat for several.
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,
    /// Run only this step; repeat for several.
    #[arg(long, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Formatting.
    Fmt,
    /// Lints, with warnings denied.
    Clippy,
    /// Documentation of every item, with warnings denied.
    Docs,
    /// Layers, headers, sizes, routes, documented commands, links.
    Tidy,
    /// Banned crates, licences and sources of dependencies.
    Deny,
    /// The reference is what the code would generate.
    Generate,
    /// Every requirement row is named by a test.
    Rows,
    /// Every test that needs nothing but the repository.
    Nextest,
    /// Examples in documentation.
    Doctests,
    /// Objects kept in an S3-compatible server that is not ours.
    Objects,
    /// Nodes and their database are killed under load.
    Nodes,
    /// Known things are found first by the search of a live server.
    Recall,
    /// The official MCP suite against our HTTP endpoint and authorization server.
    Conformance,
    /// Public MCP clients against the real adapter, a public OAuth client against the server.
    Clients,
    /// The owner's pages in a real Chromium, and a public MCP client let in through them.
    Browser,
    /// Generated requests against a live server.
    Fuzz,
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value().expect("no step is hidden from the command line").get_name().to_owned()
    }

    fn run(self, workspace: &Workspace) -> Result<()> {
        match self {
            Self::Fmt => process::run(&mut workspace.cargo(["fmt", "--all", "--check"])),
            Self::Clippy => {
                let arguments =
                    ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
                process::run(&mut workspace.cargo(arguments))
            }
            Self::Docs => {
                let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
                process::run(workspace.cargo(arguments).env("RUSTDOCFLAGS", "-D warnings"))
            }
            Self::Tidy => tidy::tidy(workspace),
            Self::Deny => deny(workspace),
            Self::Generate => generate::generate(workspace, &generate::Options::checking()),
            Self::Rows => coverage::rows(workspace),
            Self::Nextest => nextest(workspace),
            Self::Doctests => {
                process::run(&mut workspace.cargo(["test", "--workspace", "--doc", "--locked"]))
            }
            Self::Objects => objects::objects(workspace),
            Self::Nodes => nodes::nodes(workspace, &nodes::Options::default()),
            Self::Recall => recall::recall(workspace, &recall::Options::of_known_items(workspace)),
            Self::Conformance => conformance::conformance(workspace, &conformance::Options::default()),
            Self::Clients => clients::clients(workspace),
            Self::Browser => browser::browser(workspace, &browser::Options::default()),
            Self::Fuzz => fuzz::fuzz(workspace, &fuzz::Options::default()),
        }
    }
}

/// Advisories are left out: their database is fetched when asked for, and is not always reachable.
fn deny(workspace: &Workspace) -> Result<()> {
    let mut command = tools::DENY.command(workspace)?;
    // Two versions of a crate are a warning, and there are always some; `cargo deny check bans` shows them.
    command.args(["--locked", "--workspace", "--log-level", "error", "check", "bans", "licenses", "sources"]);
    process::run(&mut command)
}

/// Says nothing about tests that pass, and everything about those that fail. The store's promises are checked on a
/// real Postgres too, which lives as long as this step.
fn nextest(workspace: &Workspace) -> Result<()> {
    let database = postgres::RunningPostgres::start()?;
    let mut command = tools::NEXTEST.command(workspace)?;
    command.args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]);
    // These have a step of their own, which starts the server they need.
    command.args(["-E", &format!("not {}", objects::TESTS)]);
    command.args(["--status-level", "slow", "--final-status-level", "fail", "--failure-output", "immediate"]);
    process::run(command.env(postgres::VARIABLE, database.url()))?;
    promises::promises(workspace)
}

pub(crate) fn test(workspace: &Workspace, options: &Options) -> Result<()> {
    let started = Instant::now();
    let (selected, skipped): (Vec<_>, Vec<_>) =
        Step::value_variants().iter().copied().partition(|step| options.selects(*step));
    let mut report = Report { rows: skipped.into_iter().map(|step| (step, Outcome::Skipped)).collect() };
    for step in selected {
        println!("\n=== {}", step.name());
        let step_started = Instant::now();
        let result = step.run(workspace);
        let elapsed = step_started.elapsed();
        match result {
            Ok(()) => {
                println!("=== {} passed in {}", step.name(), seconds(elapsed));
                report.rows.push((step, Outcome::Passed(elapsed)));
            }
            Err(error) => {
                report.rows.push((step, Outcome::Failed(elapsed)));
                println!("\n{}", report.table(started.elapsed()));
                return Err(failure(step, &error));
            }
        }
    }
    println!("\n{}", report.table(started.elapsed()));
    Ok(())
}

fn failure(step: Step, error: &anyhow::Error) -> anyhow::Error {
    let name = step.name();
    anyhow!("{error:#}\n`{name}` failed. To repeat only this step: `cargo xtask test --only {name}`.")
}

impl Options {
    fn selects(&self, step: Step) -> bool {
        !self.skip.contains(&step) && (self.only.is_empty() || self.only.contains(&step))
    }
}

#[derive(Debug)]
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    Skipped,
}

#[derive(Debug)]
struct Report {
    rows: Vec<(Step, Outcome)>,
}

impl Report {
    /// Every step, also those a failure kept from running.
    fn table(&self, total: Duration) -> String {
        let mut table = String::from("step        result         time\n");
        for &step in Step::value_variants() {
            let (result, time) = match self.rows.iter().find(|(ran, _)| *ran == step) {
                Some((_, Outcome::Passed(elapsed))) => ("passed", seconds(*elapsed)),
                Some((_, Outcome::Failed(elapsed))) => ("FAILED", seconds(*elapsed)),
                Some((_, Outcome::Skipped)) => ("skipped", String::new()),
                None => ("not reached", String::new()),
            };
            let row = format!("{:<11} {result:<11} {time:>7}", step.name());
            writeln!(table, "{}", row.trim_end()).expect("a string takes any text");
        }
        write!(table, "{:<11} {:<11} {:>7}", "total", "", seconds(total)).expect("a string takes any text");
        table
    }
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.1} s", elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(options: &Options) -> Vec<String> {
        Step::value_variants().iter().filter(|step| options.selects(**step)).map(|step| step.name()).collect()
    }

    #[test]
    fn every_step_runs_unless_asked_otherwise() {
        let all = selected(&Options { skip: vec![], only: vec![] });
        let expected = "fmt clippy docs tidy deny generate rows nextest doctests objects nodes recall conformance clients browser fuzz";
        assert_eq!(all.join(" "), expected);
    }

    #[test]
    fn skip_leaves_out_and_only_picks() {
        let without = selected(&Options { skip: vec![Step::Fuzz, Step::Deny], only: vec![] });
        assert!(!without.contains(&"fuzz".to_owned()) && without.len() == 14);
        assert_eq!(selected(&Options { skip: vec![], only: vec![Step::Tidy] }), ["tidy"]);
    }

    #[test]
    fn the_table_shows_what_failed_and_what_was_not_reached() {
        let report = Report {
            rows: vec![
                (Step::Fmt, Outcome::Passed(Duration::from_millis(1500))),
                (Step::Clippy, Outcome::Failed(Duration::from_secs(20))),
            ],
        };
        let table = report.table(Duration::from_secs(22));
        assert!(table.contains("fmt         passed        1.5 s"), "{table}");
        assert!(table.contains("clippy      FAILED       20.0 s"), "{table}");
        assert!(table.contains("fuzz        not reached"), "{table}");
    }

    #[test]
    fn a_failure_says_what_to_rerun() {
        let error = failure(Step::Docs, &anyhow!("`cargo doc` failed"));
        assert!(error.to_string().contains("cargo xtask test --only docs"), "{error}");
    }
}
