//! The one binary, `pdpp`: arguments become one command, its output and its exit code.

mod args;
mod commands;
mod credential;
mod exit;
mod moment;
mod passphrase;
mod prompt;
mod terminal;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::args::Cli;

/// How long a worker may go on after its command has ended.
const ENDING: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_arguments(&error, std::env::args_os().nth(1).as_deref()),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::of_failure(&error.into()),
    };
    let code = match runtime.block_on(commands::run(cli)) {
        Ok(code) => code,
        Err(error) => exit::of_failure(&error),
    };
    runtime.shutdown_timeout(ENDING);
    code
}
