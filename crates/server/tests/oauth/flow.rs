//! The steps of the flows, each as a client or an owner would take it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::desk::{Answer, Desk, encoded, query_of};

pub(crate) const REDIRECT: &str = "https://app.test/cb";
pub(crate) const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-0123456789";
pub(crate) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

pub(crate) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// Titles and bodies of the notebook.
pub(crate) fn notes(mode: &str) -> Value {
    json!([{
        "type": "https://pdpp.dev/data-access",
        "source": { "id": "urn:pdpp:source:notes" },
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "purpose_description": "Answer questions about my notes",
        "access_mode": mode,
        "streams": [{ "name": "notes", "fields": ["title", "body", "updated_at"] }],
    }])
}

/// What the token endpoint gave.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    pub(crate) grant_id: String,
    pub(crate) client_id: String,
}

impl Tokens {
    pub(crate) fn of(answer: &Answer, client_id: &str) -> Self {
        Self {
            access: answer.text("access_token"),
            refresh: answer.body["refresh_token"].as_str().map(str::to_owned),
            grant_id: answer.body["grant_id"].as_str().unwrap_or_default().to_owned(),
            client_id: client_id.to_owned(),
        }
    }

    pub(crate) fn refresh(&self) -> &str {
        self.refresh.as_deref().unwrap()
    }
}

impl Desk {
    pub(crate) async fn register(&self) -> String {
        let body = json!({ "client_name": "Test App", "redirect_uris": [REDIRECT] });
        self.json("/oauth/register", None, &body).await.expect("201 ok").text("client_id")
    }

    pub(crate) fn authorize_path(
        &self,
        client_id: &str,
        details: Option<&Value>,
        more: &[(&str, &str)],
    ) -> String {
        let (challenge, resource) = (challenge(VERIFIER), format!("{}/mcp", self.issuer));
        let details = details.map(Value::to_string);
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", client_id),
            ("redirect_uri", REDIRECT),
            ("state", "st/1 ?"),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
            ("resource", resource.as_str()),
        ];
        pairs.extend(details.as_deref().map(|details| ("authorization_details", details)));
        for (name, value) in more {
            pairs.retain(|(known, _)| known != name);
            pairs.push((name, value));
        }
        pairs.retain(|(_, value)| !value.is_empty());
        format!("/oauth/authorize?{}", encoded(&pairs))
    }

    /// Goes to the authorization endpoint; gives the handle of the consent page.
    pub(crate) async fn ask(&self, client_id: &str, details: Option<&Value>) -> String {
        let answer = self.get(&self.authorize_path(client_id, details, &[]), None).await;
        assert_eq!(answer.status, 303, "{:#}", answer.body);
        let location = answer.header("location");
        assert!(location.starts_with(&format!("{}/consent?request_uri=", self.issuer)), "{location}");
        query_of(location)["request_uri"].clone()
    }

    pub(crate) async fn show(&self, request_uri: &str) -> Answer {
        let path = format!("/consent?{}", encoded(&[("request_uri", request_uri)]));
        self.get(&path, Some(&self.owner)).await
    }

    pub(crate) async fn decide(&self, what: &str, body: &Value) -> Answer {
        self.json(&format!("/consent/{what}"), Some(&self.owner), body).await
    }

    /// Approves exactly what is shown; gives the answer.
    pub(crate) async fn approve(&self, request_uri: &str) -> Answer {
        let revision = self.show(request_uri).await.expect("200 ok").text("approval_review_revision");
        let body = json!({ "request_uri": request_uri, "approval_review_revision": revision });
        self.decide("approve", &body).await
    }

    /// Asks and approves; gives the code.
    pub(crate) async fn code(&self, client_id: &str, details: &Value) -> String {
        let request_uri = self.ask(client_id, Some(details)).await;
        let approved = self.approve(&request_uri).await.expect("200 ok");
        let back = query_of(&approved.text("redirect_to"));
        assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("st/1 ?", self.issuer.as_str()));
        back["code"].clone()
    }

    pub(crate) async fn redeem(&self, client_id: &str, code: &str, more: &[(&str, &str)]) -> Answer {
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", client_id),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        for (name, value) in more {
            pairs.retain(|(known, _)| known != name);
            pairs.push((name, value));
        }
        pairs.retain(|(_, value)| !value.is_empty());
        self.form("/oauth/token", &pairs).await
    }

    /// The whole code flow.
    pub(crate) async fn connect(&self, details: &Value) -> Tokens {
        let client_id = self.register().await;
        let code = self.code(&client_id, details).await;
        let answer = self.redeem(&client_id, &code, &[]).await.expect("200 ok");
        Tokens::of(&answer, &client_id)
    }

    pub(crate) async fn refresh(&self, client_id: &str, token: &str) -> Answer {
        let pairs = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client_id)];
        self.form("/oauth/token", &pairs).await
    }

    /// Pushes JSON; gives the requester's handle and the address the owner is shown.
    pub(crate) async fn push(&self, client_id: &str, details: &Value) -> (String, String) {
        let body = json!({ "client_id": client_id, "authorization_details": details });
        let answer = self.json("/oauth/par", None, &body).await.expect("201 ok");
        (answer.text("request_uri"), answer.text("authorization_url"))
    }
}
