//! Lets a test look at the plans of the statements that were really executed.
//!
//! Statements of a transaction are planned once and without looking at their values, so they are explained the same
//! way; those a cursor is opened for are planned for their values.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::BytesMut;
use deadpool_postgres::Object;
use pdpp_store::StoreError;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use tokio_postgres::{SimpleQueryMessage, Statement};

use crate::fault::{Fault, Outcome};
use crate::session::Values;

/// One executed statement and the server's plan for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The SQL text.
    pub sql: String,
    /// As `EXPLAIN (FORMAT JSON)` tells it.
    pub plan: serde_json::Value,
}

type Failure = Box<dyn std::error::Error + Sync + Send>;

tokio::task_local! {
    static SEEN: RefCell<Vec<Traced>>;
}

/// Gives the statements with their plans that some work executes, beside its answer.
#[doc(hidden)]
pub async fn traced<T>(work: impl Future<Output = T>) -> (T, Vec<Traced>) {
    let watched = async {
        let answer = work.await;
        (answer, SEEN.with(RefCell::take))
    };
    SEEN.scope(RefCell::default(), watched).await
}

/// Whether somebody wants to know what this task executes.
pub(crate) fn is_watched() -> bool {
    SEEN.try_with(|_| ()).is_ok()
}

/// Explains a statement that is about to be executed.
pub(crate) async fn note(
    client: &Object,
    sql: &str,
    statement: &Statement,
    values: &Values<'_>,
) -> Outcome<()> {
    let declared = sql.strip_prefix("DECLARE ").and_then(|rest| rest.split_once(" CURSOR FOR "));
    if sql.starts_with("FETCH ") {
        return Ok(());
    }
    let (sql, plan) = match declared {
        Some((_, sql)) => (sql, explain_with(client, sql, values).await?),
        None => (sql, explain(client, sql, statement.params(), values).await?),
    };
    let failed = |error: serde_json::Error| Fault::Store(StoreError::Backend(error.into()));
    let traced = Traced { sql: sql.to_owned(), plan: serde_json::from_str(&plan).map_err(failed)? };
    // Only a task that is watched comes here.
    let _ = SEEN.try_with(|seen| seen.borrow_mut().push(traced));
    Ok(())
}

/// The plan for whatever values.
async fn explain(client: &Object, sql: &str, types: &[Type], values: &Values<'_>) -> Outcome<String> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let failed = |error: Failure| Fault::Store(StoreError::Backend(error));
    let literals = types.iter().zip(values).map(|(ty, value)| literal(ty, *value));
    let literals = literals.collect::<Result<Vec<_>, _>>().map_err(failed)?.join(", ");
    let arguments = if literals.is_empty() { literals } else { format!("({literals})") };
    let name = format!("traced_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    client.batch_execute(&format!("PREPARE {name} AS {sql}")).await?;
    let lines = client.simple_query(&format!("EXPLAIN (FORMAT JSON) EXECUTE {name}{arguments}")).await?;
    client.batch_execute(&format!("DEALLOCATE {name}")).await?;
    let text = lines.iter().filter_map(|line| match line {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    Ok(text.collect())
}

/// The plan for these values.
async fn explain_with(client: &Object, sql: &str, values: &Values<'_>) -> Outcome<String> {
    let rows = client.query(&format!("EXPLAIN (FORMAT JSON) {sql}"), values).await?;
    Ok(rows.iter().map(|row| row.get::<_, Json>(0).0).collect())
}

/// A value as SQL spells it.
fn literal(ty: &Type, value: &(dyn ToSql + Sync)) -> Result<String, Failure> {
    let mut buffer = BytesMut::new();
    if let IsNull::Yes = value.to_sql_checked(ty, &mut buffer)? {
        return Ok("NULL".to_owned());
    }
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let hex = |bytes: &[u8]| bytes.iter().fold("\\x".to_owned(), |text, byte| format!("{text}{byte:02x}"));
    let listed =
        |items: Vec<String>| format!("ARRAY[{}]::{}", items.join(", "), ty.name().replace('_', "") + "[]");
    Ok(match *ty {
        Type::TEXT => quoted(<&str>::from_sql(ty, &buffer)?),
        Type::BYTEA => quoted(&hex(<&[u8]>::from_sql(ty, &buffer)?)),
        Type::INT8 => i64::from_sql(ty, &buffer)?.to_string(),
        Type::INT4 => i32::from_sql(ty, &buffer)?.to_string(),
        Type::TEXT_ARRAY => listed(Vec::<&str>::from_sql(ty, &buffer)?.into_iter().map(quoted).collect()),
        Type::INT8_ARRAY => listed(Vec::<i64>::from_sql(ty, &buffer)?.iter().map(i64::to_string).collect()),
        Type::BYTEA_ARRAY => listed(
            Vec::<&[u8]>::from_sql(ty, &buffer)?.into_iter().map(|bytes| quoted(&hex(bytes))).collect(),
        ),
        _ => return Err(format!("no literal for {ty}").into()),
    })
}

/// The text of a JSON value.
struct Json(String);

impl<'a> FromSql<'a> for Json {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        Ok(Self(std::str::from_utf8(raw)?.to_owned()))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::JSON
    }
}
