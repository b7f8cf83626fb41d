//! One node: a store, and the routes over it.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_api::{ApiLimits, ApiSettings};
use pdpp_server::{
    BlobsConfig, ConfigFile, DEFAULT_PARTITIONS, DatabaseConfig, DatabaseUrl, Personal, StoreConfig, migrate,
};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) struct Node {
    pub(crate) personal: Personal,
    router: Router,
    /// Removes the directory in the end.
    _home: TempDir,
}

fn config(url: &str, home: &TempDir) -> StoreConfig {
    let blobs = BlobsConfig {
        place: home.path().join("objects").display().to_string(),
        endpoint: None,
        region: None,
    };
    let url = DatabaseUrl::parse(url).expect("the address of a database");
    let database = Some(DatabaseConfig { url, blobs, search_cache_bytes: 10 << 30 });
    StoreConfig { database, ..ConfigFile::default().store(home.path()).expect("settings") }
}

/// Makes the tables.
pub(crate) async fn prepare(url: &str) {
    let home = tempfile::tempdir().expect("a temporary directory");
    let database = config(url, &home).database.expect("it names one");
    migrate(&database, DEFAULT_PARTITIONS, |_| ()).await.expect("the tables are made");
}

impl Node {
    pub(crate) async fn over_directory() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        Self::over(StoreConfig::directory(home.path()), home).await
    }

    pub(crate) async fn over_database(url: &str) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        Self::over(config(url, &home), home).await
    }

    async fn over(config: StoreConfig, home: TempDir) -> Self {
        let personal = Personal::open_home(&config).await.expect("the store opens");
        let settings = ApiSettings {
            public_url: None,
            resource_name: "Bench".to_owned(),
            authorization_servers: Vec::new(),
            allowed_hosts: Vec::new(),
            // What is measured is a request, not the pause between too many.
            limits: ApiLimits { requests_per_minute: 0, ..ApiLimits::default() },
        };
        let state = personal.api_state(settings).await.expect("the parts fit");
        Self { personal, router: pdpp_api::router(state), _home: home }
    }

    /// Answers a request and gives its body's bytes; anything but a success ends the run.
    pub(crate) async fn ask(&self, token: &str, path: &str, lines: Option<String>) -> Vec<u8> {
        let method = if lines.is_some() { "POST" } else { "GET" };
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("content-type", "application/x-ndjson");
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.body(Body::from(lines.unwrap_or_default())).expect("a request");
        let response = self.router.clone().oneshot(request).await.expect("the router answers");
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.expect("a whole body");
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&body));
        body.to_vec()
    }

    pub(crate) async fn ask_json(&self, token: &str, path: &str, lines: Option<String>) -> Value {
        serde_json::from_slice(&self.ask(token, path, lines).await).expect("JSON")
    }
}
