//! `bench`: measures the server against the raw engine calls beneath it, the adapter against the server, importers
//! against plain parsing, and how soon an event follows a change.

use anyhow::Result;

use crate::postgres::{self, RunningPostgres};
use crate::process;
use crate::workspace::Workspace;

/// Measure the resource server, the MCP adapter and the importers, as ratios.
///
/// Builds in release mode and runs the `resource_server` benchmark of `pdpp-server`, then the `stdio` benchmark of
/// `pdpp-cli`, the `formats` benchmark of `pdpp-import` and the `events` benchmark of `pdpp-events`. Timings vary from machine to machine, so each row is a ratio of two things measured in the same run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Measure this store beside the other, and how its cost grows, instead of everything else.
    #[arg(long, value_enum)]
    store: Option<Store>,
    /// Passed to the benchmark as they are; `cargo xtask bench -- --help` lists what it takes.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

/// A store that is measured by itself.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Store {
    /// A Postgres that is installed by name and started in a temporary directory.
    Postgres,
}

pub(crate) fn bench(workspace: &Workspace, options: &Options) -> Result<()> {
    if let Some(Store::Postgres) = options.store {
        let database = RunningPostgres::start_durable()?;
        let mut bench =
            workspace.cargo(["bench", "--locked", "-p", "pdpp-server", "--bench", "stores", "--"]);
        return process::run(bench.args(&options.arguments).env(postgres::VARIABLE, database.url()));
    }
    let one_part = options.arguments.iter().any(|argument| {
        ["--pages", "--authorization", "--search", "--searches"].contains(&argument.as_str())
    });
    let benches: &[(&str, &str)] = if one_part {
        &[("pdpp-server", "resource_server")]
    } else {
        &[
            ("pdpp-server", "resource_server"),
            ("pdpp-cli", "stdio"),
            ("pdpp-import", "formats"),
            ("pdpp-events", "events"),
        ]
    };
    for (package, name) in benches {
        let mut bench = workspace.cargo(["bench", "--locked", "-p", package, "--bench", name, "--"]);
        process::run(bench.args(&options.arguments))?;
    }
    Ok(())
}
