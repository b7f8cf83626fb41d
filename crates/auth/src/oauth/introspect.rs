//! Introspection (RFC 7662), for a resource server that is not part of this process.

use pdpp_access::{AuthError, Principal, Secret, TokenAuthority as _};
use pdpp_wire::{Code, Grant, Instant};
use serde_json::{Map, Value, json};

use super::issue::{granted_detail, name_grants};
use super::{AuthorizationServer, OAuthFault};

/// What is known about a token.
#[derive(Clone, Debug, PartialEq)]
pub struct Introspection(pub Map<String, Value>);

impl AuthorizationServer {
    /// Whether these are the introspection credentials.
    pub fn may_introspect(&self, name: &str, secret: &Secret) -> bool {
        self.introspector.0 == name && self.introspector.1 == secret.hash()
    }

    /// What a token stands for now.
    pub async fn introspect(&self, token: &Secret) -> Result<Introspection, OAuthFault> {
        let stored = self.store().find_token(&token.hash()).await?;
        let principal = match self.authority.introspect(token).await {
            Ok(principal) => principal,
            Err(AuthError::Denied(_)) => return Ok(inactive(None)),
            Err(AuthError::TurnedAway(_, denial)) => {
                let reason = match denial.code {
                    Code::AuthenticationError => {
                        let revoked = stored.as_ref().is_some_and(|token| token.revoked_at.is_some());
                        if revoked { "token_revoked" } else { "token_expired" }
                    }
                    code => code.as_str(),
                };
                return Ok(inactive(Some(reason)));
            }
            Err(AuthError::Unavailable(cause)) => return Err(OAuthFault::unavailable(cause)),
        };
        let Some(stored) = stored else {
            return Ok(inactive(None));
        };
        let mut body = Map::new();
        body.insert("active".to_owned(), true.into());
        body.insert("token_type".to_owned(), "Bearer".into());
        body.insert("iss".to_owned(), self.issuer().into());
        body.insert("aud".to_owned(), stored.resource.as_deref().unwrap_or(self.issuer()).into());
        body.insert("sub".to_owned(), json!(stored.subject_id));
        body.insert("subject_id".to_owned(), json!(stored.subject_id));
        body.insert("iat".to_owned(), stored.issued_at.unix_seconds().into());
        if let Some(at) = stored.expires_at.map(Instant::unix_seconds) {
            body.insert("exp".to_owned(), at.into());
        }
        match principal {
            Principal::Owner(_) => drop(body.insert("pdpp_token_kind".to_owned(), "owner".into())),
            Principal::Client(client) => {
                body.insert("pdpp_token_kind".to_owned(), "client".into());
                body.insert("client_id".to_owned(), json!(client.client_id()));
                let grants: Vec<Grant> =
                    client.grants().iter().map(|grant| grant.document().clone()).collect();
                add_grants(&mut body, &grants);
            }
        }
        Ok(Introspection(body))
    }
}

fn add_grants(body: &mut Map<String, Value>, grants: &[Grant]) {
    name_grants(body, grants);
    let details = grants.iter().map(granted_detail).collect();
    body.insert("authorization_details".to_owned(), Value::Array(details));
    let contexts: Vec<_> = grants
        .iter()
        .map(|grant| {
            json!({
                "context_kind": "oauth_rar_0_1", "client_id": grant.client.client_id,
                "subject_id": grant.subject.id, "grant_id": grant.grant_id, "issued_at": grant.issued_at,
                "source": grant.source, "source_declaration": grant.source_declaration,
            })
        })
        .collect();
    // One context stands alone, as the reference has it; several come as a list.
    let context = match <[Value; 1]>::try_from(contexts) {
        Ok([one]) => one,
        Err(many) => json!({ "context_kind": "oauth_rar_0_1", "grants": many }),
    };
    body.insert("pdpp".to_owned(), context);
}

fn inactive(reason: Option<&str>) -> Introspection {
    let mut body = Map::new();
    body.insert("active".to_owned(), false.into());
    if let Some(reason) = reason {
        body.insert("inactive_reason".to_owned(), reason.into());
    }
    Introspection(body)
}
