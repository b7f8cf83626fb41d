//! Grants as the owner sees them: a list, one whole, as JSON.

use std::fmt::Write as _;

use anyhow::Context as _;
use pdpp_auth::{GrantState, state_of_grant};
use pdpp_server::Personal;
use pdpp_store::StoredGrant;
use pdpp_wire::{AccessMode, Grant, GrantStream, Instant};
use serde_json::{Value, json};

use super::grant_id;
use crate::{holdings, terminal};

pub(super) async fn list(personal: &Personal, as_json: bool) -> anyhow::Result<()> {
    let grants = personal.authority().list(personal.subject()).await?;
    if as_json {
        let values: Vec<Value> = grants.iter().map(|grant| value(personal, grant)).collect();
        return terminal::json(&values);
    }
    let rows: Vec<[String; 6]> = grants.iter().map(|stored| row(personal, stored)).collect();
    terminal::table(["GRANT", "CLIENT", "STATE", "STREAMS", "EXPIRES", "LAST USED"], &rows)?;
    Ok(())
}

fn row(personal: &Personal, stored: &StoredGrant) -> [String; 6] {
    let state = state_name(state_of_grant(stored, personal.clock().now())).to_owned();
    let used = stored.last_used_at.map(Instant::to_rfc3339).unwrap_or_default();
    match Grant::parse(&stored.standing.document) {
        Ok(grant) => {
            let streams: Vec<&str> = grant.streams.iter().map(|stream| stream.name.as_str()).collect();
            let expires = grant.expires_at.unwrap_or_else(|| "never".to_owned());
            let client = grant.client.client_id.to_string();
            [stored.grant_id.to_string(), client, state, streams.join(","), expires, used]
        }
        Err(_) => [stored.grant_id.to_string(), String::new(), state, String::new(), String::new(), used],
    }
}

pub(super) async fn show(personal: &Personal, id: &str, as_json: bool) -> anyhow::Result<()> {
    let stored = personal.authority().find(personal.subject(), &grant_id(id)?).await?;
    let stored = stored.with_context(|| format!("there is no grant '{id}'; `pdpp grant list` shows all"))?;
    if as_json {
        return terminal::json(&value(personal, &stored));
    }
    let grant = Grant::parse(&stored.standing.document)?;
    let state = state_of_grant(&stored, personal.clock().now());
    let used = stored.last_used_at.map_or_else(|| "never".to_owned(), Instant::to_rfc3339);
    for (name, text) in [
        ("grant", grant.grant_id.to_string()),
        ("client", grant.client.client_id.to_string()),
        ("source", grant.source.id.clone()),
        ("purpose", grant.purpose_code.clone()),
        ("state", state_name(state).to_owned()),
        ("issued", grant.issued_at.clone()),
        ("expires", grant.expires_at.clone().unwrap_or_else(|| "never".to_owned())),
        ("used", used),
    ] {
        terminal::line(&format!("{name:<8} {text}"))?;
    }
    if grant.access_mode == AccessMode::SingleUse {
        terminal::line("mode     single use: it gives one token, once")?;
    }
    for stream in &grant.streams {
        terminal::line(&format!("reads    {}", describe(stream)))?;
    }
    if state == GrantState::Active {
        let catalogue = personal.store().catalogue(personal.subject()).await?;
        for held in holdings::opened_by(std::slice::from_ref(&grant), personal, &catalogue).await? {
            terminal::line(&format!(
                "opens    {} records of {}/{} today",
                held.records,
                held.label(),
                held.stream
            ))?;
        }
    }
    Ok(())
}

/// One stream of a grant, in a line.
pub(super) fn describe(stream: &GrantStream) -> String {
    let mut text = format!("{}: {}", stream.name, stream.fields.join(", "));
    if let Some(time) = &stream.time_constraint {
        let bound = |name: &str, at: &Option<String>| {
            at.as_ref().map(|at| format!(" {name} {at}")).unwrap_or_default()
        };
        text.push_str(&bound("since", &time.since));
        text.push_str(&bound("until", &time.until));
    }
    if let Some(keys) = &stream.resources {
        // Writing to a string does not fail.
        let _ = write!(text, ", {} records only", keys.len());
    }
    text
}

fn value(personal: &Personal, stored: &StoredGrant) -> Value {
    let document: Value = serde_json::from_str(&stored.standing.document).unwrap_or(Value::Null);
    json!({
        "grant_id": stored.grant_id, "state": state_name(state_of_grant(stored, personal.clock().now())),
        "revoked_at": stored.standing.revoked_at.map(Instant::to_rfc3339), "consumed": stored.consumed,
        "last_used_at": stored.last_used_at.map(Instant::to_rfc3339), "grant": document,
    })
}

fn state_name(state: GrantState) -> &'static str {
    match state {
        GrantState::Active => "active",
        GrantState::Expired => "expired",
        GrantState::Revoked => "revoked",
        GrantState::Invalid => "invalid",
    }
}
