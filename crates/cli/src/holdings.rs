//! What the owner holds, and what a grant would open of it.

use pdpp_access::{Authorizer, Catalogue, GrantStanding, OwnerPrincipal, Principal, StreamsRequest};
use pdpp_server::Personal;
use pdpp_wire::{ConnectionId, ConnectorKey, Grant, Instant, StreamName};

/// One stream of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) stream: StreamName,
    pub(crate) connector_key: ConnectorKey,
    /// The connector's own name, for people.
    pub(crate) connector: String,
    pub(crate) connection_id: ConnectionId,
    pub(crate) display_name: Option<String>,
    pub(crate) records: u64,
    pub(crate) last_updated: Option<Instant>,
    /// The fields that are shown; `None` means all.
    pub(crate) fields: Option<Vec<String>>,
    /// How many fields are declared.
    pub(crate) declared_fields: usize,
}

impl Held {
    /// What the owner calls the connection, else its id.
    pub(crate) fn label(&self) -> &str {
        self.display_name.as_deref().unwrap_or(self.connection_id.as_str())
    }
}

/// Everything.
pub(crate) async fn all(personal: &Personal, catalogue: &Catalogue) -> anyhow::Result<Vec<Held>> {
    let owner = Principal::Owner(OwnerPrincipal { subject_id: personal.subject().clone(), token_id: None });
    seen_by(&owner, personal, catalogue).await
}

/// What grants that may not exist yet would open, counted under their own plan.
pub(crate) async fn opened_by(
    grants: &[Grant],
    personal: &Personal,
    catalogue: &Catalogue,
) -> anyhow::Result<Vec<Held>> {
    let Some(first) = grants.first() else { return Ok(Vec::new()) };
    let standings = grants
        .iter()
        .map(|grant| Ok(GrantStanding { document: serde_json::to_string(grant)?, revoked_at: None }))
        .collect::<serde_json::Result<Vec<_>>>()?;
    let client_id = first.client.client_id.clone();
    let client = personal.authority().client(personal.subject().clone(), client_id, None, &standings);
    let client = client.map_err(pdpp_auth::AuthFault::from)?;
    seen_by(&Principal::Client(client), personal, catalogue).await
}

async fn seen_by(
    principal: &Principal,
    personal: &Personal,
    catalogue: &Catalogue,
) -> anyhow::Result<Vec<Held>> {
    let mut held = Vec::new();
    for plan in Authorizer::new(principal, catalogue).streams(&StreamsRequest::default())? {
        let summaries = personal.store().summarize(&plan).await?;
        for (part, summary) in plan.parts().iter().zip(summaries) {
            let fields = part.granted().names().map(|names| names.iter().cloned().collect());
            held.push(Held {
                stream: plan.stream().clone(),
                connector_key: plan.source().key().clone(),
                connector: connector_name(plan.source()),
                connection_id: part.connection_id().clone(),
                display_name: part.display_name().map(str::to_owned),
                records: summary.record_count,
                last_updated: summary.last_updated,
                fields,
                declared_fields: plan.declaration().fields().len(),
            });
        }
    }
    Ok(held)
}

fn connector_name(source: &pdpp_access::Source) -> String {
    source.manifest.display_name().map_or_else(|| source.key().to_string(), str::to_owned)
}
