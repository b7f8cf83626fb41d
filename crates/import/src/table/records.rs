//! Rows become records.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use csv::StringRecord;
use serde_json::{Map, Value};

use super::inference::{Key, Table};
use super::reading::{Cell, TEXT};
use super::rows::{self, Finding, Writing};
use crate::members::is_shallow;
use crate::{Complaint, Draft, Sink, Stop, Tree, hash_key, mint_key};

/// Rows without a key of their own are counted up to this many different ones: about 40 MB.
const MOST_COUNTED: usize = 1_000_000;
/// Complaints about rows of the wrong width, each; the rest is one complaint.
const MOST_RAGGED: u64 = 100;

/// Reads a file whose table is known.
pub(super) fn read(
    tree: &mut dyn Tree,
    index: usize,
    writing: Writing,
    table: &Table,
    stream: &str,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let path = tree.entries()[index].path.clone();
    let mut writer = Writer { table, stream, met: HashMap::new(), ragged: 0, names: Vec::new() };
    rows::each_row(tree, index, writing, &mut |finding| match finding {
        Finding::Head { names, .. } => {
            writer.names = names.to_vec();
            Ok(())
        }
        Finding::OnlyOne => Ok(()),
        Finding::Cells { place, cells } => writer.cells(place, cells, sink),
        Finding::Members { place, members } => writer.members(place, &members, sink),
        Finding::Complaint(complaint) => sink.complain(complaint),
    })?;
    match writer.ragged.checked_sub(MOST_RAGGED) {
        None | Some(0) => Ok(()),
        Some(more) => sink.complain(Complaint::damaged(
            path,
            format!("{more} more rows are shorter or longer than the table."),
        )),
    }
}

struct Writer<'a> {
    table: &'a Table,
    stream: &'a str,
    /// How often each row without a key stood before.
    met: HashMap<u64, u32>,
    ragged: u64,
    /// What the file calls its columns; as many as a row should have cells.
    names: Vec<String>,
}

impl Writer<'_> {
    fn cells(&mut self, place: String, cells: &StringRecord, sink: &mut dyn Sink) -> Result<(), Stop> {
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            return Ok(());
        }
        let beyond = cells.iter().skip(self.names.len()).any(|cell| !cell.trim().is_empty());
        if cells.len() < self.names.len() || beyond {
            self.ragged += 1;
            if self.ragged <= MOST_RAGGED {
                let message = format!(
                    "Has {} cells where the table has {}; kept as far as it goes.",
                    cells.len(),
                    self.names.len()
                );
                sink.complain(Complaint::damaged(place.as_str(), message))?;
            }
        }
        let mut row = Row::default();
        for (number, cell) in cells.iter().enumerate() {
            if cell.trim().is_empty() {
                continue;
            }
            let name = self.names.get(number).filter(|name| !name.is_empty());
            let name = name.cloned().unwrap_or_else(|| format!("column_{}", number + 1));
            if self.table.key == Key::Row {
                row.parts.extend([name.clone(), cell.trim().to_owned()]);
            }
            if number < self.table.columns.len() {
                row.put(self.table, number, Cell::Plain(cell));
            } else {
                row.extra.insert(name, Value::String(cell.to_owned()));
            }
        }
        self.tell(place, row, sink)
    }

    fn members(
        &mut self,
        place: String,
        members: &Map<String, Value>,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut row = Row::default();
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            if !is_shallow(value) {
                sink.complain(Complaint::damaged(
                    place.as_str(),
                    format!("`{name:.100}` is nested too deep; left out."),
                ))?;
                continue;
            }
            if self.table.key == Key::Row {
                row.parts.extend([name.clone(), value.to_string()]);
            }
            match self.table.find(name) {
                Some(number) => row.put(self.table, number, Cell::Json(value)),
                None => _ = row.extra.insert(name.clone(), value.clone()),
            }
        }
        self.tell(place, row, sink)
    }

    fn tell(&mut self, place: String, mut row: Row, sink: &mut dyn Sink) -> Result<(), Stop> {
        if let (Some(field), false) = (&self.table.extra_field, row.extra.is_empty()) {
            row.data.insert(field.clone(), Value::Object(std::mem::take(&mut row.extra)));
        }
        let key = match self.table.key {
            Key::Only => "record".to_owned(),
            Key::Column(_) => match row.key {
                Some(key) => mint_key(&key),
                None => {
                    return sink
                        .complain(Complaint::damaged(place, "The value that names the row is missing."));
                }
            },
            Key::Row => self.row_key(&row.parts),
        };
        if let Some(field) = &self.table.key_field {
            let mut data = Map::with_capacity(row.data.len() + 1);
            data.insert(field.clone(), Value::String(key.clone()));
            data.append(&mut row.data);
            row.data = data;
        }
        sink.record(Draft { stream: self.stream.to_owned(), key, data: row.data, place })
    }

    /// Named after all that is in it, as the file spells it: what a column is taken for must not change names. Rows
    /// that are the same are counted.
    fn row_key(&mut self, parts: &[String]) -> String {
        let once = hash_key(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        // The first half of the hash is enough to tell a million rows apart.
        let short = u64::from_str_radix(once.get(1..17).unwrap_or(""), 16).unwrap_or(0);
        let room = self.met.len() < MOST_COUNTED;
        let count = match self.met.entry(short) {
            Entry::Occupied(mut met) => {
                *met.get_mut() += 1;
                *met.get()
            }
            // Beyond the room, rows that are the same in everything are one record.
            Entry::Vacant(new) if room => *new.insert(1),
            Entry::Vacant(_) => 1,
        };
        if count == 1 { once } else { hash_key(&[&once, &count.to_string()]) }
    }
}

/// One row on its way.
#[derive(Default)]
struct Row {
    data: Map<String, Value>,
    extra: Map<String, Value>,
    key: Option<String>,
    /// Names and values as the file spells them, where they name the row.
    parts: Vec<String>,
}

impl Row {
    fn put(&mut self, table: &Table, number: usize, cell: Cell<'_>) {
        let (column, reading) = (&table.columns[number], table.readings[number]);
        let is_key = table.key == Key::Column(number);
        if is_key {
            self.key = cell.key_text();
        }
        if cell.is_hollow() && reading != TEXT {
            return;
        }
        let value = match (&self.key, reading) {
            // A key and its field must be the same text, spaces around it or not.
            (Some(key), TEXT) if is_key => Some(Value::String(key.clone())),
            _ => cell.read_as(reading, column.timed),
        };
        debug_assert!(value.is_some(), "every value of a column has the column's reading");
        if let Some(value) = value {
            self.data.insert(column.field.clone(), value);
        }
    }
}
