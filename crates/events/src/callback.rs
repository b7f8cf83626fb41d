//! Where a client's events may be sent: to a host it registered, or to one the owner allowed. An assistant cannot choose
//! whom the owner's server calls.

use pdpp_access::Denial;
use pdpp_egress::{EgressUrl, Limits, registered_host};
use pdpp_store::{EventFault, RegisteredClient};
use pdpp_wire::{ClientId, Code, SubjectId};
use serde_json::Value;
use std::time::Duration;

use crate::EventParts;

/// How long the look at a new callback's host may take.
const LOOK: Duration = Duration::from_secs(5);

impl EventParts {
    /// Reads a callback address and checks that it may be called. The name is looked up last, and only if its host
    /// is allowed: a lookup is a message too.
    pub(crate) async fn check_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        text: &str,
    ) -> Result<EgressUrl, EventFault> {
        let refused = |message: String| Denial::new(Code::InvalidRequest, message).param("callback_url");
        let url = EgressUrl::parse(text, self.egress.policy())
            .map_err(|fault| refused(sentence(&fault.to_string())))?;
        if !self.is_allowed(subject_id, client_id, &url).await? {
            let host = url.host_and_port();
            let message = format!(
                "Events of this client may not be sent to '{host}'. Ask for it at consent with `event_callback_hosts`, or the owner allows it: pdpp events allow {host} --client {client_id}"
            );
            return Err(Denial::new(Code::CallbackNotAllowed, message).param("callback_url").into());
        }
        let limits = Limits::within(LOOK, 0);
        match self.egress.check_host(&url, &limits).await {
            Ok(()) => Ok(url),
            Err(error) => {
                tracing::info!(error = error.internal(), "a callback address was refused");
                Err(refused(sentence(&error.to_string())).into())
            }
        }
    }

    async fn is_allowed(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        url: &EgressUrl,
    ) -> Result<bool, EventFault> {
        let host = url.host_and_port();
        if self.store.is_callback_allowed(subject_id, client_id, &host).await? {
            return Ok(true);
        }
        let client = self.store.find_client(client_id).await?;
        Ok(client.is_some_and(|client| registered_hosts(&client).any(|registered| registered == host)))
    }
}

/// The hosts of a client's redirect addresses, and of the address that is its name.
fn registered_hosts(client: &RegisteredClient) -> impl Iterator<Item = String> {
    let metadata: Value = serde_json::from_str(&client.metadata).unwrap_or(Value::Null);
    let redirects = metadata.get("redirect_uris").and_then(Value::as_array).cloned().unwrap_or_default();
    let texts = redirects.into_iter().filter_map(|uri| uri.as_str().map(str::to_owned));
    let own = client.client_id.to_string();
    texts.chain([own]).filter_map(|text| registered_host(&text))
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
