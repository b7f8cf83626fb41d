//! Records as tables in a database file of their own, for programs that read such files.
//!
//! One table per stream of a connection: a column for each declared field, and what has no type of the engine's as
//! JSON. `_streams` says which table is which; `_blobs` holds the bytes of attachments.

use std::fs::OpenOptions;
use std::path::Path;

use pdpp_store::StoreError;
use pdpp_wire::manifest::{FieldType, StreamDeclaration};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OpenFlags, params, params_from_iter};
use serde_json::{Map, Value};

use crate::fault::{Fault, Outcome};

/// A new database file.
#[derive(Debug)]
pub struct TableFile {
    connection: Connection,
    tables: Vec<String>,
}

/// A table that records are put into.
#[derive(Debug)]
pub struct Table {
    insert: String,
    fields: Vec<(String, FieldType)>,
}

impl TableFile {
    /// Makes the file, readable by its owner only; it must not be there yet.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Self::try_create(path).map_err(StoreError::from)
    }

    fn try_create(path: &Path) -> Outcome<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?;
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
             CREATE TABLE _streams (table_name TEXT PRIMARY KEY, connector_key TEXT NOT NULL, connection_id TEXT NOT NULL,
                                    display_name TEXT, stream TEXT NOT NULL, description TEXT);
             CREATE TABLE _blobs (blob_id TEXT PRIMARY KEY, mime_type TEXT NOT NULL, bytes BLOB NOT NULL);",
        )?;
        Ok(Self { connection, tables: Vec::new() })
    }

    /// Makes the table of a stream. Its name is the stream's, with the connection's before it where that is taken.
    pub fn table(
        &mut self,
        (connector_key, connection_id, display_name): (&str, &str, Option<&str>),
        stream: &StreamDeclaration,
    ) -> Result<Table, StoreError> {
        self.try_table((connector_key, connection_id, display_name), stream).map_err(StoreError::from)
    }

    fn try_table(
        &mut self,
        (connector_key, connection_id, display_name): (&str, &str, Option<&str>),
        stream: &StreamDeclaration,
    ) -> Outcome<Table> {
        let plain = format!("{connector_key}_{}", stream.name());
        let is_taken = |name: &String| self.tables.iter().any(|known| known.eq_ignore_ascii_case(name));
        let name = if is_taken(&plain) { format!("{connection_id}_{}", stream.name()) } else { plain };
        let fields: Vec<(String, FieldType)> =
            stream.fields().iter().map(|field| (field.name().to_owned(), field.field_type())).collect();
        let mut names = vec!["_key".to_owned(), "_emitted_at".to_owned()];
        let mut columns = Vec::new();
        for (field, kind) in &fields {
            // The engine does not tell `Id` from `id`.
            let mut column = field.clone();
            while names.iter().any(|known| known.eq_ignore_ascii_case(&column)) {
                column.push('_');
            }
            columns.push(format!("{} {}", quoted(&column), affinity(*kind)));
            names.push(column);
        }
        let columns = if columns.is_empty() { String::new() } else { format!(", {}", columns.join(", ")) };
        self.connection.execute_batch(&format!(
            "CREATE TABLE {} (_key TEXT PRIMARY KEY, _emitted_at TEXT NOT NULL{columns})",
            quoted(&name)
        ))?;
        let description = stream.document().get("description").and_then(Value::as_str);
        self.connection.execute(
            "INSERT INTO _streams VALUES (?, ?, ?, ?, ?, ?)",
            params![name, connector_key, connection_id, display_name, stream.name().as_str(), description],
        )?;
        let marks = ", ?".repeat(fields.len());
        let insert = format!("INSERT INTO {} VALUES (?, ?{marks})", quoted(&name));
        self.tables.push(name);
        Ok(Table { insert, fields })
    }

    /// Puts a record into its table.
    pub fn put(
        &self,
        table: &Table,
        (key, emitted_at): (&str, &str),
        data: &Map<String, Value>,
    ) -> Result<(), StoreError> {
        let mut row: Vec<SqlValue> = vec![key.to_owned().into(), emitted_at.to_owned().into()];
        row.extend(table.fields.iter().map(|(field, _)| cell(data.get(field))));
        let put = || -> Outcome<()> {
            self.connection.prepare_cached(&table.insert)?.execute(params_from_iter(row))?;
            Ok(())
        };
        put().map_err(StoreError::from)
    }

    /// Puts the bytes of an attachment beside them.
    pub fn put_blob(&self, blob_id: &str, mime_type: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO _blobs VALUES (?, ?, ?)";
        let put = self.connection.execute(sql, params![blob_id, mime_type, bytes]);
        put.map(drop).map_err(|error| Fault::from(error).into())
    }

    /// Ends the file; before this it is not one.
    pub fn finish(self) -> Result<(), StoreError> {
        let end = || -> Outcome<()> {
            self.connection.execute_batch("COMMIT; PRAGMA journal_mode = DELETE;")?;
            Ok(())
        };
        end().map_err(StoreError::from)
    }
}

/// A name as SQL takes it. Field names come from manifests, which strangers write.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

const fn affinity(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Integer | FieldType::Boolean => "INTEGER",
        FieldType::Number => "REAL",
        _ => "TEXT",
    }
}

fn cell(value: Option<&Value>) -> SqlValue {
    match value {
        None | Some(Value::Null) => SqlValue::Null,
        Some(Value::Bool(flag)) => i64::from(*flag).into(),
        Some(Value::String(text)) => text.clone().into(),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(real)) => real.into(),
            (None, None) => number.to_string().into(),
        },
        Some(other) => other.to_string().into(),
    }
}
