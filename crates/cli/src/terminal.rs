//! Everything that reaches the terminal: plain lines, JSON, and aligned tables.
//!
//! Text from records, labels and clients passes [`safe`] first, so that nothing stored can move the
//! cursor, change colours or hide itself. JSON is escaped by its own rules.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use pdpp_evidence::neutralise;
use serde::Serialize;

use crate::layout::Page;

/// Text that cannot control a terminal.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    neutralise(text).text
}

/// Prints one line.
pub(crate) fn line(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{}", safe(text))
}

/// Prints one line for a program, every character as it is.
pub(crate) fn verbatim(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

/// Says something beside the output.
pub(crate) fn note(text: &str) {
    // A closed standard error must not stop a command that works.
    let _ = writeln!(io::stderr(), "{}", safe(text));
}

/// Prints a value as JSON on lines of its own.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(for_program(&serde_json::to_string_pretty(value)?)?)
}

/// Prints a value as JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(for_program(&serde_json::to_string(value)?)?)
}

/// Text for a program: every character as it is, unless a person's terminal is what reads it.
pub(crate) fn for_program(text: &str) -> io::Result<()> {
    if is_watched() { line(text) } else { verbatim(text) }
}

/// Whether a person is watching standard output.
pub(crate) fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// Prints rows in aligned columns under their headings; `(none)` when there are no rows.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
    laid_out(headings, rows, None)
}

/// The same, with one column that is cut where the terminal has no room for it.
pub(crate) fn table_with_loose<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
    loose: usize,
) -> io::Result<()> {
    laid_out(headings, rows, Some(loose))
}

fn laid_out<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
    loose: Option<usize>,
) -> io::Result<()> {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
    Page::here().whole_table(&headings.map(str::to_owned), &rows, loose)
}

/// Asks a yes-or-no question on the terminal; anything but yes is no.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(io::stderr(), "{} [y/N] ", safe(question))?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
