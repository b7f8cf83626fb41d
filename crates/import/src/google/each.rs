//! Walks the elements of one array in a file, whatever its length.

use serde_json::Value;

use crate::json_elements::{Elements, Found};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree};

/// Longest element that is looked at.
const LONGEST: usize = 16 * 1024 * 1024;

/// Something to do with every element.
pub(super) trait Each {
    /// Takes one element; the place names it.
    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop>;

    /// Takes a value that stands beside the array in an object on the way.
    fn beside(&mut self, _depth: usize, _name: &str, _value: Value) {}

    /// Whether a file that breaks off is complained about: once is enough when it is walked twice.
    fn tells_breakage(&self) -> bool {
        true
    }

    /// An object on the way begins.
    fn enter(&mut self, _depth: usize) {}
}

/// Parses and hands over every element of an array; what is damaged becomes a complaint.
pub(super) fn each(
    tree: &mut dyn Tree,
    entry: usize,
    array: &'static [&'static str],
    sink: &mut dyn Sink,
    action: &mut dyn Each,
) -> Result<(), Stop> {
    let path = tree.entries()[entry].path.clone();
    let bytes = match open_buffered(tree, entry) {
        Ok(bytes) => bytes,
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let mut elements = Elements::new(bytes, array, LONGEST);
    loop {
        let found = match elements.next() {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
        };
        match found {
            Found::Enter { depth } => action.enter(depth),
            Found::Beside { depth, name, json } => {
                if let Ok(value) = serde_json::from_slice(json) {
                    action.beside(depth, &name, value);
                }
            }
            Found::Element { number, json } => {
                let place = format!("{path} element {number}");
                match serde_json::from_slice::<Value>(json) {
                    Ok(value @ Value::Object(_)) => action.element(&value, &place, sink)?,
                    Ok(_) => sink.complain(Complaint::damaged(place, "The element is no object."))?,
                    Err(_) => sink.complain(Complaint::damaged(place, "The element is no JSON."))?,
                }
            }
            Found::TooLong { number } => {
                let message = format!("The element is longer than {} MiB.", LONGEST >> 20);
                sink.complain(Complaint::damaged(format!("{path} element {number}"), message))?;
            }
            Found::Broken { .. } if !action.tells_breakage() => {}
            Found::Broken { at } => {
                let message = "The file ends too early or is no JSON from here on.";
                sink.complain(Complaint::damaged(format!("{path} byte {at}"), message))?;
            }
        }
    }
}
