//! A script that assigns one list: `window.YTD.tweets.part0 = [ … ]`.

use std::io::{self, BufRead};

use serde_json::Value;

use super::files::Files;
use crate::json_elements::{Elements, Found};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree};

/// Longest element that is looked at.
const LONGEST: usize = 16 * 1024 * 1024;
/// How far the assignment may reach.
const PREFIX: usize = 1024;

pub(super) fn is_script(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    head.starts_with(b"window.YTD.") && head.contains(&b'=')
}

/// One finding of a script: `path item 3`, and what it is.
pub(super) struct Item<'a> {
    pub(super) place: &'a str,
    pub(super) value: Value,
}

/// Gives every element of all parts of a script. `tell` is false for a second reading, whose complaints were made.
pub(super) fn read(
    tree: &mut dyn Tree,
    files: &Files,
    name: &str,
    tell: bool,
    sink: &mut dyn Sink,
    each: &mut dyn FnMut(Item<'_>, &mut dyn Sink) -> Result<(), Stop>,
) -> Result<(), Stop> {
    for index in files.scripts(tree, name) {
        let path = tree.entries()[index].path.clone();
        walk(tree, index, &[], &mut |found| {
            let complaint = match found {
                Found::Element { number, json } => {
                    let place = format!("{path} item {number}");
                    match serde_json::from_slice(json) {
                        Ok(value) => return each(Item { place: &place, value }, sink),
                        Err(_) => Complaint::damaged(place, "Is no JSON."),
                    }
                }
                other => match complaint_of(&path, &other) {
                    Some(complaint) => complaint,
                    None => return Ok(()),
                },
            };
            if tell { sink.complain(complaint) } else { Ok(()) }
        })?
        .or_else(|error| if tell { sink.complain(Complaint::unreadable(&path, &error)) } else { Ok(()) })?;
    }
    Ok(())
}

/// Walks one script. The inner error is the file's own.
pub(super) fn walk(
    tree: &mut dyn Tree,
    index: usize,
    way: &'static [&'static str],
    each: &mut dyn FnMut(Found<'_>) -> Result<(), Stop>,
) -> Result<io::Result<()>, Stop> {
    let mut reader = match open_buffered(tree, index) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = skip_assignment(&mut reader) {
        return Ok(Err(error));
    }
    let mut elements = Elements::new(reader, way, LONGEST);
    loop {
        match elements.next() {
            Ok(None) => return Ok(Ok(())),
            Ok(Some(found)) => each(found)?,
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// The complaint about a finding that is no element, if it is one to complain about.
pub(super) fn complaint_of(path: &str, found: &Found<'_>) -> Option<Complaint> {
    match found {
        Found::TooLong { number } => {
            Some(Complaint::damaged(format!("{path} item {number}"), "Is too long."))
        }
        Found::Broken { at } => {
            let message = "The file breaks off here, or is no JSON from here on.";
            Some(Complaint::damaged(format!("{path} byte {at}"), message))
        }
        _ => None,
    }
}

/// Passes everything up to the list. Somebody may have cut the assignment off already.
fn skip_assignment(reader: &mut impl BufRead) -> io::Result<()> {
    let mut passed = 0;
    loop {
        let available = reader.fill_buf()?;
        if available.is_empty() || passed > PREFIX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no list is assigned in it"));
        }
        if let Some(found) = available.iter().position(|byte| *byte == b'[') {
            reader.consume(found);
            return Ok(());
        }
        let all = available.len();
        passed += all;
        reader.consume(all);
    }
}
