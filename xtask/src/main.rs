//! The one door to this repository's tasks: `cargo xtask --help` lists them.
//!
//! Each task is one file. A task only arranges programs and reads files; what the product does is
//! in the crates, and no crate depends on this one.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner speaks to the person who ran it"
)]

mod bench;
mod browser;
mod clients;
mod conformance;
mod copies;
mod coverage;
mod debian;
mod fix;
mod fuzz;
mod generate;
mod http;
mod nodes;
mod npm;
mod objects;
mod owner;
mod postgres;
mod process;
mod promises;
mod recall;
mod server;
mod test;
mod tidy;
mod tools;
mod venv;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Runs the tasks of this repository.
///
/// `cargo xtask test` is what CI runs, and all it runs. Tools it needs are installed by name into
/// `.xtask/` inside the repository; nothing else on the machine changes, except that missing
/// Debian packages for Python environments, npm, Chromium and Postgres are installed when you are root.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Test(test::Options),
    /// Check what the compiler cannot: layers, headers, sizes, routes, documented commands, links.
    ///
    /// Prints each complaint as `path:line: message`. Warnings do not fail the task.
    Tidy,
    Generate(generate::Options),
    Fuzz(fuzz::Options),
    Bench(bench::Options),
    /// Keep objects in an S3-compatible server that is not ours: what every place for them promises.
    ///
    /// Installs the pinned server into `.xtask/venv`, starts it on a free port, and runs the tests that need it.
    Objects,
    Recall(recall::Options),
    Postgres(postgres::Options),
    Nodes(nodes::Options),
    Copies(copies::Options),
    Conformance(conformance::Options),
    /// Let public MCP clients call the real adapter, and a public OAuth client the real server.
    ///
    /// Starts `pdpp mcp` and `pdpp serve` over the sample archive; prints one line per call. The
    /// MCP calls are in `xtask/src/clients/plan.rs`.
    Clients,
    Browser(browser::Options),
    /// Apply clippy's suggestions, format, and regenerate the reference.
    Fix,
    /// List the requirement rows that tests name, and the tests that name them.
    Coverage,
}

fn main() -> ExitCode {
    match dispatch(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> Result<()> {
    let workspace = Workspace::find()?;
    match cli.task {
        Task::Test(options) => test::test(&workspace, &options),
        Task::Tidy => tidy::tidy(&workspace),
        Task::Generate(options) => generate::generate(&workspace, &options),
        Task::Fuzz(options) => fuzz::fuzz(&workspace, &options),
        Task::Bench(options) => bench::bench(&workspace, &options),
        Task::Objects => objects::objects(&workspace),
        Task::Recall(options) => recall::recall(&workspace, &options),
        Task::Postgres(options) => postgres::postgres(&workspace, &options),
        Task::Nodes(options) => nodes::nodes(&workspace, &options),
        Task::Copies(options) => copies::copies(&workspace, &options),
        Task::Conformance(options) => conformance::conformance(&workspace, &options),
        Task::Clients => clients::clients(&workspace),
        Task::Browser(options) => browser::browser(&workspace, &options),
        Task::Fix => fix::fix(&workspace),
        Task::Coverage => coverage::coverage(&workspace),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_task_says_what_it_is_for() {
        for task in Cli::command().get_subcommands() {
            assert!(task.get_about().is_some(), "`{}` has no description", task.get_name());
        }
    }
}
