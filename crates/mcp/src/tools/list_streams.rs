//! `list_streams`: the cheapest look at what there is.

use pdpp_client::Request;
use serde_json::{Map, Value, json};

use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};
use crate::shown::shown;
use crate::text::{put, quoted};
use crate::tokens::{self, estimate, estimate_json};

pub(crate) const SPEC: Spec = Spec {
    name: "list_streams",
    title: "List PDPP streams",
    description: "Read-only. GET /v1/streams: the granted streams with sources and record counts.",
    params: &[Param::optional("connection_id", Kind::Name, "")],
    output: &["data", "provider_url", "request_id"],
    effect: Effect::Reads,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

/// The most streams described one by one.
const MAX_ROWS: usize = 50;

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let request = Request::get(["v1", "streams"]).maybe("connection_id", arguments.text("connection_id"));
    let reply = adapter.json(&request).await?;
    let rows = rows(&reply.body);
    let mut text = page(rows);
    let room = tokens::RESULT.saturating_sub(tokens::CONTENT + 100);
    let data = match shorter(&reply.body, rows, room) {
        None => shown(&reply.body),
        Some((data, omitted)) => {
            let note = format!(
                "\nstructured data shortened, streams_omitted={omitted}; narrow with list_streams(connection_id)"
            );
            text.push_str(&note);
            shown(&data)
        }
    };
    let mut structured = Map::new();
    structured.insert("data".to_owned(), data.value.clone());
    structured.insert("provider_url".to_owned(), adapter.provider_url().into());
    structured.insert("request_id".to_owned(), reply.request_id.into());
    data.report(&mut structured);
    Ok(Outcome::new(text, structured.into()))
}

/// The streams, in whichever envelope they came.
fn rows(body: &Value) -> &[Value] {
    let list =
        body.as_array().or_else(|| body.get("data")?.as_array()).or_else(|| body.get("streams")?.as_array());
    list.map_or(&[], Vec::as_slice)
}

fn page(rows: &[Value]) -> String {
    let mut text = format!("PDPP streams: {} stream(s)", rows.len());
    let mut left = tokens::CONTENT - 120;
    let mut shown = 0;
    for row in rows.iter().take(MAX_ROWS) {
        let line = line(row);
        let cost = estimate(&line) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        text.push('\n');
        text.push_str(&line);
        shown += 1;
    }
    if shown < rows.len() {
        let note = format!(
            "\nmore_streams={}; call schema() for all names, or list_streams(connection_id)",
            rows.len() - shown
        );
        text.push_str(&note);
    }
    text
}

fn line(row: &Value) -> String {
    let source = row.get("source");
    let member = |name: &str| {
        row.get(name).or_else(|| source?.get(name)).and_then(Value::as_str).filter(|value| !value.is_empty())
    };
    let name = row.as_str().or_else(|| member("name")).unwrap_or("");
    let mut line = format!("stream name={}", quoted(name, usize::MAX));
    if let Some(id) = member("connection_id").or_else(|| member("connector_instance_id")) {
        put(&mut line, " connection_id=", &quoted(id, usize::MAX));
    }
    if let Some(key) = member("connector_key").or_else(|| member("connector_id")) {
        put(&mut line, " connector_key=", &quoted(key, 60));
    }
    if let Some(label) = member("display_name") {
        put(&mut line, " display_name=", &quoted(label, 60));
    }
    if let Some(count) = row.get("record_count").and_then(Value::as_u64) {
        put(&mut line, " record_count=", &count.to_string());
    }
    line
}

/// A list too long for one result: identities and counts, as many as fit, and how many did not.
fn shorter(body: &Value, rows: &[Value], room: usize) -> Option<(Value, usize)> {
    const KEPT: [&str; 5] = ["name", "connection_id", "connector_key", "display_name", "record_count"];
    if estimate_json(body) <= room {
        return None;
    }
    let mut left = room.saturating_sub(40);
    let mut kept: Vec<Value> = Vec::new();
    for row in rows {
        let members = KEPT.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())));
        let row = if row.is_string() { row.clone() } else { members.collect::<Map<_, _>>().into() };
        let cost = estimate_json(&row) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        kept.push(row);
    }
    let omitted = rows.len() - kept.len();
    Some((json!({"object": "list", "data": kept, "streams_omitted": omitted}), omitted))
}
