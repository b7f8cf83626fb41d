//! The owner of a sample server: approves what a client asks, as the consent pages do, through the same routes.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::{http, process};

/// Decides with an owner token of the server's data directory.
#[derive(Debug)]
pub(crate) struct Owner {
    url: String,
    token: String,
}

impl Owner {
    pub(crate) fn of(pdpp: &Path, data: &Path, url: &str) -> Result<Self> {
        let mut command = Command::new(pdpp);
        let printed = process::capture(command.args(["owner", "token", "--data"]).arg(data))?;
        Ok(Self { url: url.to_owned(), token: printed.trim().to_owned() })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Goes where the client sends the browser and approves; gives the address that leads back to the client. A
    /// request that leaves the choice open is given everything there is.
    pub(crate) fn approve(&self, authorize_url: &str) -> Result<String> {
        let asked = http::get(authorize_url, None)?;
        let Some(page) = asked.location.filter(|_| asked.status == 303) else {
            bail!("the authorization endpoint answered {}: {}", asked.status, asked.body);
        };
        let shown = http::get(&page, Some(&self.token))?;
        let mut decision = json!({
            "approval_id": shown.text("approval_id")?,
            "approval_review_revision": shown.text("approval_review_revision")?,
        });
        if let Some(offered) = shown.body.pointer("/approval_review/picker/sources").and_then(Value::as_array)
        {
            decision["narrowing"] = json!({ "choices": offered.iter().map(everything).collect::<Vec<_>>() });
        }
        let approved = http::post(&format!("{}/consent/approve", self.url), Some(&self.token), &decision)?;
        approved.text("redirect_to").context("the approval leads nowhere")
    }
}

fn everything(source: &Value) -> Value {
    let streams = source["streams"].as_array().into_iter().flatten();
    json!({
        "type": "https://pdpp.dev/data-access",
        "source": source["source"],
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "purpose_description": "Answer the owner's questions",
        "access_mode": "continuous",
        "streams": streams.map(|stream| json!({ "name": stream["name"] })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_every_stream_of_the_source() {
        let source = json!({"source": {"id": "urn:x"}, "streams": [{"name": "a"}, {"name": "b"}]});
        let choice = everything(&source);
        assert_eq!(choice["source"]["id"], "urn:x");
        assert_eq!(choice["streams"], json!([{"name": "a"}, {"name": "b"}]));
    }
}
