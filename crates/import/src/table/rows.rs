//! The rows of a file, whatever it is written in, one at a time.

use std::cell::Cell as Budget;
use std::io::{self, Read};
use std::rc::Rc;

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use super::decoding::{decode_head, open_text};
use super::dialect::{Dialect, SAMPLE};
use super::json_root::{self, Root};
use crate::json_elements::{Elements, Found};
use crate::lines::{Line, Lines};
use crate::{Complaint, Stop, Tree};

/// Longest row.
const LONGEST: usize = 16 * 1024 * 1024;

/// How files of a format are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Cells in lines, parted by a sign.
    Separated,
    /// One JSON text.
    Json,
    /// One JSON object per line.
    JsonLines,
}

/// One finding in a file.
#[derive(Debug)]
pub(super) enum Finding<'a> {
    /// What the columns are called, and whether fractions may be written with a comma. Before all rows.
    Head { names: &'a [String], decimal_comma: bool },
    /// The file is one object; it follows.
    OnlyOne,
    /// Cells in the order of the columns.
    Cells { place: String, cells: &'a StringRecord },
    /// Values with names.
    Members { place: String, members: Map<String, Value> },
    /// Something that was left out.
    Complaint(Complaint),
}

type Each<'e> = dyn FnMut(Finding<'_>) -> Result<(), Stop> + 'e;

/// Gives every row of a file. A file that cannot be read is a complaint.
pub(super) fn each_row(
    tree: &mut dyn Tree,
    index: usize,
    writing: Writing,
    each: &mut Each<'_>,
) -> Result<(), Stop> {
    let path = tree.entries()[index].path.clone();
    let mut stopped = Ok(());
    let mut guarded = |finding: Finding<'_>| {
        stopped = each(finding);
        stopped.map_err(|Stop| io::Error::other("stopped"))
    };
    let read = match writing {
        Writing::Separated => separated(tree, index, &path, &mut guarded),
        Writing::Json => json(tree, index, &path, &mut guarded),
        Writing::JsonLines => lines(tree, index, &path, &mut guarded),
    };
    stopped?;
    match read {
        Ok(()) => Ok(()),
        Err(error) => each(Finding::Complaint(Complaint::unreadable(path, &error))),
    }
}

type Guarded<'e> = dyn FnMut(Finding<'_>) -> io::Result<()> + 'e;

fn separated(tree: &mut dyn Tree, index: usize, path: &str, each: &mut Guarded<'_>) -> io::Result<()> {
    let mut head = Vec::new();
    tree.open(index)?.take(SAMPLE).read_to_end(&mut head)?;
    let whole = (head.len() as u64) < SAMPLE;
    let Some(dialect) = Dialect::of(&decode_head(&head), whole) else { return Ok(()) };
    let decimal_comma = dialect.delimiter == b';';
    each(Finding::Head { names: &dialect.names, decimal_comma })?;
    let budget = Rc::new(Budget::new(LONGEST));
    // A line end behind everything, so that the last line is counted like the others.
    let end: &[u8] = if dialect.two_signs { b"\r\n" } else { b"\n" };
    let inner = open_text(tree, index)?.chain(end);
    let bounded = Bounded { inner, budget: Rc::clone(&budget) };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter)
        .buffer_capacity(64 * 1024)
        .from_reader(bounded);
    let mut cells = StringRecord::new();
    let mut number = 0;
    loop {
        budget.set(LONGEST);
        let line = reader.position().line();
        match reader.read_record(&mut cells) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => {
                let message =
                    format!("Cannot be read from here on; a quote may never end. {}", described(&error));
                return each(Finding::Complaint(Complaint::damaged(
                    format!("{path} line {line}"),
                    message.trim_end(),
                )));
            }
        }
        number += 1;
        let place =
            format!("{path} line {}", first_line(reader.position().line(), &cells, dialect.two_signs));
        if number > dialect.skip {
            each(Finding::Cells { place, cells: &cells })?;
        } else if number > dialect.marks && number <= dialect.marks + dialect.before {
            let message = "Stands before the table, and is no row of it.";
            each(Finding::Complaint(Complaint::damaged(place, message)))?;
        }
    }
}

/// The line a row begins in, told from where its end was found: where it was begun to be read, blank lines may stand.
fn first_line(at_end: u64, cells: &StringRecord, two_signs: bool) -> u64 {
    // Of two signs the reader takes the second with the next row.
    let last = if two_signs { at_end } else { at_end.saturating_sub(1) };
    let inside: usize = cells.iter().map(|cell| cell.bytes().filter(|byte| *byte == b'\n').count()).sum();
    last.saturating_sub(inside as u64).max(1)
}

/// What the reader of cells says, if it is about the file and not about its contents.
fn described(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Io(error) => format!("({error})"),
        _ => String::new(),
    }
}

/// Fails when one row takes more than its budget: a quote that never ends would take the whole file.
struct Bounded<R> {
    inner: R,
    budget: Rc<Budget<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.budget.get().checked_sub(read) {
            Some(left) => self.budget.set(left),
            None => return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a row is too long")),
        }
        Ok(read)
    }
}

fn json(tree: &mut dyn Tree, index: usize, path: &str, each: &mut Guarded<'_>) -> io::Result<()> {
    let root = json_root::find(&mut open_text(tree, index)?)?;
    match root {
        Root::Neither => {
            each(Finding::Complaint(Complaint::damaged(path, "Holds neither a list nor an object.")))
        }
        Root::Object => only_object(tree, index, path, each),
        Root::List { at, others } => {
            for name in others {
                let message = format!("The list `{name}` stands beside a bigger one, and was left out.");
                each(Finding::Complaint(Complaint::damaged(path, message)))?;
            }
            let mut reader = open_text(tree, index)?;
            io::copy(&mut reader.by_ref().take(at), &mut io::sink())?;
            elements(Elements::new(reader, &[], LONGEST), path, at, each)
        }
    }
}

fn elements<R: io::BufRead>(
    mut rows: Elements<R>,
    path: &str,
    at: u64,
    each: &mut Guarded<'_>,
) -> io::Result<()> {
    while let Some(found) = rows.next()? {
        each(match found {
            Found::Element { number, json } => {
                let place = format!("{path} item {number}");
                match serde_json::from_slice(json) {
                    Ok(Value::Object(members)) => Finding::Members { place, members },
                    Ok(_) => Finding::Complaint(Complaint::damaged(place, "Is no object.")),
                    Err(_) => Finding::Complaint(Complaint::damaged(place, "Is no JSON.")),
                }
            }
            Found::TooLong { number } => {
                Finding::Complaint(Complaint::damaged(format!("{path} item {number}"), "Is too long."))
            }
            Found::Broken { at: byte } => {
                let message = "The file breaks off here, or is no JSON from here on.";
                Finding::Complaint(Complaint::damaged(format!("{path} byte {}", at + byte), message))
            }
            Found::Enter { .. } | Found::Beside { .. } => continue,
        })?;
    }
    Ok(())
}

fn only_object(tree: &mut dyn Tree, index: usize, path: &str, each: &mut Guarded<'_>) -> io::Result<()> {
    let mut text = Vec::new();
    open_text(tree, index)?.take(LONGEST as u64 + 1).read_to_end(&mut text)?;
    let complaint = if text.len() > LONGEST {
        "Is one object, and too long."
    } else {
        match serde_json::from_slice(&text) {
            Ok(Value::Object(members)) => {
                each(Finding::OnlyOne)?;
                return each(Finding::Members { place: path.to_owned(), members });
            }
            _ => "Is no JSON.",
        }
    };
    each(Finding::Complaint(Complaint::damaged(path, complaint)))
}

fn lines(tree: &mut dyn Tree, index: usize, path: &str, each: &mut Guarded<'_>) -> io::Result<()> {
    let mut lines = Lines::new(open_text(tree, index)?, LONGEST);
    let mut number = 0_u64;
    while let Some(line) = lines.next_line()? {
        number += 1;
        let place = format!("{path} line {number}");
        let text = match line {
            Line::Whole(text) => text.trim_ascii(),
            Line::TooLong => {
                each(Finding::Complaint(Complaint::damaged(place, "Is too long.")))?;
                continue;
            }
        };
        if text.is_empty() {
            continue;
        }
        each(match serde_json::from_slice(text) {
            Ok(Value::Object(members)) => Finding::Members { place, members },
            Ok(_) => Finding::Complaint(Complaint::damaged(place, "Is no object.")),
            Err(_) => Finding::Complaint(Complaint::damaged(place, "Is no JSON.")),
        })?;
    }
    Ok(())
}
