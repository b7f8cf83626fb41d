//! What a column is, gathered over all its values in bounded room.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

use super::meaning::{is_code_name, is_time_name};
use super::reading::{
    ALL, ANYTHING, ARRAY, BOOLEAN, COMMA_NUMBER, Cell, DATE, DATE_TIME, DAY_FIRST, INTEGER, MILLISECONDS,
    MONTH_FIRST, NUMBER, OBJECT, Readings, SECONDS, TEXT,
};
use crate::mint_key;

/// Up to this many different values a column is one to group by.
pub(super) const FEW: usize = 64;
/// Up to this many rows it is known whether a column's values repeat; about 40 MB for each column that may be a key.
const KNOWN_ROWS: usize = 2_000_000;
/// Most elements of a list that are looked at.
const LOOKED_AT: usize = 20;
/// Most paths to texts inside nested values.
const MOST_PATHS: usize = 16;

/// One column while a table is read the first time.
#[derive(Debug)]
pub(super) struct Column {
    /// As the file calls it.
    pub(super) original: String,
    /// As records call it.
    pub(super) field: String,
    pub(super) readings: Readings,
    pub(super) timed: bool,
    pub(super) zoneless: bool,
    /// How many values it has; words for nothing are none.
    pub(super) filled: u64,
    /// How many words for nothing it has.
    hollow: u64,
    pub(super) longest: usize,
    /// How many values hold a word.
    wordy: u64,
    distinct: HashSet<u64>,
    /// Ways to words inside nested values.
    pub(super) paths: BTreeSet<String>,
    key: Option<KeyWatch>,
}

/// Whether a column could be the key.
#[derive(Debug, Default)]
struct KeyWatch {
    met: HashSet<u64>,
    count: u64,
    repeats: bool,
    /// A value that has to be hashed to be a key.
    odd: bool,
    /// More rows than can be watched.
    lost: bool,
}

impl Column {
    pub(super) fn new(original: String, field: String) -> Self {
        Self {
            original,
            field,
            readings: ALL,
            timed: false,
            zoneless: false,
            filled: 0,
            hollow: 0,
            longest: 0,
            wordy: 0,
            distinct: HashSet::new(),
            paths: BTreeSet::new(),
            key: None,
        }
    }

    /// Watches whether the values repeat.
    pub(super) fn watch(&mut self) {
        self.key.get_or_insert_default();
    }

    pub(super) fn add(&mut self, cell: Cell<'_>) {
        if cell.is_absent() {
            return;
        }
        let text = cell.key_text();
        if let (Some(watch), Some(text)) = (&mut self.key, &text) {
            watch.add(text);
        }
        if cell.is_hollow() {
            self.hollow += 1;
            return;
        }
        let seen = cell.seen();
        self.readings &= seen.readings;
        self.timed |= seen.timed;
        self.zoneless |= seen.zoneless;
        self.filled += 1;
        match (text, cell) {
            (Some(text), _) => {
                self.longest = self.longest.max(text.len());
                self.wordy += u64::from(is_wordy(&text));
                if self.distinct.len() <= FEW {
                    self.distinct.insert(hash(&text));
                }
            }
            (None, Cell::Json(value)) => self.add_paths(value, &mut String::new(), 0),
            _ => {}
        }
    }

    /// Notes where nested objects hold words; the elements of a list stand under the list's own name.
    fn add_paths(&mut self, value: &Value, path: &mut String, depth: usize) {
        match value {
            Value::Array(items) if !path.is_empty() || items.iter().any(Value::is_object) => {
                for item in items.iter().take(LOOKED_AT) {
                    // A list of lists has no names on the way that could be asked for.
                    if !item.is_array() {
                        self.add_paths(item, path, depth);
                    }
                }
            }
            Value::Object(members) if depth < 3 => {
                for (name, value) in members {
                    if name.is_empty() || name.contains('.') || name.len() > 64 {
                        continue;
                    }
                    let length = path.len();
                    path.push('.');
                    path.push_str(name);
                    self.add_paths(value, path, depth + 1);
                    path.truncate(length);
                }
            }
            Value::String(text) if depth > 0 && self.paths.len() < MOST_PATHS && is_wordy(text) => {
                self.paths.insert(path.clone());
            }
            _ => {}
        }
    }

    /// The one reading its values are given in.
    pub(super) fn reading(&self, decimal_comma: bool) -> Readings {
        if self.filled == 0 {
            return TEXT;
        }
        let can = |reading: Readings| self.readings & reading != 0;
        let is_code = is_code_name(&self.original);
        let mut order: Vec<Readings> = vec![BOOLEAN];
        if is_time_name(&self.original) {
            order.extend([SECONDS, MILLISECONDS]);
        }
        if !is_code {
            // Where cells are parted by semicolons, a comma stands before the fraction.
            order.extend([INTEGER].into_iter().chain(if decimal_comma {
                [COMMA_NUMBER, NUMBER]
            } else {
                [NUMBER, NUMBER]
            }));
        }
        order.extend([DATE, DATE_TIME]);
        // Only one of the two may fit; otherwise nobody knows which is meant.
        if !(can(DAY_FIRST) && can(MONTH_FIRST)) {
            order.extend([DAY_FIRST, MONTH_FIRST]);
        }
        order.extend([TEXT, OBJECT, ARRAY]);
        order.into_iter().find(|reading| can(*reading)).unwrap_or(ANYTHING)
    }

    /// Whether no row has anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.filled + self.hollow == 0
    }

    pub(super) fn has_few_values(&self) -> bool {
        self.distinct.len() <= FEW && self.longest <= 80
    }

    /// Whether people would search it: at least half of its values are words.
    pub(super) fn is_wordy(&self) -> bool {
        self.filled > 0 && self.wordy * 2 >= self.filled
    }

    /// Whether every row has a value of its own; `trusted` columns are believed where they could not be watched.
    pub(super) fn is_key(&self, rows: u64, trusted: bool) -> bool {
        self.key
            .as_ref()
            .is_some_and(|watch| !watch.repeats && watch.count == rows && (trusted || !watch.lost))
    }

    /// Whether every value can be a record's key as it stands.
    pub(super) fn is_plain_key(&self) -> bool {
        self.key.as_ref().is_some_and(|watch| !watch.odd)
    }
}

impl KeyWatch {
    fn add(&mut self, text: &str) {
        self.count += 1;
        if self.repeats {
            return;
        }
        self.odd |= mint_key(text) != text;
        if self.met.len() >= KNOWN_ROWS {
            self.lost = true;
            return;
        }
        self.repeats = !self.met.insert(hash(text));
        if self.repeats {
            self.met = HashSet::new();
        }
    }
}

/// The same in every run, since its keys are fixed; only a decision rests on it, never a record's name.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Holds three letters in a row, and is not the spelling of a number nobody reads.
fn is_wordy(text: &str) -> bool {
    let mut run = 0;
    let has_word = text.chars().any(|character| {
        run = if character.is_alphabetic() { run + 1 } else { 0 };
        // Two signs are a word in scripts that write whole syllables.
        run >= if character.is_ascii() || character < '\u{2e80}' { 3 } else { 2 }
    });
    let coded = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    has_word && !coded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_codes() {
        for (text, wordy) in [
            ("Anna", true),
            ("A1-77", false),
            ("6f1c2a3e-9b1d-4c55-8a10-0c9d8e7f6a5b", false),
            ("deadbeefdeadbeef", false),
            ("東京", true),
            ("привет", true),
            ("", false),
        ] {
            assert_eq!(is_wordy(text), wordy, "{text}");
        }
    }
}
