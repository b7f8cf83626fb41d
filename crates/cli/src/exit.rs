//! Exit codes, decided in one place.
//!
//! 0 success, 1 anything else, 64 a command line we do not understand, 74 a store or disk that
//! fails. A closed pipe is success: whoever read us had enough.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use pdpp_server::{ConfigError, PersonalError, ServeError};
use pdpp_store::StoreError;

use crate::terminal;

const USAGE: u8 = 64;
const STORE: u8 = 74;

/// Something about the command line itself is wrong.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// For arguments that could not be read, and for `--help` and `--version`.
pub(crate) fn of_arguments(error: &clap::Error) -> ExitCode {
    // A failed write here leaves nobody to tell.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}

/// For a command that failed: says why on standard error, in one chain.
pub(crate) fn of_failure(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let mut line = String::from("pdpp: ");
    for (depth, cause) in error.chain().enumerate() {
        let text = cause.to_string();
        if depth == 0 {
            line.push_str(&text);
        } else if !line.contains(&text) {
            let _ = write!(line, ": {text}");
        }
    }
    let _ = writeln!(io::stderr(), "{}", terminal::safe(&line));
    ExitCode::from(code(error))
}

fn code(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if cause.is::<Usage>()
            || cause.is::<ConfigError>()
            || matches!(cause.downcast_ref(), Some(ServeError::Exposed(..)))
        {
            return USAGE;
        }
        let store = matches!(cause.downcast_ref(), Some(PersonalError::Store { .. }));
        if store || cause.is::<StoreError>() || cause.is::<io::Error>() {
            return STORE;
        }
    }
    1
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}
