//! The text of attached documents, read in a process of its own.
//!
//! Readers of PDF and DOCX are large and meet files made to break them. They run in a child that may use so much
//! memory and time and no more; whatever happens to it, the import goes on and the document is kept without text.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pdpp_import::{DocumentKind, extract_text};

/// How long a child may take; its own limit, of the time it is at work, ends it earlier unless the machine is busy.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest text that is taken from a child.
const LONGEST: u64 = 8 * 1024 * 1024;

/// Documents that are cut off before the others are no longer looked into.
const MOST_CUT_OFF: usize = 10;

/// Largest document that is looked into.
pub(super) const LARGEST: usize = 32 * 1024 * 1024;

/// Whether this is a kind of document whose text can be had.
pub(super) fn is_wanted(media_type: &str, name: Option<&str>) -> bool {
    DocumentKind::of(media_type, name).is_some()
}

/// What came of looking into a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Text(String),
    /// It has none, or none that can be had.
    Nothing,
    /// It wanted more memory or time than any document needs, or broke its reader.
    CutOff,
    /// So many were cut off before it that it was not looked into.
    NotTried,
}

impl From<Option<String>> for Found {
    fn from(text: Option<String>) -> Self {
        text.filter(|text| !text.trim().is_empty()).map_or(Self::Nothing, Self::Text)
    }
}

/// The text in a document; `cut_off` is how many had to be before it.
pub(super) fn read(media_type: &str, name: Option<&str>, bytes: Vec<u8>, cut_off: usize) -> Found {
    match DocumentKind::of(media_type, name) {
        None => Found::Nothing,
        Some(kind) if kind.needs_own_process() && cut_off >= MOST_CUT_OFF => Found::NotTried,
        Some(kind) if kind.needs_own_process() => in_child(media_type, name, bytes).unwrap_or(Found::CutOff),
        Some(_) => extract_text(media_type, name, &bytes).into(),
    }
}

/// `None` when the child could not be started or did not end well.
fn in_child(media_type: &str, name: Option<&str>, bytes: Vec<u8>) -> Option<Found> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["extract-text", "--media-type", media_type]);
    if let Some(name) = name {
        command.args(["--name", name]);
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let writing = thread::spawn(move || {
        // A child that stops early closes its end; what it says decides.
        let _ = stdin.write_all(&bytes);
    });
    let reading = thread::spawn(move || {
        let mut text = String::new();
        stdout.take(LONGEST).read_to_string(&mut text).ok().map(|_| text)
    });
    let succeeded = wait(&mut child);
    let text = reading.join().ok().flatten();
    let _ = writing.join();
    succeeded.then(|| text.into())
}

/// Waits for the end, and brings it about when it takes too long.
fn wait(child: &mut Child) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(2)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
