//! The authorization server's endpoints, mounted beside the REST surface.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::routing::MethodRouter;
use pdpp_api::ApiState;
use pdpp_auth::{AuthorizationServer, ENDPOINTS, LocalAuthority, MAX_BODY, OAuthSettings, answer};
use pdpp_store::StoreError;

use crate::client_documents::ClientDocuments;
use crate::value_route::value_route;
use crate::{Personal, ServeConfig, owner_subject};

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
    let route = |path| {
        let server = server.clone();
        value_route(path, MAX_BODY, move |asked| {
            let server = server.clone();
            async move { answer(&server, asked).await }
        })
    };
    paths.into_iter().map(|path| (path, route(path))).collect()
}
