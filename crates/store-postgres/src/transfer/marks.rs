//! How far a copy got.

use pdpp_store::transfer::Mark;

use crate::fault::{Fault, Outcome};
use crate::session::Session;

pub(super) async fn find(session: &Session, whose: &str) -> Outcome<Option<Mark>> {
    let row = session.query_opt("SELECT mark FROM transfers WHERE subject_id = $1", &[&whose]).await?;
    let parse = |text: &str| serde_json::from_str(text).map_err(|_| Fault::damaged("the mark of a copy"));
    row.map(|row| parse(row.get(0))).transpose()
}

pub(super) async fn put(session: &Session, whose: &str, mark: &Mark) -> Outcome<()> {
    let sql = "INSERT INTO transfers (subject_id, mark) VALUES ($1, $2)
               ON CONFLICT (subject_id) DO UPDATE SET mark = excluded.mark";
    session.execute(sql, &[&whose, &serde_json::to_string(mark)?]).await?;
    Ok(())
}

pub(super) async fn clear(session: &Session, whose: &str) -> Outcome<()> {
    session.execute("DELETE FROM transfers WHERE subject_id = $1", &[&whose]).await?;
    Ok(())
}
