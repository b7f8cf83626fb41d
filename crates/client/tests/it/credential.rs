//! Credential files: found, refused, read again, renewed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_client::{
    BearerSource as _, CacheRoots, CachedCredential, Client, CredentialError, Limits, Now, ProviderUrl,
    Request,
};
use pdpp_wire::{Code, Instant};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Act, Server};

fn now() -> Now {
    Arc::new(|| Instant::parse("2026-03-01T12:00:00Z").unwrap())
}

/// A cache with one server's file in it.
struct Cache {
    folder: TempDir,
    url: ProviderUrl,
}

impl Cache {
    fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("clients")).unwrap();
        Self { folder, url: ProviderUrl::parse(url).unwrap() }
    }

    fn roots(&self) -> CacheRoots {
        CacheRoots::only(self.folder.path().to_owned())
    }

    fn file(&self) -> PathBuf {
        self.roots().file(&self.url)
    }

    fn write(&self, document: &Value) {
        std::fs::write(self.file(), document.to_string()).unwrap();
    }

    fn credential(&self, credential: Value) {
        self.write(&json!({"provider_url": self.url.as_str(), "credential": credential}));
    }

    fn open(&self) -> Result<CachedCredential, CredentialError> {
        CachedCredential::open(&self.url, &self.roots(), now())
    }

    #[track_caller]
    fn refused(&self) -> (Code, String) {
        let error = self.open().unwrap_err();
        (error.code(), error.to_string())
    }

    fn client(&self) -> Client {
        Client::http(&self.url, Arc::new(self.open().unwrap()), Limits::default()).unwrap()
    }
}

async fn token(path: &Path, url: &str) -> Option<String> {
    let roots = CacheRoots::only(path.to_owned());
    let found = CachedCredential::open(&ProviderUrl::parse(url).unwrap(), &roots, now()).ok()?;
    Some(found.bearer().await.unwrap().expose().to_owned())
}

#[tokio::test]
async fn a_credential_is_found_under_either_name() {
    let cache = Cache::new("https://data.example");
    let older = cache.folder.path().join("clients/data.example.json");
    std::fs::write(&older, r#"{"credential": {"access_token": "older"}}"#).unwrap();
    let root = cache.folder.path();
    assert_eq!(token(root, "https://data.example").await.as_deref(), Some("older"));
    std::fs::write(
        &older,
        r#"{"provider_url": "https://data.example/a/", "credential": {"access_token": "of a"}}"#,
    )
    .unwrap();
    assert_eq!(token(root, "https://data.example").await, None, "it is another server's");
    assert_eq!(token(root, "https://data.example/a").await.as_deref(), Some("of a"));
    cache.credential(json!({"access_token": "current"}));
    assert_eq!(token(root, "https://data.example").await.as_deref(), Some("current"));
}

#[tokio::test]
async fn the_fallback_is_read_when_the_first_directory_has_nothing() {
    let (empty, full) = (tempfile::tempdir().unwrap(), Cache::new("https://data.example"));
    full.credential(json!({"access_token": "there"}));
    let roots = CacheRoots::with_fallback(empty.path().to_owned(), full.folder.path().to_owned());
    let found = CachedCredential::open(&full.url, &roots, now()).unwrap();
    assert_eq!(found.path(), full.file());
}

#[test]
fn what_cannot_be_used_says_why_and_what_to_do() {
    let cache = Cache::new("https://data.example");
    let (code, said) = cache.refused();
    assert_eq!(code, Code::NotConnected);
    assert!(said.contains("No scoped PDPP credential"), "{said}");
    assert!(said.contains("pdpp connect https://data.example"), "{said}");
    for (text, expected) in [
        (r#"{"access_token": "secret-1""#, Code::CredentialInvalid),
        (r#"{"credential": {"token_type": "secret-1"}}"#, Code::CredentialInvalid),
        (r#"{"credential": {"access_token": " "}}"#, Code::CredentialInvalid),
        (r#"{"credential": {"access_token": 7}}"#, Code::CredentialInvalid),
        ("[1]", Code::CredentialInvalid),
        (
            r#"{"credential": {"access_token": "secret-1", "expires_at": "2026-03-01T12:00:00Z"}}"#,
            Code::CredentialExpired,
        ),
    ] {
        std::fs::write(cache.file(), text).unwrap();
        let (code, said) = cache.refused();
        assert_eq!(code, expected, "{text}");
        assert!(said.contains("pdpp connect https://data.example") && !said.contains("secret-1"), "{said}");
    }
    cache.credential(json!({"access_token": "a", "expires_at": "2026-03-01T12:00:01Z"}));
    assert!(cache.open().is_ok());
    cache.credential(json!({"access_token": "a", "expires_at": "some day"}));
    assert!(cache.open().is_ok(), "what is no time is no end");
}

/// S3-R1: an owner's authority is never used, whatever marks it.
#[test]
fn an_owner_credential_is_refused() {
    let cache = Cache::new("https://data.example");
    for marker in ["pdpp_token_kind", "token_kind", "kind", "role"] {
        let mut credential = json!({"access_token": "secret-1"});
        credential[marker] = json!("Owner");
        cache.credential(credential);
        let (code, said) = cache.refused();
        assert!(code == Code::OwnerTokenRefused && !said.contains("secret-1"), "{marker}: {said}");
    }
    cache.write(&json!({"pdpp_token_kind": "owner", "credential": {"access_token": "a"}}));
    assert_eq!(cache.refused().0, Code::OwnerTokenRefused);
    cache.credential(json!({"access_token": "a", "pdpp_token_kind": "client"}));
    assert!(cache.open().is_ok());
}

fn accepts(good: &'static str) -> impl Fn(usize, &str) -> Act + Send + Sync {
    move |_, request| {
        if request.starts_with("POST /token ") {
            let body = json!({"access_token": good, "token_type": "Bearer", "expires_in": 60, "refresh_token": "r2"});
            return Act::ok(body.to_string());
        }
        let welcome = request.contains(&format!("authorization: Bearer {good}\r\n"));
        if welcome { Act::ok("[]") } else { Act::Answer("401 Unauthorized", String::new()) }
    }
}

#[tokio::test]
async fn a_refused_token_is_read_again_once() {
    let server = Server::start(accepts("new")).await;
    let cache = Cache::new(&server.url);
    cache.credential(json!({"access_token": "old"}));
    let client = cache.client();
    let streams = Request::get(["v1", "streams"]);
    assert_eq!(client.send(&streams).await.unwrap().status, 401);
    assert_eq!(server.requests().len(), 1, "there was no newer token to try");
    cache.credential(json!({"access_token": "new"}));
    assert_eq!(client.send(&streams).await.unwrap().status, 200);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_file_that_became_an_owners_is_not_sent() {
    let server = Server::start(accepts("owner-of-all")).await;
    let cache = Cache::new(&server.url);
    cache.credential(json!({"access_token": "old"}));
    let client = cache.client();
    cache.credential(json!({"access_token": "owner-of-all", "kind": "owner"}));
    assert_eq!(client.send(&Request::get(["v1", "streams"])).await.unwrap().status, 401);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_refused_token_is_renewed_and_kept() {
    let server = Server::start(accepts("new")).await;
    let cache = Cache::new(&server.url);
    cache.write(&json!({
        "provider_url": server.url, "scope": "pdpp:read", "client": {"client_id": "c 1"},
        "credential": {
            "access_token": "old", "refresh_token": "r1", "token_endpoint": format!("{}/token", server.url),
        },
    }));
    let client = cache.client();
    assert_eq!(client.send(&Request::get(["v1", "streams"])).await.unwrap().status, 200);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests[1].ends_with("grant_type=refresh_token&refresh_token=r1&client_id=c%201"),
        "{requests:?}"
    );
    assert!(!requests[1].contains("authorization:"), "{requests:?}");
    let kept: Value = serde_json::from_slice(&std::fs::read(cache.file()).unwrap()).unwrap();
    assert_eq!(kept["credential"]["access_token"], "new");
    assert_eq!(kept["credential"]["refresh_token"], "r2");
    assert_eq!(kept["credential"]["expires_at"], "2026-03-01T12:01:00.000Z");
    assert_eq!(kept["scope"], "pdpp:read");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(cache.file()).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(cache.file().parent().unwrap()).unwrap().count(), 1, "nothing is left over");
}

#[tokio::test]
async fn calls_side_by_side_renew_once() {
    let server = Server::start(accepts("new")).await;
    let cache = Cache::new(&server.url);
    let endpoint = format!("{}/token", server.url);
    cache.credential(json!({"access_token": "old", "refresh_token": "r1", "token_endpoint": endpoint}));
    let client = cache.client();
    let calls = (0..8).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.send(&Request::get(["v1", "streams"])).await.unwrap().status })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(server.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);
}

#[tokio::test]
async fn an_expired_token_is_renewed_before_it_is_sent() {
    let server = Server::start(accepts("new")).await;
    let cache = Cache::new(&server.url);
    cache.credential(json!({
        "access_token": "old", "expires_at": "2026-02-01", "refresh_token": "r1",
        "token_endpoint": format!("{}/token", server.url),
    }));
    assert_eq!(cache.client().send(&Request::get(["v1", "streams"])).await.unwrap().status, 200);
    assert!(server.requests().iter().all(|request| !request.contains("Bearer old")));
}

#[tokio::test]
async fn a_failed_renewal_leaves_the_refusal_and_the_file() {
    for (answer, status) in [
        (r#"{"access_token": "all", "pdpp_token_kind": "owner"}"#, "200 OK"),
        (r#"{"error": "invalid_grant"}"#, "400 Bad Request"),
        ("<html>", "200 OK"),
        (r#"{"access_token": "x", "token_type": "mac"}"#, "200 OK"),
    ] {
        let script = move |_, request: &str| {
            if request.starts_with("POST") {
                return Act::Answer(status, answer.to_owned());
            }
            Act::Answer("401 Unauthorized", String::new())
        };
        let server = Server::start(script).await;
        let cache = Cache::new(&server.url);
        let endpoint = format!("{}/token", server.url);
        cache.credential(json!({"access_token": "old", "refresh_token": "r1", "token_endpoint": endpoint}));
        let before = std::fs::read(cache.file()).unwrap();
        assert_eq!(cache.client().send(&Request::get(["v1", "streams"])).await.unwrap().status, 401);
        assert_eq!(std::fs::read(cache.file()).unwrap(), before);
        assert_eq!(server.requests().len(), 2, "no other credential, no third try");
    }
}

#[test]
fn a_credential_never_shows_its_token() {
    let cache = Cache::new("https://data.example");
    cache.credential(json!({"access_token": "secret-1", "refresh_token": "secret-2"}));
    let shown = format!("{:?}", cache.open().unwrap());
    assert!(!shown.contains("secret"), "{shown}");
}
