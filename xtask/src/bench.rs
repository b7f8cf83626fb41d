//! `bench`: measures the server against the raw engine calls beneath it.

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Measure the resource server, as ratios to the raw engine calls.
///
/// Builds in release mode and runs the `resource_server` benchmark of `pdpp-server`. Timings vary
/// from machine to machine, so each row is a ratio of two things measured in the same run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Passed to the benchmark as they are; `cargo xtask bench -- --help` lists what it takes.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

pub(crate) fn bench(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut bench =
        workspace.cargo(["bench", "--locked", "-p", "pdpp-server", "--bench", "resource_server", "--"]);
    process::run(bench.args(&options.arguments))
}
