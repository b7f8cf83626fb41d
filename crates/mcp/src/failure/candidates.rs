//! The connections an error lets a caller choose from, on one line of text.

use serde_json::{Map, Value};

use crate::record::is_callable;
use crate::text::quoted;
use crate::tokens::estimate;

/// The most connections that are named.
const NAMED: usize = 12;
/// Room for how many there are besides, and the call that lists them; in tokens it is less.
const TAIL_CHARS: usize = 60;

/// The line, when that is what the error asks; at most `max_chars` of it, at a cost of at most `max_tokens`.
pub(super) fn line(error: &Map<String, Value>, max_chars: usize, max_tokens: usize) -> Option<String> {
    let connections = error.get("available_connections")?.as_array()?;
    let mut line = "Repeat the call with one of: ".to_owned();
    let (mut named, mut spent) = (0, estimate(&line) + TAIL_CHARS);
    for connection in connections.iter().filter_map(choice).take(NAMED) {
        let chars = line.chars().count() + connection.chars().count();
        spent += estimate(&connection) + 1;
        if chars + TAIL_CHARS > max_chars || spent > max_tokens {
            break;
        }
        if named > 0 {
            line.push_str("; ");
        }
        line.push_str(&connection);
        named += 1;
    }
    match connections.len() - named {
        _ if named == 0 => None,
        0 => Some(line),
        more => Some(format!("{line}; {more} more in schema args={{}}")),
    }
}

/// One connection. An identifier that cannot be passed on as it is shown is none.
fn choice(connection: &Value) -> Option<String> {
    let id = connection.get("connection_id")?.as_str().filter(|id| is_callable(id))?;
    let label =
        connection.get("display_name").or_else(|| connection.get("connector_key")).and_then(Value::as_str);
    let shown = label.map(|label| format!(" ({})", quoted(label, 60))).unwrap_or_default();
    Some(format!("\"connection_id\":{}{shown}", Value::from(id)))
}
