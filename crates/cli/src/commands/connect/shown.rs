//! What a person, or a program, is told after connecting: what may be read now, and how.

use std::path::Path;

use pdpp_client::ProviderUrl;
use pdpp_client::authorization::{ClientRegistration, Grant, ServerMetadata};
use pdpp_wire::Instant;
use serde_json::{Value, json};

use crate::terminal;

pub(super) fn connected(
    url: &ProviderUrl,
    server: &ServerMetadata,
    client: &ClientRegistration,
    grant: &Grant,
    schema: &Value,
    (path, ends_at): (&Path, Option<Instant>),
    as_json: bool,
) -> anyhow::Result<()> {
    let streams = streams(schema);
    let ends = schema.pointer("/bearer/expires_at").and_then(Value::as_str);
    if as_json {
        let granted: Vec<Value> =
            streams.iter().map(|(name, fields)| json!({"name": name, "fields": fields})).collect();
        return terminal::json(&json!({
            "provider_url": url.as_str(), "authorization_server": server.issuer, "client_id": client.client_id,
            "grant_id": grant.grant_id, "grant_expires_at": ends,
            "token_expires_at": grant.expires_at.map(Instant::to_rfc3339),
            "renewable": grant.refresh_token.is_some(), "used_until": ends_at.map(Instant::to_rfc3339),
            "path": path, "streams": granted,
        }));
    }
    let name = grant.grant_id.as_deref().map(|id| format!(" under {id}")).unwrap_or_default();
    terminal::line(&format!("Connected to {url}{name}"))?;
    terminal::line(&format!("The credential is in {}, for you alone to read", path.display()))?;
    let until = ends.map(|at| format!(" until {at}")).unwrap_or_default();
    terminal::line(&format!("You may now read{until}:"))?;
    for (name, fields) in &streams {
        terminal::line(&format!("  {name}: {}", fields.join(", ")))?;
    }
    if grant.refresh_token.is_none() {
        let end = grant.expires_at.map_or_else(|| "the owner revokes it".to_owned(), Instant::to_rfc3339);
        terminal::line(&format!("It is not renewed: it works until {end}"))?;
    }
    if let Some(at) = ends_at {
        terminal::line(&format!("As you asked, it is not used here after {}", at.to_rfc3339()))?;
    }
    terminal::line("Next:")?;
    terminal::line(&format!("  pdpp read search {url} 'what you look for'"))?;
    terminal::line(&format!("  pdpp read streams {url}"))?;
    terminal::line(&format!("  pdpp mcp --provider-url {url}        (for an assistant)"))?;
    terminal::line(&format!("  pdpp disconnect {url}"))?;
    Ok(())
}

/// The granted streams of all connectors.
fn streams(schema: &Value) -> Vec<(String, Vec<String>)> {
    let connectors = schema.get("connectors").and_then(Value::as_array);
    connectors.into_iter().flatten().flat_map(granted_streams).collect()
}

/// The granted streams of one connector, with their granted fields.
pub(super) fn granted_streams(connector: &Value) -> Vec<(String, Vec<String>)> {
    let is_granted =
        |flags: &Value| !flags.as_str().is_some_and(|flags| flags.split(',').any(|flag| flag == "g=false"));
    let streams = connector.get("streams").and_then(Value::as_array);
    let described = streams.into_iter().flatten().map(|stream| {
        let name = stream.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let fields = stream.get("field_capabilities").and_then(Value::as_object).into_iter().flatten();
        (name, fields.filter(|(_, flags)| is_granted(flags)).map(|(name, _)| name.clone()).collect())
    });
    described.collect()
}
