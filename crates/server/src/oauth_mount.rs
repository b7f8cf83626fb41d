//! The authorization server's endpoints, mounted beside the REST surface.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::routing::MethodRouter;
use pdpp_api::ApiState;
use pdpp_auth::{
    AuthorizationServer, ENDPOINTS, LocalAuthority, MAX_BODY, NoDocuments, OAuthFault, OAuthSettings, answer,
};
use pdpp_store::StoreError;
use pdpp_wire::SubjectId;

use crate::client_documents::ClientDocuments;
use crate::value_route::value_route;
use crate::{Personal, ServeConfig};

/// The authorization server of a data directory.
pub(crate) async fn authorization_server(
    personal: &Personal,
    authority: LocalAuthority,
    public_url: &str,
    config: &ServeConfig,
) -> Result<AuthorizationServer, StoreError> {
    let settings = OAuthSettings {
        issuer: public_url.to_owned(),
        subject_id: personal.subject().clone(),
        dynamic_registration: true,
        introspection: config.introspection.clone(),
    };
    AuthorizationServer::open(authority, settings, Arc::new(ClientDocuments::new(personal.shared_clock())))
        .await
}

impl Personal {
    /// A new link that makes its holder this owner, while nobody is; it leads to the server of this address.
    pub async fn first_run_link(
        &self,
        subject_id: &SubjectId,
        public_url: &str,
    ) -> Result<Option<String>, StoreError> {
        let settings = OAuthSettings {
            issuer: public_url.to_owned(),
            subject_id: self.subject().clone(),
            dynamic_registration: false,
            introspection: None,
        };
        let server = AuthorizationServer::open(self.authority(), settings, Arc::new(NoDocuments)).await?;
        server.first_run_link(subject_id).await.map_err(unmade)
    }
}

/// Making a link refuses nothing; only the store below can fail.
pub(crate) fn unmade(fault: OAuthFault) -> StoreError {
    match fault {
        OAuthFault::Store(error) => error,
        other => StoreError::Backend(Box::new(other)),
    }
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
