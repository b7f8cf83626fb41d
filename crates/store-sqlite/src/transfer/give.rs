//! Reads the rows of a part that lies in one table, in the order every store has.

use pdpp_store::transfer::{Cell, Kind, Order, Part, Place, Portion, Row};
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::fault::{Fault, Outcome};

/// Where a part lies: the table is called `t`, and this names its subject.
struct Lie {
    from: &'static str,
    subject: &'static str,
}

fn lie(part: Part) -> Lie {
    let (from, subject) = match part {
        Part::ChangeLog => ("subjects AS s CROSS JOIN change_log AS t ON t.subject = s.id", "s.subject_id"),
        Part::RefreshTokens => {
            ("refresh_tokens AS t JOIN refresh_families AS s ON s.family_id = t.family_id", "s.subject_id")
        }
        Part::SubscriptionGrants => (
            "event_subscription_grants AS t JOIN event_subscriptions AS s ON s.id = t.subscription",
            "s.subject_id",
        ),
        Part::EventQueue => {
            ("event_queue AS t JOIN event_subscriptions AS s ON s.id = t.subscription", "s.subject_id")
        }
        // Of the store as a whole: the asker's empty text is everybody's.
        Part::Clients => ("oauth_clients AS t", "''"),
        Part::SealingKey => ("(SELECT name, value FROM meta WHERE name = 'sealing_key') AS t", "''"),
        _ => ("", "t.subject_id"),
    };
    Lie { from, subject }
}

/// A column where it lies.
fn spell(part: Part, column: &str) -> String {
    match (part, column) {
        (Part::SubscriptionGrants | Part::EventQueue, "subscription_id") => "s.subscription_id".to_owned(),
        _ => format!("t.{column}"),
    }
}

pub(super) fn give(
    connection: &Connection,
    whose: &str,
    part: Part,
    after: Option<&Place>,
    limit: u32,
) -> Outcome<Portion> {
    let Lie { from, subject } = lie(part);
    let from = if from.is_empty() { format!("{} AS t", part.name()) } else { from.to_owned() };
    let columns: Vec<_> = part.columns().iter().map(|(name, _)| spell(part, name)).collect();
    let key: Vec<String> = match part.order() {
        Order::Key(length) => columns[..length].to_vec(),
        Order::Making(length) => columns[..length].iter().cloned().chain(["t.id".to_owned()]).collect(),
    };
    if key.is_empty() && after.is_some() {
        return Ok(Portion::default());
    }
    let mut values: Vec<SqlValue> = vec![whose.to_owned().into()];
    let beyond = match after {
        Some(Place(cells)) => {
            values.extend(cells.iter().map(bind));
            format!("AND ({}) > ({})", key.join(", "), vec!["?"; cells.len()].join(", "))
        }
        None => String::new(),
    };
    let order = if key.is_empty() { String::new() } else { format!("ORDER BY {}", key.join(", ")) };
    let making = if matches!(part.order(), Order::Making(_)) { ", t.id" } else { "" };
    values.push(i64::from(limit).into());
    let sql = format!(
        "SELECT {}{making} FROM {from} WHERE {subject} = ? {beyond} {order} LIMIT ?",
        columns.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query(params_from_iter(values))?;
    let (mut rows, mut last) = (Vec::new(), None);
    while let Some(row) = found.next()? {
        let kinds = part.columns().iter().enumerate();
        let cells: Row =
            kinds.map(|(at, (_, kind))| read(row.get_ref(at)?, *kind)).collect::<Outcome<_>>()?;
        last = Some(match part.order() {
            Order::Key(length) => Place(cells[..length].to_vec()),
            Order::Making(length) => {
                let made = Cell::Number(row.get(columns.len())?);
                Place(cells[..length].iter().cloned().chain([made]).collect())
            }
        });
        rows.push(cells);
    }
    let next = last.filter(|_| rows.len() == limit as usize && !key.is_empty());
    Ok(Portion { rows, next })
}

/// A column's value, of the kind every store has there.
pub(super) fn read(value: ValueRef<'_>, kind: Kind) -> Outcome<Cell> {
    Ok(match (value, kind) {
        (ValueRef::Null, _) => Cell::Null,
        (ValueRef::Integer(number), Kind::Number) => Cell::Number(number),
        (ValueRef::Text(_), Kind::Text) => {
            Cell::Text(value.as_str().map_err(rusqlite::Error::from)?.to_owned())
        }
        (ValueRef::Blob(bytes), Kind::Bytes) => Cell::Bytes { bytes: bytes.to_owned() },
        _ => return Err(Fault::damaged("a column holds another kind than its part says")),
    })
}

pub(super) fn bind(cell: &Cell) -> SqlValue {
    match cell {
        Cell::Null => SqlValue::Null,
        Cell::Number(number) => (*number).into(),
        Cell::Text(text) => text.clone().into(),
        Cell::Bytes { bytes } => bytes.clone().into(),
    }
}
