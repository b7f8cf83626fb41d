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
    path: &Path,
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
            "renewable": grant.refresh_token.is_some(), "path": path, "streams": granted,
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
    terminal::line("Next:")?;
    terminal::line(&format!("  pdpp read search {url} 'what you look for'"))?;
    terminal::line(&format!("  pdpp read streams {url}"))?;
    terminal::line(&format!("  pdpp mcp --provider-url {url}        (for an assistant)"))?;
    terminal::line(&format!("  pdpp disconnect {url}"))?;
    Ok(())
}

/// The granted streams with their granted fields.
fn streams(schema: &Value) -> Vec<(String, Vec<String>)> {
    let list =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found = Vec::new();
    for connector in list(schema, "connectors") {
        for stream in list(&connector, "streams") {
            let name = stream.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let fields = stream.get("field_capabilities").and_then(Value::as_object);
            let granted = |flags: &Value| {
                !flags.as_str().is_some_and(|flags| flags.split(',').any(|flag| flag == "g=false"))
            };
            let fields = fields
                .into_iter()
                .flatten()
                .filter(|(_, flags)| granted(flags))
                .map(|(name, _)| name.clone())
                .collect();
            found.push((name, fields));
        }
    }
    found
}
