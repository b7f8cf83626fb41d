//! Any table: separated values, a JSON list, or JSON objects line by line.
//!
//! Nothing is known before about such a file, so its rows are read once to learn what its columns hold and what names
//! a row, and once more to become records. Both readings come to the same columns, since nothing but the file counts.
//! Files of one folder belong together and are streams of one connector.

mod claims;
mod column;
mod declare;
mod decoding;
mod dialect;
mod inference;
mod json_root;
mod meaning;
mod names;
mod reading;
mod records;
mod rows;
mod times;

use std::collections::HashSet;
use std::io;

use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

use self::inference::{Inference, Table};
use self::rows::{Finding, Writing};
use crate::{Claim, Format, Look, Sink, Stop, Tree, file_name, stem};

/// Files of separated values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Csv;

/// Files that hold one JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json;

/// Files that hold one JSON object per line, other than record envelopes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonLines;

macro_rules! table_format {
    ($format:ident, $name:literal, $writing:expr) => {
        impl Format for $format {
            fn is_general(&self) -> bool {
                true
            }

            fn name(&self) -> &'static str {
                $name
            }

            fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
                claims::claim(look, $writing)
            }

            fn manifest(&self, tree: &mut dyn Tree, claim: &Claim) -> io::Result<Manifest> {
                manifest(tree, claim, $name, $writing)
            }

            fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
                read(tree, claim, $writing, sink)
            }
        }
    };
}

table_format!(Csv, "csv", Writing::Separated);
table_format!(Json, "json", Writing::Json);
table_format!(JsonLines, "jsonl", Writing::JsonLines);

fn manifest(tree: &mut dyn Tree, claim: &Claim, format: &str, writing: Writing) -> io::Result<Manifest> {
    let (key, display) = claims::names(tree, claim, format);
    let mut streams = Vec::with_capacity(claim.entries.len());
    for (index, stream) in stream_names(tree, claim) {
        let file = file_name(&tree.entries()[index].path).to_owned();
        let table = infer(tree, index, writing);
        streams.push(declare::stream(&stream, &file, &table));
    }
    let preset: Vec<Value> = streams.iter().map(|stream| json!({"name": stream["name"]})).collect();
    let document = json!({
        "protocol_version": "0.1.0",
        "connector_key": key,
        "version": "1",
        "display_name": display,
        "selection_presets": [{"id": "everything", "label": format!("Everything in {display}"), "streams": preset}],
        "streams": streams,
    });
    Manifest::from_document(document).map_err(io::Error::other)
}

fn read(tree: &mut dyn Tree, claim: &Claim, writing: Writing, sink: &mut dyn Sink) -> Result<(), Stop> {
    for (index, stream) in stream_names(tree, claim) {
        let table = infer(tree, index, writing);
        records::read(tree, index, writing, &table, &stream, sink)?;
    }
    Ok(())
}

/// The name of each file's stream: its own, made plain, and with a number where two are alike.
fn stream_names(tree: &dyn Tree, claim: &Claim) -> Vec<(usize, String)> {
    let mut taken = HashSet::new();
    let name =
        |index: &usize| (*index, names::unique(names::slug(stem(&tree.entries()[*index].path)), &mut taken));
    claim.entries.iter().map(name).collect()
}

/// Reads a file to learn its columns. What cannot be read is complained about when records are read.
fn infer(tree: &mut dyn Tree, index: usize, writing: Writing) -> Table {
    let path = tree.entries()[index].path.clone();
    let mut inference = Inference::new(stem(&path));
    let read = rows::each_row(tree, index, writing, &mut |finding| {
        match finding {
            Finding::Head { names, decimal_comma } => inference.head(names, decimal_comma),
            Finding::OnlyOne => inference.only_one(),
            Finding::Cells { cells, .. } => inference.add_cells(cells.iter()),
            Finding::Members { members, .. } => inference.add_members(&members),
            Finding::Complaint(_) => {}
        }
        Ok(())
    });
    debug_assert!(read.is_ok(), "nothing here stops");
    inference.finish()
}

#[cfg(test)]
mod tests;
