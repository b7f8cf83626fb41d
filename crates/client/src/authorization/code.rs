//! The code flow: a request is pushed, the owner's browser goes to the server and comes back to this machine with a
//! code, and the code becomes a grant. PKCE binds the code to us, `state` the answer to the question, `iss` the answer
//! to the server.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_evidence::percent_decode;
use pdpp_wire::Instant;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{ClientRegistration, ConnectError, Grant, ServerMetadata, web};
use crate::ProviderUrl;

/// A request that waits for the owner's browser.
pub struct CodeRequest {
    redirect_uri: String,
    state: String,
    verifier: String,
    authorization_url: String,
}

impl fmt::Debug for CodeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeRequest").field("redirect_uri", &self.redirect_uri).finish_non_exhaustive()
    }
}

/// What the browser brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Returned {
    /// A code for this request.
    Code(String),
    /// Not an answer to this request; whoever sent it, the right one may still come.
    Foreign,
}

impl CodeRequest {
    /// Pushes the request, or writes it into the address where nothing can be pushed. `port` is where this machine
    /// listens, and `entropy` what nobody can guess.
    pub async fn start(
        server: &ServerMetadata,
        client: &ClientRegistration,
        provider_url: &ProviderUrl,
        details: Option<&Value>,
        port: u16,
        entropy: &[u8; 64],
    ) -> Result<Self, ConnectError> {
        let missing =
            || ConnectError::NotSupported(format!("{} has no authorization endpoint", server.issuer));
        let endpoint = server.authorization_endpoint.as_deref().ok_or_else(missing)?;
        let redirect_uri = format!("http://127.0.0.1:{port}/callback");
        let (state, verifier) =
            (URL_SAFE_NO_PAD.encode(&entropy[..32]), URL_SAFE_NO_PAD.encode(&entropy[32..]));
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let details = details.map(Value::to_string);
        let mut form = vec![
            ("client_id", client.client_id.as_str()),
            ("response_type", "code"),
            ("redirect_uri", &redirect_uri),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", provider_url.as_str()),
        ];
        form.extend(details.as_deref().map(|details| ("authorization_details", details)));
        let query = match &server.pushed_endpoint {
            None => web::encoded(&form),
            Some(pushed) => {
                let answer = web::post(pushed, &form).await?.success()?;
                let uri = answer.get("request_uri").and_then(Value::as_str);
                let uri =
                    uri.ok_or_else(|| ConnectError::Contract("the pushed request has no name".to_owned()))?;
                web::encoded(&[("client_id", &client.client_id), ("request_uri", uri)])
            }
        };
        let joint = if endpoint.contains('?') { '&' } else { '?' };
        let authorization_url = format!("{endpoint}{joint}{query}");
        Ok(Self { redirect_uri, state, verifier, authorization_url })
    }

    /// Where the owner's browser goes.
    pub fn authorization_url(&self) -> &str {
        &self.authorization_url
    }

    /// Reads the query the browser came back with. Only an answer to this request, by this server, counts; a refusal
    /// that is one ends the wait.
    pub fn returned(&self, server: &ServerMetadata, query: &str) -> Result<Returned, ConnectError> {
        let members: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .filter_map(|(name, value)| {
                Some((percent_decode(name)?, percent_decode(&value.replace('+', " "))?))
            })
            .collect();
        let member = |wanted: &str| {
            let mut found =
                members.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
            // Said twice, it could mean either.
            found.next().filter(|_| found.next().is_none())
        };
        if member("state") != Some(&self.state) {
            return Ok(Returned::Foreign);
        }
        match member("iss") {
            Some(iss) if iss != server.issuer => {
                return Err(ConnectError::Contract(format!(
                    "the answer says that it comes from '{iss}' and not from {}; it was not used",
                    server.issuer
                )));
            }
            None if server.names_itself => {
                let message = "the answer does not say which server it comes from; it was not used";
                return Err(ConnectError::Contract(message.to_owned()));
            }
            _ => {}
        }
        match (member("error"), member("code")) {
            (Some("access_denied"), _) => Err(ConnectError::Denied),
            (Some(code), _) => Err(ConnectError::Refused {
                code: code.to_owned(),
                message: member("error_description").unwrap_or("the server refused").to_owned(),
            }),
            (None, Some(code)) => Ok(Returned::Code(code.to_owned())),
            (None, None) => Err(ConnectError::Contract("the answer holds no code".to_owned())),
        }
    }

    /// Turns the code into a grant.
    pub async fn redeem(
        &self,
        server: &ServerMetadata,
        client: &ClientRegistration,
        code: &str,
        now: Instant,
    ) -> Result<Grant, ConnectError> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &client.client_id),
            ("redirect_uri", &self.redirect_uri),
            ("code_verifier", &self.verifier),
        ];
        Grant::read(&web::post(&server.token_endpoint, &form).await?.success()?, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> ServerMetadata {
        ServerMetadata {
            issuer: "https://as.example".to_owned(),
            authorization_endpoint: Some("https://as.example/authorize".to_owned()),
            token_endpoint: "https://as.example/token".to_owned(),
            pushed_endpoint: None,
            device_endpoint: None,
            registration_endpoint: None,
            revocation_endpoint: None,
            names_itself: true,
            public_client: None,
        }
    }

    async fn request() -> CodeRequest {
        let client = ClientRegistration { client_id: "cli_1".to_owned(), client_name: String::new() };
        let provider = ProviderUrl::parse("https://data.example").unwrap();
        let mut entropy = [7; 64];
        entropy[32..].fill(8);
        CodeRequest::start(&server(), &client, &provider, None, 4711, &entropy).await.unwrap()
    }

    #[tokio::test]
    async fn the_address_binds_the_request_to_us() {
        let request = request().await;
        let url = request.authorization_url();
        assert!(url.starts_with("https://as.example/authorize?client_id=cli_1&response_type=code"), "{url}");
        assert!(url.contains("code_challenge_method=S256") && !url.contains(&request.verifier), "{url}");
        assert!(url.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback"), "{url}");
    }

    #[tokio::test]
    async fn only_an_answer_to_this_request_by_this_server_counts() {
        let request = request().await;
        let state = request.state.clone();
        let check = |query: String| request.returned(&server(), &query);
        let iss = "iss=https%3A%2F%2Fas.example";
        assert_eq!(check(format!("code=c&state={state}&{iss}")), Ok(Returned::Code("c".to_owned())));
        assert_eq!(check(format!("code=c&state=other&{iss}")), Ok(Returned::Foreign));
        assert_eq!(check(format!("code=c&state={state}&state=x&{iss}")), Ok(Returned::Foreign));
        assert_eq!(check("code=c".to_owned()), Ok(Returned::Foreign));
        assert!(matches!(check(format!("code=c&state={state}")), Err(ConnectError::Contract(_))));
        let other = format!("code=c&state={state}&iss=https%3A%2F%2Fevil.example");
        assert!(matches!(check(other), Err(ConnectError::Contract(_))));
        assert_eq!(check(format!("error=access_denied&state={state}&{iss}")), Err(ConnectError::Denied));
        assert!(matches!(check(format!("state={state}&{iss}")), Err(ConnectError::Contract(_))));
    }
}
