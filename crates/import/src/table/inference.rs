//! A table's columns and key, from one pass over its rows.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::column::Column;
use super::meaning::words_of;
use super::names::{field_name, unique};
use super::reading::{
    ARRAY, Cell, DATE, DATE_TIME, DAY_FIRST, INTEGER, MILLISECONDS, MONTH_FIRST, OBJECT, Readings, SECONDS,
    TEXT,
};

/// Most columns of their own; what is beyond goes together into one more. Manifests admit 256 fields.
const MOST_COLUMNS: usize = 250;
/// Most columns that are watched as possible keys.
const MOST_KEYS: usize = 3;
/// From this many rows on, a column that never repeats does not do so by chance.
const ENOUGH_ROWS: u64 = 20;

/// Gathers a table.
#[derive(Debug)]
pub(super) struct Inference {
    pub(super) columns: Vec<Column>,
    by_name: HashMap<String, usize>,
    fields: HashSet<String>,
    rows: u64,
    overflow: bool,
    /// Of `orders`, the words an `order_id` is called after.
    stem: String,
    decimal_comma: bool,
    only_one: bool,
}

/// A table as it will be declared and read.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) readings: Vec<Readings>,
    by_name: HashMap<String, usize>,
    pub(super) key: Key,
    /// The field of the key, if it is none of the columns.
    pub(super) key_field: Option<String>,
    /// The field for what has no column, if there is such.
    pub(super) extra_field: Option<String>,
}

/// What names a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The value of a column.
    Column(usize),
    /// The whole row, and how often it stood before.
    Row,
    /// There is only one.
    Only,
}

impl Inference {
    /// Starts a table; `stem` is the file's name.
    pub(super) fn new(stem: &str) -> Self {
        Self {
            columns: Vec::new(),
            by_name: HashMap::new(),
            fields: HashSet::new(),
            rows: 0,
            overflow: false,
            stem: stem.to_lowercase(),
            decimal_comma: false,
            only_one: false,
        }
    }

    /// The file is one thing, not a list of things.
    pub(super) fn only_one(&mut self) {
        self.only_one = true;
    }

    /// Names the columns in their order, as the head of a table does.
    pub(super) fn head(&mut self, names: &[String], decimal_comma: bool) {
        self.decimal_comma = decimal_comma;
        for (number, name) in names.iter().enumerate() {
            let fallback = || format!("column_{}", number + 1);
            if self.columns.len() < MOST_COLUMNS {
                let field = unique(field_name(name).unwrap_or_else(fallback), &mut self.fields);
                self.columns.push(Column::new(name.clone(), field));
            } else {
                self.overflow = true;
            }
        }
        self.watch_keys();
    }

    /// Adds a row whose cells stand in the order of the columns.
    pub(super) fn add_cells<'c>(&mut self, cells: impl Iterator<Item = &'c str> + Clone) {
        if cells.clone().all(|cell| cell.trim().is_empty()) {
            return;
        }
        self.rows += 1;
        for (number, cell) in cells.enumerate() {
            match self.columns.get_mut(number) {
                Some(column) => column.add(Cell::Plain(cell)),
                None => self.overflow |= !cell.trim().is_empty(),
            }
        }
    }

    /// Adds a row whose values have names.
    pub(super) fn add_members(&mut self, members: &Map<String, Value>) {
        if self.rows == 0 {
            // Before their first values are added, so that no value goes unwatched.
            for name in members.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name) {
                self.column_of(name);
            }
            self.watch_keys();
        }
        self.rows += 1;
        for (name, value) in members {
            if value.is_null() {
                continue;
            }
            match self.column_of(name) {
                Some(number) => self.columns[number].add(Cell::Json(value)),
                None => self.overflow = true,
            }
        }
    }

    fn column_of(&mut self, name: &str) -> Option<usize> {
        if let Some(number) = self.by_name.get(name) {
            return Some(*number);
        }
        if self.columns.len() >= MOST_COLUMNS || name.len() > 1000 {
            return None;
        }
        let number = self.columns.len();
        let field =
            unique(field_name(name).unwrap_or_else(|| format!("column_{}", number + 1)), &mut self.fields);
        self.columns.push(Column::new(name.to_owned(), field));
        self.by_name.insert(name.to_owned(), number);
        Some(number)
    }

    /// Watches the columns most likely to be the key. A named value that appears later has a gap, and is no key.
    fn watch_keys(&mut self) {
        for number in self.key_order().into_iter().take(MOST_KEYS) {
            self.columns[number].watch();
        }
    }

    /// Columns that could be the key, the likeliest first.
    fn key_order(&self) -> Vec<usize> {
        let mut ranked: Vec<(u8, usize)> =
            (0..self.columns.len()).filter_map(|number| Some((self.key_rank(number)?, number))).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, number)| number).collect()
    }

    /// How likely a column is the key by its name and place; the smaller the likelier.
    fn key_rank(&self, number: usize) -> Option<u8> {
        let words = words_of(&self.columns[number].original);
        let joined = words.join("_");
        let Some((last, before)) = words.split_last() else { return (number == 0).then_some(3) };
        let before = before.join("_");
        match last.as_str() {
            _ if matches!(
                joined.as_str(),
                "id" | "uuid" | "guid" | "key" | "record_id" | "row_id" | "unique_id" | "uid"
            ) =>
            {
                Some(0)
            }
            "id" | "uuid" | "guid" | "key"
                if !before.is_empty() && self.stem.starts_with(before.trim_end_matches('s')) =>
            {
                Some(1)
            }
            "id" | "uuid" | "guid" | "key" | "number" | "no" | "nr" | "code" | "sku" | "isbn" | "email"
            | "url" => Some(2),
            _ if number == 0 => Some(3),
            _ => None,
        }
    }

    /// Decides.
    pub(super) fn finish(mut self) -> Table {
        // A sign at the end of every line makes a column of nothing.
        while self.columns.last().is_some_and(|column| column.original.is_empty() && column.is_empty()) {
            self.columns.pop();
        }
        let readings: Vec<Readings> =
            self.columns.iter().map(|column| column.reading(self.decimal_comma)).collect();
        let key = if self.only_one { Key::Only } else { self.choose_key(&readings) };
        let plain = matches!(key, Key::Column(number) if self.columns[number].is_plain_key());
        let key_field = (!plain).then(|| unique("record_key".to_owned(), &mut self.fields));
        let extra_field = self.overflow.then(|| unique("extra".to_owned(), &mut self.fields));
        Table { columns: self.columns, readings, by_name: self.by_name, key, key_field, extra_field }
    }

    fn choose_key(&self, readings: &[Readings]) -> Key {
        let fits = |number: &usize| {
            let (column, rank) = (&self.columns[*number], self.key_rank(*number).unwrap_or(u8::MAX));
            let meant = rank <= 1;
            // By chance a short table repeats nothing; only what stands first or is called a key is believed.
            let believed = meant || *number == 0 && column.longest <= 64 || self.rows >= ENOUGH_ROWS;
            let kind = matches!(readings[*number], INTEGER | TEXT);
            kind && believed && column.is_key(self.rows, meant)
        };
        self.key_order().into_iter().find(fits).map_or(Key::Row, Key::Column)
    }
}

impl Table {
    /// The column of a named value.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The field that holds the key.
    pub(super) fn primary_key(&self) -> &str {
        match (self.key, &self.key_field) {
            (_, Some(field)) => field,
            (Key::Column(number), None) => &self.columns[number].field,
            (_, None) => "record_key",
        }
    }

    /// Whether a column holds dates or times.
    pub(super) fn is_time(&self, number: usize) -> bool {
        matches!(self.readings[number], DATE | DATE_TIME | DAY_FIRST | MONTH_FIRST | SECONDS | MILLISECONDS)
    }

    /// Whether a column holds values that no query looks into.
    pub(super) fn is_nested(&self, number: usize) -> bool {
        matches!(self.readings[number], OBJECT | ARRAY | super::reading::ANYTHING)
    }
}
