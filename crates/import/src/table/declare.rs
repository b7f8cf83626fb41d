//! A table as a stream of a manifest.
//!
//! Everything that is said here depends on columns only as far as it must, so that a row more or less changes nothing:
//! every field may be missing, and limits are far from what tables usually have.

use serde_json::{Map, Value, json};

use super::column::Column;
use super::inference::{Key, Table};
use super::meaning::{is_code_name, words_of};
use super::reading::{
    ARRAY, BOOLEAN, COMMA_NUMBER, DATE, DAY_FIRST, INTEGER, MILLISECONDS, MONTH_FIRST, NUMBER, OBJECT,
    SECONDS, TEXT,
};

const TITLES: [&str; 10] =
    ["title", "name", "subject", "label", "headline", "summary", "betreff", "titel", "product", "item"];
const BODIES: [&str; 12] = [
    "text",
    "body",
    "message",
    "description",
    "content",
    "note",
    "notes",
    "comment",
    "verwendungszweck",
    "details",
    "memo",
    "beschreibung",
];
/// Which of several times is the one a row is about, if they are filled alike.
const TIMES: [&str; 8] = ["timestamp", "date", "time", "datetime", "created", "datum", "at", "when"];
const RANGES: [&str; 4] = ["gte", "gt", "lte", "lt"];

/// The stream of one file.
pub(super) fn stream(name: &str, file: &str, table: &Table) -> Value {
    let time = event_time(table).map(|number| table.columns[number].field.clone());
    let roles = Roles { title: named(table, &TITLES), body: named(table, &BODIES), time: event_time(table) };
    let mut stream = json!({
        "name": name,
        "description": format!("The rows of {file}, with columns told from their contents."),
        "display": {"label": file, "detail": detail(table)},
        "semantics": "mutable_state",
        "primary_key": [table.primary_key()],
        "selection": {"fields": true, "resources": true},
        "schema": {"type": "object", "required": [table.primary_key()], "properties": properties(table, &roles)},
        "query": query(table, &roles),
    });
    if let Some(time) = time {
        stream["cursor_field"] = Value::String(time.clone());
        stream["consent_time_field"] = Value::String(time);
    }
    stream
}

struct Roles {
    title: Option<usize>,
    body: Option<usize>,
    time: Option<usize>,
}

fn detail(table: &Table) -> String {
    let names: Vec<&str> = table.columns.iter().take(6).map(|column| column.field.as_str()).collect();
    let more = table.columns.len().saturating_sub(6);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn properties(table: &Table, roles: &Roles) -> Map<String, Value> {
    let mut properties = Map::new();
    if let Some(field) = &table.key_field {
        let description = match table.key {
            Key::Column(number) => format!("Names the row, after `{}`.", table.columns[number].original),
            Key::Row => "Names the row, after everything in it.".to_owned(),
            Key::Only => "Names the one object of the file.".to_owned(),
        };
        properties.insert(field.clone(), json!({"type": "string", "description": description}));
    }
    for (number, column) in table.columns.iter().enumerate() {
        let mut schema = schema(table, number, column);
        let role = match Some(number) {
            number if number == roles.time => Some("event-time"),
            number if number == roles.title => Some("primary-title"),
            number if number == roles.body => Some("body"),
            _ => None,
        };
        if let Some(role) = role {
            schema["x_pdpp_role"] = Value::String(role.to_owned());
        }
        properties.insert(column.field.clone(), schema);
    }
    if let Some(field) = &table.extra_field {
        let description = "Values beyond the columns of the table.";
        properties.insert(field.clone(), json!({"type": ["object", "null"], "description": description}));
    }
    properties
}

fn schema(table: &Table, number: usize, column: &Column) -> Value {
    let kind = match table.readings[number] {
        BOOLEAN => Some("boolean"),
        INTEGER => Some("integer"),
        NUMBER | COMMA_NUMBER => Some("number"),
        OBJECT => Some("object"),
        ARRAY => Some("array"),
        TEXT => Some("string"),
        _ if table.is_time(number) => Some("string"),
        _ => None,
    };
    let mut schema = json!({"description": description(table, number, column)});
    let is_key = table.key == Key::Column(number) && table.key_field.is_none();
    match kind {
        Some(kind) if is_key => schema["type"] = json!(kind),
        Some(kind) => schema["type"] = json!([kind, "null"]),
        None => {}
    }
    if table.is_time(number) {
        let is_date = match table.readings[number] {
            DATE => true,
            DAY_FIRST | MONTH_FIRST => !column.timed,
            _ => false,
        };
        schema["format"] = json!(if is_date { "date" } else { "date-time" });
    }
    schema
}

fn description(table: &Table, number: usize, column: &Column) -> String {
    let original = match column.original.as_str() {
        "" => "A column without a name".to_owned(),
        name => format!("`{}`", name.chars().take(100).filter(|c| !c.is_control()).collect::<String>()),
    };
    match table.readings[number] {
        SECONDS => format!("{original}; seconds since 1970 in the file."),
        MILLISECONDS => format!("{original}; milliseconds since 1970 in the file."),
        DAY_FIRST => format!("{original}; the day stands first in the file."),
        MONTH_FIRST => format!("{original}; the month stands first in the file."),
        _ if table.is_time(number) && column.zoneless => {
            format!("{original}; without a zone in the file, taken as UTC.")
        }
        _ => format!("{original}."),
    }
}

fn query(table: &Table, roles: &Roles) -> Value {
    let of = |test: &dyn Fn(usize) -> bool| -> Vec<&str> {
        (0..table.columns.len())
            .filter(|number| test(*number))
            .map(|number| table.columns[number].field.as_str())
            .collect()
    };
    let key = match table.key {
        Key::Column(number) => Some(number),
        Key::Row | Key::Only => None,
    };
    let is_number = |number: usize| matches!(table.readings[number], INTEGER | NUMBER | COMMA_NUMBER);
    let is_amount = |number: usize| {
        is_number(number) && Some(number) != key && !is_name_of_thing(&table.columns[number].original)
    };
    let ordered = of(&|number| table.is_time(number) || is_amount(number));
    let few = of(&|number| {
        let words = matches!(table.readings[number], BOOLEAN | TEXT);
        let own = [key, roles.title, roles.body].contains(&Some(number));
        words && !own && table.columns[number].has_few_values()
    });
    let texts = of(&|number| table.readings[number] == TEXT && table.columns[number].is_wordy());
    let mut lexical: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    for (number, column) in table.columns.iter().enumerate() {
        if table.is_nested(number) {
            lexical.extend(column.paths.iter().map(|path| format!("{}{path}", column.field)));
        }
    }
    let ranges: Map<String, Value> =
        ordered.iter().map(|field| ((*field).to_owned(), json!(RANGES))).collect();
    json!({
        "range_filters": ranges,
        "search": {"lexical_fields": lexical},
        "aggregations": {
            "count": true,
            "sum": of(&is_amount),
            "min": ordered,
            "max": ordered,
            "group_by": few,
            "group_by_time": of(&|number| table.is_time(number)),
            "count_distinct": few,
        },
    })
}

/// Numbers that name something are not added up.
fn is_name_of_thing(name: &str) -> bool {
    let last = words_of(name).pop().unwrap_or_default();
    is_code_name(name) || matches!(last.as_str(), "id" | "key" | "number" | "no" | "nr" | "year" | "index")
}

/// The column a row's time is: of those that are filled nearly as often as the fullest, the one with the plainest name.
fn event_time(table: &Table) -> Option<usize> {
    let times: Vec<usize> = (0..table.columns.len()).filter(|number| table.is_time(*number)).collect();
    let fullest = times.iter().map(|number| table.columns[*number].filled).max()?;
    let rank = |number: usize| {
        let words = words_of(&table.columns[number].original);
        TIMES.iter().position(|time| words.iter().any(|word| word == time)).unwrap_or(TIMES.len())
    };
    let nearly = |number: &usize| table.columns[*number].filled * 10 >= fullest * 9;
    times.into_iter().filter(nearly).min_by_key(|number| (rank(*number), *number))
}

/// The first text column that goes by one of the names, in the names' order.
fn named(table: &Table, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| {
        let called = |number: &usize| {
            let words = words_of(&table.columns[*number].original);
            table.readings[*number] == TEXT && words.last().is_some_and(|word| word == name)
        };
        (0..table.columns.len()).find(called)
    })
}
