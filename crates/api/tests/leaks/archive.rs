//! Every version of every record, in plain lists: the truth the model answers from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::world::GrantedStream;

pub(crate) type Data = Map<String, Value>;

#[derive(Debug, Default)]
pub(crate) struct Archive {
    pub(crate) rows: Vec<Row>,
    /// The number of the last accepted change.
    pub(crate) sequence: u64,
    /// How often each (connection, stream) was purged.
    epochs: BTreeMap<(usize, String), u64>,
    /// Connections that took a record.
    pub(crate) active: BTreeSet<usize>,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) connection: usize,
    pub(crate) stream: String,
    pub(crate) key: String,
    pub(crate) history: Vec<Version>,
}

#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) sequence: u64,
    pub(crate) emitted_at: i64,
    /// `None` for a deletion.
    pub(crate) data: Option<Data>,
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    Added,
    Updated,
    Unchanged,
    Deleted,
    Conflict,
}

impl Archive {
    pub(crate) fn find(&self, connection: usize, stream: &str, key: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.connection == connection && row.stream == stream && row.key == key)
    }

    /// The current data of a record.
    pub(crate) fn current(&self, connection: usize, stream: &str, key: &str) -> Option<&Data> {
        self.find(connection, stream, key).and_then(Row::data)
    }

    pub(crate) fn write(
        &mut self,
        (connection, stream, key): (usize, &str, &str),
        append_only: bool,
        data: Option<Data>,
        emitted_at: i64,
    ) -> Became {
        let current = self.current(connection, stream, key);
        let became = match (current, &data) {
            (None, None) => Became::Unchanged,
            (Some(old), Some(new)) if old == new => Became::Unchanged,
            (Some(_), Some(_)) if append_only => Became::Conflict,
            (Some(_), Some(_)) => Became::Updated,
            (None, Some(_)) => Became::Added,
            (Some(_), None) => Became::Deleted,
        };
        if became == Became::Added {
            // A connection counts as in use from its first record on.
            self.active.insert(connection);
        }
        if matches!(became, Became::Unchanged | Became::Conflict) {
            return became;
        }
        self.sequence += 1;
        let version = Version { sequence: self.sequence, emitted_at, data };
        let known = |row: &&mut Row| row.connection == connection && row.stream == stream && row.key == key;
        match self.rows.iter_mut().find(known) {
            Some(row) => row.history.push(version),
            None => self.rows.push(Row {
                connection,
                stream: stream.to_owned(),
                key: key.to_owned(),
                history: vec![version],
            }),
        }
        became
    }

    pub(crate) fn purge(&mut self, connection: usize, stream: &str) {
        self.sequence += 1;
        self.rows.retain(|row| !(row.connection == connection && row.stream == stream));
        *self.epochs.entry((connection, stream.to_owned())).or_default() += 1;
    }

    pub(crate) fn epoch(&self, connection: usize, stream: &str) -> u64 {
        self.epochs.get(&(connection, stream.to_owned())).copied().unwrap_or(0)
    }
}

/// One life of a record: from its creation to its deletion, or to now.
#[derive(Debug)]
pub(crate) struct Life<'a> {
    pub(crate) versions: &'a [Version],
    /// Sequence and emission of the deletion.
    pub(crate) ended: Option<(u64, i64)>,
}

impl Row {
    pub(crate) fn data(&self) -> Option<&Data> {
        self.history.last().and_then(|version| version.data.as_ref())
    }

    pub(crate) fn lives(&self) -> Vec<Life<'_>> {
        let mut lives = Vec::new();
        let mut rest = self.history.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().position(|version| version.data.is_none());
            let ended = end.map(|end| (rest[end].sequence, rest[end].emitted_at));
            lives.push(Life { versions: &rest[..end.unwrap_or(rest.len())], ended });
            rest = end.map_or(&[], |end| &rest[end + 1..]);
        }
        lives
    }

    /// The present life of a live record.
    pub(crate) fn life(&self) -> Option<Life<'_>> {
        self.lives().pop().filter(|life| life.ended.is_none())
    }
}

impl Life<'_> {
    pub(crate) fn created(&self) -> u64 {
        self.versions[0].sequence
    }

    pub(crate) fn last(&self) -> &Data {
        self.versions.last().and_then(|version| version.data.as_ref()).expect("a life has data")
    }

    /// The last change to any of the fields (all of them, without a set): sequence and emission.
    pub(crate) fn changed(&self, fields: Option<&BTreeSet<String>>) -> (u64, i64) {
        let mut last = &self.versions[0];
        for pair in self.versions.windows(2) {
            let (old, new) = (pair[0].data.as_ref(), pair[1].data.as_ref());
            let (old, new) = (old.expect("alive"), new.expect("alive"));
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let seen = |name: &&&String| fields.is_none_or(|fields| fields.contains(**name));
            if names.iter().filter(seen).any(|name| old.get(*name) != new.get(*name)) {
                last = &pair[1];
            }
        }
        (last.sequence, last.emitted_at)
    }
}

/// Whether a grant (none: the owner) shows a record.
pub(crate) fn shows(entry: Option<&GrantedStream>, key: &str, data: &Data) -> bool {
    entry.is_none_or(|entry| entry.shows(key, data))
}
