//! Finds the table of a stream's fields.

use pdpp_access::Source;
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::StreamDeclaration;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::statement::prepare;

/// The table as the declaration lays it out. A declaration that was replaced after the asker
/// learned of it may lay it out otherwise; then the asker has to ask again.
pub(crate) fn find(
    connection: &Connection,
    subject_id: &SubjectId,
    source: &Source,
    declaration: &StreamDeclaration,
) -> Outcome<Layout> {
    let sql = "SELECT id, declaration_version FROM field_tables
               WHERE subject_id = ? AND connector_key = ? AND stream = ?";
    let names = params![subject_id.as_str(), source.key().as_str(), declaration.name().as_str()];
    let found: Option<(i64, String)> =
        prepare(connection, sql)?.query_row(names, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, version)) = found else {
        return Err(Fault::overtaken("the stream is not declared any more"));
    };
    let layout = Layout::of(id, declaration);
    if version == source.declaration_version || layout.spelling() == stored_layout(connection, id)? {
        return Ok(layout);
    }
    Err(Fault::overtaken("the stream's declaration was replaced"))
}

fn stored_layout(connection: &Connection, id: i64) -> Outcome<String> {
    Ok(connection.query_row("SELECT layout FROM field_tables WHERE id = ?", [id], |row| row.get(0))?)
}
