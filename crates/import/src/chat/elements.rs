//! Goes through the elements of one JSON array of an entry, and complains about those that are no JSON.

use std::io::BufRead;

use serde_json::Value;

use crate::json_elements::{Elements, Found};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree};

/// Longest element that is parsed.
pub(crate) const LONGEST_ELEMENT: usize = 16 * 1024 * 1024;

/// Whether to go on after an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    /// Stop here; the caller may ask to go on after this element.
    Pause,
}

/// Hands over each element behind number `after`, parsed. `Some(number)` when it was asked to pause there.
pub(crate) fn each_element(
    tree: &mut dyn Tree,
    index: usize,
    after: u64,
    sink: &mut dyn Sink,
    mut take: impl FnMut(u64, &Value, &mut dyn Sink) -> Result<Flow, Stop>,
) -> Result<Option<u64>, Stop> {
    let path = tree.entries()[index].path.clone();
    let outcome = open_buffered(tree, index).and_then(|mut reader| {
        let is_list = begins_with_bracket(&mut reader)?;
        Ok((reader, is_list))
    });
    let reader = match outcome {
        Ok((reader, true)) => reader,
        Ok((_, false)) => {
            sink.complain(Complaint::damaged(path, "It should hold a JSON list, and does not."))?;
            return Ok(None);
        }
        Err(error) => {
            sink.complain(Complaint::unreadable(path, &error))?;
            return Ok(None);
        }
    };
    let mut elements = Elements::new(reader, &[], LONGEST_ELEMENT);
    loop {
        match elements.next() {
            Ok(None) => return Ok(None),
            Ok(Some(Found::Element { number, json })) if number > after => {
                match serde_json::from_slice::<Value>(json) {
                    Ok(value) => {
                        if take(number, &value, sink)? == Flow::Pause {
                            return Ok(Some(number));
                        }
                    }
                    Err(_) => sink.complain(no_json(&path, number))?,
                }
            }
            Ok(Some(Found::TooLong { number })) if number > after => {
                sink.complain(too_long(&path, number))?;
            }
            Ok(Some(Found::Broken { at })) => sink.complain(broken(&path, at))?,
            Ok(Some(_)) => {}
            Err(error) => {
                sink.complain(Complaint::unreadable(path, &error))?;
                return Ok(None);
            }
        }
    }
}

fn begins_with_bracket(reader: &mut impl BufRead) -> std::io::Result<bool> {
    let head = reader.fill_buf()?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    // A buffer of nothing but spaces says nothing yet; the walk will find out.
    Ok(head.is_empty() || head[0] == b'[')
}

pub(crate) fn no_json(path: &str, number: u64) -> Complaint {
    Complaint::damaged(format!("{path} element {number}"), "It is no JSON that can be read.")
}

pub(crate) fn too_long(path: &str, number: u64) -> Complaint {
    let mebibytes = LONGEST_ELEMENT / 1024 / 1024;
    Complaint::damaged(format!("{path} element {number}"), format!("It is longer than {mebibytes} MiB."))
}

pub(crate) fn broken(path: &str, at: u64) -> Complaint {
    let message = "The JSON ends too early or is broken here; what follows could not be read.";
    Complaint::damaged(format!("{path} byte {at}"), message)
}
