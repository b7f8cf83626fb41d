//! HTTP as a client, an owner or a browser speaks it to a server of our own; redirects are not followed.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

const PATIENCE: Duration = Duration::from_secs(30);

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    /// As JSON; `null` where it is none.
    pub(crate) body: Value,
}

impl Answer {
    /// A member that must be text, of an answer that must be a success.
    pub(crate) fn text(&self, member: &str) -> Result<String> {
        if !(200..300).contains(&self.status) {
            bail!("answered {}: {}", self.status, self.body);
        }
        let value = self.body.get(member).and_then(Value::as_str);
        Ok(value.with_context(|| format!("the answer holds no `{member}`: {}", self.body))?.to_owned())
    }
}

pub(crate) fn get(url: &str, bearer: Option<&str>) -> Result<Answer> {
    send("GET", url, bearer, None)
}

pub(crate) fn post(url: &str, bearer: Option<&str>, body: &Value) -> Result<Answer> {
    send("POST", url, bearer, Some(body))
}

fn send(method: &str, url: &str, bearer: Option<&str>, body: Option<&Value>) -> Result<Answer> {
    let mut request = Request::builder().method(method).uri(url).header("accept", "application/json");
    if let Some(token) = bearer {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(PATIENCE))
        .build()
        .into();
    // The query may hold what somebody else could redeem.
    let place = url.split('?').next().unwrap_or_default();
    let response = match body {
        Some(body) => agent.run(request.body(body.to_string())?),
        None => agent.run(request.body(())?),
    };
    let mut response = response.with_context(|| format!("{method} {place} was not answered"))?;
    let text =
        response.body_mut().read_to_string().with_context(|| format!("{place} did not answer text"))?;
    let location = response.headers().get("location").and_then(|value| value.to_str().ok());
    Ok(Answer {
        status: response.status().as_u16(),
        location: location.map(str::to_owned),
        body: serde_json::from_str(&text).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_is_read_from_a_success_only() {
        let answer = |status| Answer { status, location: None, body: json!({"a": "b"}) };
        assert_eq!(answer(201).text("a").unwrap(), "b");
        assert!(answer(201).text("c").is_err());
        assert!(answer(403).text("a").unwrap_err().to_string().contains("403"));
    }
}
