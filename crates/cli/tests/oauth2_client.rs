//! The `oauth2` crate, a client we did not write, against the running server.
//!
//! It insists on `https` for revocation, so the server has a public address and the client reaches it as through a
//! proxy that ends TLS.

use std::cell::Cell;
use std::thread;

use oauth2::basic::{BasicClient, BasicErrorResponseType, BasicTokenResponse};
use oauth2::url::Url;
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, CsrfToken, DeviceAuthorizationUrl, EndpointNotSet, EndpointSet,
    HttpRequest, HttpResponse, PkceCodeChallenge, RedirectUrl, RequestTokenError, RevocationUrl,
    StandardDeviceAuthorizationResponse, StandardRevocableToken, SyncHttpClient, TokenResponse as _,
    TokenUrl,
};
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::support::{Pdpp, Server, text};

const PUBLIC: &str = "https://data.example.test";
const REDIRECT: &str = "https://app.test/cb";

type Client = BasicClient<EndpointSet, EndpointSet, EndpointNotSet, EndpointSet, EndpointSet>;

/// Ends TLS, one could say: what goes to the public address arrives at the listening one.
struct Proxy {
    agent: Agent,
    address: String,
}

impl SyncHttpClient for Proxy {
    type Error = ureq::Error;

    fn call(&self, request: HttpRequest) -> Result<HttpResponse, Self::Error> {
        assert!(request.uri().to_string().starts_with(PUBLIC), "{} is somewhere else", request.uri());
        let path = request.uri().path_and_query().unwrap();
        let mut there = Request::builder()
            .method(request.method())
            .uri(format!("http://{}{path}", self.address))
            .header("host", "data.example.test");
        there.headers_mut().unwrap().extend(request.headers().clone());
        let response = match request.method().as_str() {
            "GET" => self.agent.run(there.body(()).unwrap())?,
            _ => self.agent.run(there.body(request.into_body()).unwrap())?,
        };
        let (parts, mut body) = response.into_parts();
        Ok(Response::from_parts(parts, body.read_to_vec()?))
    }
}

impl Proxy {
    fn get(&self, url: &str, bearer: Option<&str>) -> HttpResponse {
        let request = Request::builder().uri(url).header("accept", "application/json");
        let request = match bearer {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        self.call(request.body(Vec::new()).unwrap()).unwrap()
    }

    fn post(&self, path: &str, bearer: Option<&str>, body: &Value) -> Value {
        let request = Request::builder()
            .method("POST")
            .uri(format!("{PUBLIC}{path}"))
            .header("content-type", "application/json");
        let request = match bearer {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        let response = self.call(request.body(body.to_string().into_bytes()).unwrap()).unwrap();
        assert!(response.status().is_success(), "{path}: {}", json_of(&response));
        json_of(&response)
    }
}

fn json_of(response: &HttpResponse) -> Value {
    serde_json::from_slice(response.body()).unwrap_or_default()
}

/// A server, its owner, and a registered client made from what the server says about itself.
struct Scene {
    proxy: Proxy,
    owner: String,
    client: Client,
    // The directory outlives the server that reads it.
    _server: Server,
    _pdpp: Pdpp,
}

impl Scene {
    fn new() -> Self {
        let pdpp = Pdpp::with_sample();
        let owner = pdpp.owner_token();
        let server =
            Server::start(pdpp.command(&["serve", "--listen", "127.0.0.1:0", "--public-url", PUBLIC]));
        let agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        let proxy = Proxy { agent, address: server.address().to_owned() };
        let metadata = json_of(&proxy.get(&format!("{PUBLIC}/.well-known/oauth-authorization-server"), None));
        assert_eq!(metadata["issuer"], PUBLIC);
        let registration = json!({
            "client_name": "The oauth2 crate", "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        });
        let registered = proxy.post("/oauth/register", None, &registration);
        let at = |endpoint: &str| text(&metadata[endpoint]);
        let client = BasicClient::new(ClientId::new(text(&registered["client_id"])))
            .set_auth_uri(AuthUrl::new(at("authorization_endpoint")).unwrap())
            .set_token_uri(TokenUrl::new(at("token_endpoint")).unwrap())
            .set_device_authorization_url(
                DeviceAuthorizationUrl::new(at("device_authorization_endpoint")).unwrap(),
            )
            .set_revocation_url(RevocationUrl::new(at("revocation_endpoint")).unwrap())
            .set_redirect_uri(RedirectUrl::new(REDIRECT.to_owned()).unwrap());
        Self { proxy, owner, client, _server: server, _pdpp: pdpp }
    }

    /// The owner approves exactly what the page shows.
    fn approve(&self, page: &str) -> Value {
        let shown = json_of(&self.proxy.get(page, Some(&self.owner)));
        let decision = json!({
            "approval_id": shown["approval_id"], "approval_review_revision": shown["approval_review_revision"],
        });
        self.proxy.post("/consent/approve", Some(&self.owner), &decision)
    }

    fn read(&self, tokens: &BasicTokenResponse) -> u16 {
        let records = format!("{PUBLIC}/v1/streams/messages/records?limit=1");
        self.proxy.get(&records, Some(tokens.access_token().secret())).status().as_u16()
    }

    /// Refreshes, ends the family with the newest token, and finds every token of it dead.
    fn refresh_and_revoke(&self, first: &BasicTokenResponse) {
        assert_eq!(self.read(first), 200);
        let refreshed =
            self.client.exchange_refresh_token(first.refresh_token().unwrap()).request(&self.proxy).unwrap();
        assert_ne!(refreshed.refresh_token().unwrap().secret(), first.refresh_token().unwrap().secret());
        assert_eq!(self.read(&refreshed), 200);
        let newest = refreshed.refresh_token().unwrap();
        let ended = StandardRevocableToken::RefreshToken(newest.clone());
        self.client.revoke_token(ended).unwrap().request(&self.proxy).unwrap();
        assert_eq!((self.read(first), self.read(&refreshed)), (401, 401));
        let refused = self.client.exchange_refresh_token(newest).request(&self.proxy).unwrap_err();
        let RequestTokenError::ServerResponse(answer) = refused else { panic!("{refused}") };
        assert_eq!(answer.error(), &BasicErrorResponseType::InvalidGrant);
    }
}

fn details() -> String {
    json!([{
        "type": "https://pdpp.dev/data-access",
        "source": { "id": "urn:pdpp:source:harbour-chat" },
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "purpose_description": "Find what was agreed",
        "access_mode": "continuous",
        "streams": [{ "name": "messages", "fields": ["author", "text", "sent_at"] }],
    }])
    .to_string()
}

#[test]
fn a_code_with_pkce_is_redeemed_refreshed_and_revoked() {
    let scene = Scene::new();
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state) = scene
        .client
        .authorize_url(CsrfToken::new_random)
        .set_pkce_challenge(challenge)
        .add_extra_param("resource", format!("{PUBLIC}/mcp"))
        .add_extra_param("authorization_details", details())
        .url();
    let to_page = scene.proxy.get(url.as_str(), None);
    assert_eq!(to_page.status().as_u16(), 303, "{}", json_of(&to_page));
    let approved = scene.approve(to_page.headers()["location"].to_str().unwrap());
    let back = Url::parse(&text(&approved["redirect_to"])).unwrap();
    assert!(back.as_str().starts_with(REDIRECT), "{back}");
    let of = |name: &str| back.query_pairs().find(|(own, _)| own == name).unwrap().1.into_owned();
    assert_eq!((of("state").as_str(), of("iss").as_str()), (state.secret().as_str(), PUBLIC));
    let tokens = scene
        .client
        .exchange_code(AuthorizationCode::new(of("code")))
        .set_pkce_verifier(verifier)
        .request(&scene.proxy)
        .unwrap();
    assert_eq!(tokens.expires_in().unwrap().as_secs(), 600);
    scene.refresh_and_revoke(&tokens);
}

/// The crate polls by itself, at the pace the server asks for.
#[test]
fn a_device_polls_until_the_owner_approves() {
    let scene = Scene::new();
    let started: StandardDeviceAuthorizationResponse = scene
        .client
        .exchange_device_code()
        .add_extra_param("resource", format!("{PUBLIC}/mcp"))
        .add_extra_param("authorization_details", details())
        .request(&scene.proxy)
        .unwrap();
    let page = format!("{PUBLIC}/consent?user_code={}", started.user_code().secret());
    let waited = Cell::new(0);
    let tokens = scene.client.exchange_device_access_token(&started).request(
        &scene.proxy,
        |pause| {
            if waited.replace(waited.get() + 1) == 0 {
                scene.approve(&page);
            }
            thread::sleep(pause);
        },
        None,
    );
    assert!(waited.get() > 0, "nothing is given before the owner has decided");
    scene.refresh_and_revoke(&tokens.unwrap());
}
