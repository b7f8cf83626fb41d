//! The authorization server's endpoints, mounted beside the REST surface.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use pdpp_api::{ApiState, RequestId};
use pdpp_auth::{
    Asked, AuthorizationServer, ENDPOINTS, LocalAuthority, MAX_BODY, OAuthSettings, answer, overdue,
};
use pdpp_store::StoreError;

use crate::client_documents::ClientDocuments;
use crate::peer::Peer;
use crate::{Personal, ServeConfig, owner_subject};

/// How long a request may take, its body included.
const DEADLINE: Duration = Duration::from_secs(30);

/// The authorization server of a data directory.
pub(crate) async fn authorization_server(
    personal: &Personal,
    authority: LocalAuthority,
    public_url: &str,
    config: &ServeConfig,
) -> Result<AuthorizationServer, StoreError> {
    let settings = OAuthSettings {
        issuer: public_url.to_owned(),
        subject_id: owner_subject(),
        dynamic_registration: true,
        introspection: config.introspection.clone(),
    };
    AuthorizationServer::open(authority, settings, Arc::new(ClientDocuments::new(personal.shared_clock())))
        .await
}

/// Every endpoint by its path.
pub(crate) fn endpoints(server: &AuthorizationServer) -> Vec<(&'static str, MethodRouter<Arc<ApiState>>)> {
    let paths: BTreeSet<&'static str> = ENDPOINTS.iter().map(|endpoint| endpoint.path).collect();
    paths.into_iter().map(|path| (path, endpoint(server.clone(), path))).collect()
}

fn endpoint(server: AuthorizationServer, path: &'static str) -> MethodRouter<Arc<ApiState>> {
    let serve = move |Extension(id): Extension<RequestId>, params: RawPathParams, request: Request| {
        let server = server.clone();
        let parameter = params.iter().next().map(|(_, value)| value.to_owned());
        async move { serve(&server, (path, parameter), &id, request).await }
    };
    any(serve)
}

async fn serve(
    server: &AuthorizationServer,
    (path, id): (&'static str, Option<String>),
    request_id: &RequestId,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let address = parts.extensions.get::<Peer>().map_or("local".to_owned(), |peer| peer.0.to_string());
    let work = async {
        let body = to_bytes(body, MAX_BODY).await.ok();
        let request_id = request_id.as_str().to_owned();
        answer(server, Asked { path, id, parts, body, request_id, address }).await
    };
    let answered = tokio::time::timeout(DEADLINE, work).await;
    answered.unwrap_or_else(|_| overdue(path, request_id.as_str())).map(Body::from)
}
