//! Exit codes, decided in one place.
//!
//! 0 success, 1 anything else, 64 a command line we do not understand, 74 a store or disk that
//! fails. `read` answers as its server does: 2 a wrong call or no credential, 3, 4 and 5 for 401, 403
//! and 404, 69 a server nobody reaches. `connect`, `token` and `disconnect` end with 69 whenever there is no access.
//! `mcp` stops with 77 when it would act as the owner and with 78
//! when it has no credential. A closed pipe is success: whoever read us had enough.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use pdpp_server::{ConfigError, LocalGrantsError, NeedsDirectory, PersonalError, ServeError};
use pdpp_store::StoreError;

use crate::terminal;

const USAGE: u8 = 64;
const STORE: u8 = 74;

/// A command that ends with a code of its own.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: EndCode,
    pub(crate) message: String,
}

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndCode {
    /// Anything else.
    Other = 1,
    /// `read` was called wrongly, or has no credential.
    ReadUsage = 2,
    /// The server wants another token.
    Unauthenticated = 3,
    /// The server says that the token does not cover it.
    Forbidden = 4,
    /// The server has no such thing.
    NotFound = 5,
    /// Nobody answers, or gives access.
    Unreachable = 69,
    /// It would have acted as the owner.
    OwnerRefused = 77,
    /// There is no credential that can be used.
    NoCredential = 78,
}

impl Ended {
    pub(crate) fn new(code: EndCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Ended {}

/// Something about the command line itself is wrong.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// For arguments that could not be read, and for `--help` and `--version`. The standard output of
/// `mcp` belongs to the protocol, even then.
pub(crate) fn of_arguments(error: &clap::Error, command: Option<&OsStr>) -> ExitCode {
    let is = |name: &str| command == Some(OsStr::new(name));
    // A failed write here leaves nobody to tell.
    let _ = if is("mcp") { write!(io::stderr(), "{error}") } else { error.print() };
    match error.use_stderr() {
        false => ExitCode::SUCCESS,
        true if is("read") => ExitCode::from(EndCode::ReadUsage as u8),
        true => ExitCode::from(USAGE),
    }
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
    if let Some(step) = next_step(error) {
        let _ = write!(line, "; {step}");
    }
    let _ = writeln!(io::stderr(), "{}", terminal::safe(&line));
    ExitCode::from(code(error))
}

/// What to do about a disk or a store that fails, which whoever called it cannot know.
fn next_step(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(|cause| match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge) => {
            Some("make room, then run the same again")
        }
        Some(io::ErrorKind::PermissionDenied) => {
            Some("your account has no right to it; see its owner and mode")
        }
        Some(io::ErrorKind::ReadOnlyFilesystem) => Some("choose a place that can be written"),
        _ => match cause.downcast_ref()? {
            StoreError::OverQuota(_) => Some("`pdpp subjects quota NAME` shows and sets it"),
            StoreError::Busy(_) => Some("another process is writing; try again"),
            StoreError::Unwritable(_) | StoreError::Damaged(_) | StoreError::Backend(_) => {
                Some("`pdpp doctor` says what is wrong and what helps")
            }
            StoreError::Unreachable(_) => {
                Some("see that the database runs and can be reached; `pdpp doctor` tries it")
            }
            StoreError::TooNew { .. } => Some("use the newer program"),
            // Say themselves what to do.
            StoreError::TooOld { .. } | StoreError::Misplaced(_) => None,
        },
    })
}

fn code(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if let Some(ended) = cause.downcast_ref::<Ended>() {
            return ended.code as u8;
        }
        if cause.is::<Usage>()
            || cause.is::<ConfigError>()
            || cause.is::<NeedsDirectory>()
            || matches!(
                cause.downcast_ref(),
                Some(
                    PersonalError::UnknownSubject(_)
                        | PersonalError::SeveralSubjects
                        | PersonalError::Blobs(_)
                )
            )
            || is_wrong_grant(cause)
            || matches!(
                cause.downcast_ref(),
                Some(ServeError::Exposed(..) | ServeError::SecretsKey(_) | ServeError::Misplaced(_))
            )
            || matches!(cause.downcast_ref(), Some(StoreError::Misplaced(_)))
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

/// A grant that was named and cannot be used, as opposed to a store that failed to say so.
fn is_wrong_grant(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(|error| !matches!(error, LocalGrantsError::Store(_)))
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}
