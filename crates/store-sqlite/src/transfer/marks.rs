//! How far a copy got.

use pdpp_store::transfer::Mark;
use rusqlite::{Connection, OptionalExtension as _};

use crate::fault::{Fault, Outcome};

pub(super) fn find(connection: &Connection, whose: &str) -> Outcome<Option<Mark>> {
    let sql = "SELECT mark FROM transfers WHERE subject_id = ?";
    let text: Option<String> = connection.query_row(sql, [whose], |row| row.get(0)).optional()?;
    let parse = |text: String| serde_json::from_str(&text).map_err(|_| Fault::damaged("the mark of a copy"));
    text.map(parse).transpose()
}

pub(super) fn put(connection: &Connection, whose: &str, mark: &Mark) -> Outcome<()> {
    let text = serde_json::to_string(mark).map_err(|_| Fault::damaged("the mark of a copy"))?;
    connection
        .execute("INSERT OR REPLACE INTO transfers (subject_id, mark) VALUES (?, ?)", [whose, &text])?;
    Ok(())
}

pub(super) fn clear(connection: &Connection, whose: &str) -> Outcome<()> {
    connection.execute("DELETE FROM transfers WHERE subject_id = ?", [whose])?;
    Ok(())
}
