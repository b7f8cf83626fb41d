//! The one binary, `pdpp`: arguments become one command, its output and its exit code.

mod args;
mod asking;
mod commands;
mod credential;
mod exit;
mod holdings;
mod kept;
mod layout;
mod moment;
mod passphrase;

mod prompt;
mod screen;
mod terminal;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use tokio::runtime::{Builder, Runtime};

use crate::args::{Cli, Command};

/// How long a worker may go on after its command has ended.
const ENDING: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_arguments(&error, std::env::args_os().nth(1).as_deref()),
    };
    let runtime = match runtime(&cli.command) {
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

/// The stdio adapter has one client that mostly waits for one answer: a call that stays on its thread is answered sooner
/// than one that is handed from thread to thread.
fn runtime(command: &Command) -> std::io::Result<Runtime> {
    let mut builder = match command {
        Command::Mcp(_) => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.enable_all().build()
}
