//! What the event tools show. Only the call that makes a secret shows one: any other answer loses it here, even
//! when a server sends it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::adapter::Reply;
use crate::outcome::Outcome;
use crate::shown::{neutral, shown};
use crate::text::{handle, put, quoted};
use crate::tokens::{self, estimate, estimate_json};

const ROUTE_HINT: &str = "Changes arrive as events; read them with query_records and changes_since.";

/// The members every event result has.
pub(super) fn envelope(provider_url: &str, reply: &Reply, data: &Value) -> Map<String, Value> {
    let data = shown(data);
    let mut structured = Map::new();
    structured.insert("data".to_owned(), data.value.clone());
    structured.insert("provider_url".to_owned(), provider_url.into());
    structured.insert("request_id".to_owned(), reply.request_id.as_deref().into());
    structured.insert("http_status".to_owned(), reply.status.into());
    data.report(&mut structured);
    structured
}

/// A created or updated subscription, with its new secret if there is one.
pub(super) fn changed(tool: &str, provider_url: &str, reply: &Reply) -> Outcome {
    // An update nests the subscription beside the secret.
    let subscription = reply.body.get("subscription").filter(|it| it.is_object()).unwrap_or(&reply.body);
    let mut text = format!("{tool}: {}.", facts(subscription));
    if let Some(secret) = member(&reply.body, "secret").or_else(|| member(subscription, "secret")) {
        let note = format!(
            " one_time_secret={} (returned once — store it in the receiver now; it is sensitive and cannot be read again).",
            handle(secret)
        );
        text.push_str(&note);
    }
    text.push(' ');
    text.push_str(ROUTE_HINT);
    // A secret looks like binary content, and must arrive unchanged.
    let mut structured = envelope(provider_url, reply, &Value::Null);
    structured.insert("data".to_owned(), neutral(&reply.body).value);
    Outcome::new(text, structured.into())
}

/// One subscription.
pub(super) fn read(tool: &str, provider_url: &str, reply: &Reply) -> Outcome {
    let subscription = reply.body.get("subscription").filter(|it| it.is_object()).unwrap_or(&reply.body);
    let text = format!("{tool}: {}. {ROUTE_HINT}", facts(subscription));
    Outcome::new(text, envelope(provider_url, reply, &without_secrets(&reply.body)).into())
}

/// All subscriptions, one line each.
pub(super) fn list(provider_url: &str, reply: &Reply) -> Outcome {
    let body = without_secrets(&reply.body);
    let rows = body.as_array().or_else(|| body.get("data")?.as_array()).map_or(&[][..], Vec::as_slice);
    let mut text = format!(
        "list_event_subscriptions: {} subscription(s). Read one with get_event_subscription.",
        rows.len()
    );
    let mut left = tokens::CONTENT - 200;
    let mut lines = 0;
    for row in rows {
        let line = facts(row);
        let cost = estimate(&line) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        lines += 1;
        text.push('\n');
        text.push_str(&line);
    }
    if lines < rows.len() {
        put(&mut text, "\nmore_subscriptions=", &(rows.len() - lines).to_string());
    }
    let room = tokens::RESULT.saturating_sub(tokens::CONTENT + 100);
    let kept = shorter(rows, room);
    let data = match &kept {
        Some(kept) => {
            put(
                &mut text,
                "\nstructured data shortened, subscriptions_omitted=",
                &(rows.len() - kept.len()).to_string(),
            );
            Value::Object(Map::from_iter([("data".to_owned(), kept.clone().into())]))
        }
        None => body.clone(),
    };
    Outcome::new(text, envelope(provider_url, reply, &data).into())
}

/// The id and status of as many as fit, when the whole list does not.
fn shorter(rows: &[Value], room: usize) -> Option<Vec<Value>> {
    if rows.iter().map(estimate_json).sum::<usize>() <= room {
        return None;
    }
    let brief = |row: &Value| -> Value {
        let members = ["subscription_id", "id", "status"];
        members
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())))
            .collect::<Map<_, _>>()
            .into()
    };
    let mut left = room;
    let fits = |row: &Value| {
        let cost = estimate_json(row) + 1;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    };
    Some(rows.iter().map(brief).take_while(fits).collect())
}

pub(super) fn deleted(id: &str, provider_url: &str, reply: &Reply) -> Outcome {
    let text = format!(
        "delete_event_subscription: {} No Content. subscription_id={} is deleted; no more events are sent.",
        reply.status,
        handle(id)
    );
    Outcome::new(text, envelope(provider_url, reply, &without_secrets(&reply.body)).into())
}

pub(super) fn tested(id: &str, provider_url: &str, reply: &Reply) -> Outcome {
    let event = member(&reply.body, "event_id").map_or(Cow::Borrowed("unknown"), handle);
    let text = format!(
        "send_test_event: enqueued event_id={event}. See its delivery with get_event_subscription({{\"subscription_id\":{}}}).",
        Value::from(id)
    );
    Outcome::new(text, envelope(provider_url, reply, &without_secrets(&reply.body)).into())
}

/// Id, status and receiver of a subscription, in one line.
fn facts(subscription: &Value) -> String {
    let id = member(subscription, "subscription_id").or_else(|| member(subscription, "id"));
    let mut line = format!("subscription_id={}", id.map_or(Cow::Borrowed("unknown"), handle));
    if let Some(status) = member(subscription, "status") {
        put(&mut line, " status=", &crate::text::flag(status, 40));
    }
    if let Some(host) = member(subscription, "callback_url").and_then(host) {
        put(&mut line, " callback_host=", &quoted(host, 100));
    }
    let streams: Vec<String> = subscription
        .get("filters")
        .and_then(|filters| filters.get("streams"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(8)
        .map(|stream| quoted(stream, 200))
        .collect();
    if !streams.is_empty() {
        put(&mut line, " streams=", &streams.join("|"));
    }
    line
}

/// The host alone: paths and parameters of a callback often carry keys.
fn host(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then_some(host)
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "secret")
            .map(|(name, member)| (name.clone(), without_secrets(member)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_secrets).collect(),
        Value::String(text) if text.contains("whsec_") => "(secret left out)".into(),
        other => other.clone(),
    }
}
