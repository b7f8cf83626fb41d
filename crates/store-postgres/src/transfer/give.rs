//! Reads the rows of a part in the order every store has.

use pdpp_store::transfer::{Cell, Order, Part, Place, Portion, Row};
use tokio_postgres::types::ToSql;

use super::records;
use super::spelling::{Typed, columns, made};
use crate::fault::{Fault, Outcome};
use crate::session::Session;

pub(super) async fn give(
    session: &Session,
    whose: &str,
    part: Part,
    after: Option<&Place>,
    limit: u32,
) -> Outcome<Portion> {
    if matches!(part, Part::Records | Part::PastLives) {
        return records::give(session, whose, part, after, limit).await;
    }
    let columns = columns(part);
    let key: Vec<&str> = match part.order() {
        Order::Key(length) => columns[..length].iter().map(|(name, _)| *name).collect(),
        Order::Making(length) => {
            columns[..length].iter().map(|(name, _)| *name).chain([made(part)]).collect()
        }
    };
    if key.is_empty() && after.is_some() {
        return Ok(Portion::default());
    }
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let making =
        if let Order::Making(_) = part.order() { format!(", {}", made(part)) } else { String::new() };
    let from = match part {
        Part::SealingKey => "meta WHERE name = 'sealing_key' AND $1 = ''".to_owned(),
        _ => format!("{} WHERE subject_id = $1", part.name()),
    };
    let limit_bound = i64::from(limit);
    let mut values: Vec<Box<dyn ToSql + Sync + Send>> =
        vec![Box::new(whose.to_owned()), Box::new(limit_bound)];
    let mut beyond = String::new();
    if let Some(Place(cells)) = after {
        let marks: Vec<_> = (0..cells.len()).map(|at| format!("${}", at + 3)).collect();
        beyond = format!("AND ({}) > ({})", key.join(", "), marks.join(", "));
        for (cell, name) in cells.iter().zip(&key) {
            let typed =
                columns.iter().find(|(column, _)| column == name).map_or(Typed::Long, |(_, typed)| *typed);
            values.push(bind(cell, typed));
        }
    }
    let order = if key.is_empty() { String::new() } else { format!("ORDER BY {}", key.join(", ")) };
    let sql = format!("SELECT {}{making} FROM {from} {beyond} {order} LIMIT $2", names.join(", "));
    let values: Vec<&(dyn ToSql + Sync)> =
        values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    let found = session.query(&sql, &values).await?;
    let (mut rows, mut last) = (Vec::with_capacity(found.len()), None);
    for row in &found {
        let cells: Row = (0..columns.len()).map(|at| read(row, at, columns[at].1)).collect::<Outcome<_>>()?;
        last = Some(match part.order() {
            Order::Key(length) => Place(cells[..length].to_vec()),
            Order::Making(length) => {
                let made = Cell::Number(row.try_get(columns.len())?);
                Place(cells[..length].iter().cloned().chain([made]).collect())
            }
        });
        rows.push(cells);
    }
    let next = last.filter(|_| rows.len() == limit as usize && !key.is_empty());
    Ok(Portion { rows, next })
}

/// A column's value, of the kind every store has there.
pub(super) fn read(row: &tokio_postgres::Row, at: usize, typed: Typed) -> Outcome<Cell> {
    let number = match typed {
        Typed::Text => return Ok(row.try_get::<_, Option<String>>(at)?.map_or(Cell::Null, Cell::Text)),
        Typed::Bytes => {
            let bytes = row.try_get::<_, Option<Vec<u8>>>(at)?;
            return Ok(bytes.map_or(Cell::Null, |bytes| Cell::Bytes { bytes }));
        }
        Typed::Long => row.try_get::<_, Option<i64>>(at)?,
        Typed::Integer => row.try_get::<_, Option<i32>>(at)?.map(i64::from),
        Typed::Short => row.try_get::<_, Option<i16>>(at)?.map(i64::from),
        Typed::Boolean => row.try_get::<_, Option<bool>>(at)?.map(i64::from),
    };
    Ok(number.map_or(Cell::Null, Cell::Number))
}

fn bind(cell: &Cell, typed: Typed) -> Box<dyn ToSql + Sync + Send> {
    match (cell, typed) {
        (Cell::Number(number), Typed::Integer) => Box::new(i32::try_from(*number).ok()),
        (Cell::Number(number), Typed::Short) => Box::new(i16::try_from(*number).ok()),
        (Cell::Number(number), Typed::Boolean) => Box::new(*number != 0),
        (Cell::Number(number), _) => Box::new(*number),
        (Cell::Text(text), _) => Box::new(text.clone()),
        (Cell::Bytes { bytes }, _) => Box::new(bytes.clone()),
        (Cell::Null, Typed::Text) => Box::new(None::<String>),
        (Cell::Null, Typed::Bytes) => Box::new(None::<Vec<u8>>),
        (Cell::Null, _) => Box::new(None::<i64>),
    }
}

/// One column of many rows, as an array.
pub(super) fn array(rows: &[Row], at: usize, typed: Typed) -> Outcome<Box<dyn ToSql + Sync + Send>> {
    let number = |row: &Row| match &row[at] {
        Cell::Null => Ok(None),
        Cell::Number(number) => Ok(Some(*number)),
        _ => Err(Fault::damaged("a copied number is none")),
    };
    let outside = |_| Fault::damaged("a copied number is too large");
    Ok(match typed {
        Typed::Text => Box::new(rows.iter().map(|row| text(row, at)).collect::<Outcome<Vec<_>>>()?),
        Typed::Bytes => {
            let bytes = |row: &Row| match &row[at] {
                Cell::Null => Ok(None),
                Cell::Bytes { bytes } => Ok(Some(bytes.clone())),
                _ => Err(Fault::damaged("copied bytes are none")),
            };
            Box::new(rows.iter().map(bytes).collect::<Outcome<Vec<_>>>()?)
        }
        Typed::Long => Box::new(rows.iter().map(number).collect::<Outcome<Vec<_>>>()?),
        Typed::Integer => {
            let narrow = |row: &Row| number(row)?.map(i32::try_from).transpose().map_err(outside);
            Box::new(rows.iter().map(narrow).collect::<Outcome<Vec<_>>>()?)
        }
        Typed::Short => {
            let narrow = |row: &Row| number(row)?.map(i16::try_from).transpose().map_err(outside);
            Box::new(rows.iter().map(narrow).collect::<Outcome<Vec<_>>>()?)
        }
        Typed::Boolean => {
            let flag = |row: &Row| Ok::<_, Fault>(number(row)?.map(|number| number != 0));
            Box::new(rows.iter().map(flag).collect::<Outcome<Vec<_>>>()?)
        }
    })
}

/// A text, or nothing.
pub(super) fn text(row: &Row, at: usize) -> Outcome<Option<String>> {
    match &row[at] {
        Cell::Null => Ok(None),
        Cell::Text(text) => Ok(Some(text.clone())),
        _ => Err(Fault::damaged("a copied text is none")),
    }
}
