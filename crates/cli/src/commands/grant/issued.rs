//! Shows a token, this once, and what to do with it.

use pdpp_auth::Issued;
use pdpp_wire::{AccessMode, Instant};
use serde_json::json;

use super::shown::describe;
use crate::terminal;

/// `data` is what follows a command that runs elsewhere on the same data.
pub(super) fn print(issued: &Issued, as_json: bool, data: &str) -> anyhow::Result<()> {
    let expires_at = issued.expires_at.map(Instant::to_rfc3339);
    if as_json {
        let mut value = json!({
            "grants": issued.grants, "access_token": issued.access_token.reveal(), "token_id": issued.token_id,
            "client_id": issued.grants.first().map(|grant| &grant.client.client_id), "expires_at": expires_at,
        });
        if let [grant] = issued.grants.as_slice() {
            value["grant_id"] = json!(grant.grant_id);
        }
        return terminal::json(&value);
    }
    for grant in &issued.grants {
        terminal::line(&format!("grant {} for {}", grant.grant_id, grant.client.client_id))?;
        for stream in &grant.streams {
            terminal::line(&format!("  {}", describe(stream)))?;
        }
    }
    terminal::line(&format!("token {}", issued.access_token.reveal()))?;
    let until = expires_at.unwrap_or_else(|| "you revoke it".to_owned());
    terminal::note(&format!("The token is shown only this once. It works until {until}."));
    if issued.grants.iter().all(|grant| grant.access_mode == AccessMode::Continuous) {
        let named: Vec<String> =
            issued.grants.iter().map(|grant| format!("--grant {}", grant.grant_id)).collect();
        let command = format!("pdpp mcp {}{data}", named.join(" "));
        terminal::note(&format!("An assistant on this machine starts: {command}   (no token, no server)"));
    }
    terminal::note("A client over HTTP: `pdpp serve`, then the token and http://127.0.0.1:7663");
    Ok(())
}
