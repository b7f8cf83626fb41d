//! `/v1/event-subscriptions`: a client asks to be told when its slice changes.
//!
//! Who may be called, what is sent and when is decided by the [`EventService`] behind the
//! state; these files read requests and write answers.

mod change;
mod create;
mod deliveries;
mod list;
mod shown;
mod test_event;

pub(crate) use change::{DELETE, UPDATE};
pub(crate) use create::CREATE;
pub(crate) use deliveries::DELIVERIES;
pub(crate) use list::{LIST, ONE};
pub(crate) use test_event::TEST;

use std::sync::Arc;

use pdpp_access::{ClientPrincipal, Principal};
use pdpp_store::{EventFault, EventService};
use pdpp_wire::{Code, JsonFault, parse_strict};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::Call;
use crate::route::{Parameter, Shape};
use crate::{ApiError, ApiState};

const PATH: &str = "/v1/event-subscriptions";
const ONE_PATH: &str = "/v1/event-subscriptions/{subscription_id}";
const SUBSCRIPTION: Parameter =
    Parameter::path("subscription_id", Shape::Pattern("^sub_[0-9a-f]{24}$"), "The subscription.");
/// Largest body.
const MAX_BYTES: usize = 64 * 1024;
/// Deepest body.
const MAX_DEPTH: usize = 8;

/// The service, and the client that asks it. An owner has no grant a subscription could stand on.
fn served(
    state: &ApiState,
    principal: &Principal,
) -> Result<(Arc<dyn EventService>, ClientPrincipal), ApiError> {
    let Principal::Client(client) = principal else {
        let message = "Event subscriptions belong to a client and its grants; this is an owner token.";
        return Err(ApiError::new(Code::GrantInvalid, message));
    };
    let Some(events) = &state.events else {
        let message = "This server does not deliver events.";
        return Err(ApiError::new(Code::EventsUnavailable, message));
    };
    Ok((Arc::clone(events), client.clone()))
}

/// A JSON body with known members only.
async fn body<T: DeserializeOwned>(call: &Call, expected: &str) -> Result<T, ApiError> {
    let bytes = call.bytes("application/json", MAX_BYTES).await?;
    let refused = |message: String| ApiError::new(Code::InvalidRequest, message);
    // No body says no more than an empty one.
    let bytes = if bytes.is_empty() { b"{}".to_vec() } else { bytes };
    let document: Value = parse_strict(&bytes, MAX_DEPTH).map_err(|fault| match fault {
        JsonFault::Malformed => refused("The body is not JSON with each name once.".to_owned()),
        JsonFault::TooDeep => {
            ApiError::new(Code::ResourceLimit, format!("The body is nested deeper than {MAX_DEPTH}."))
        }
    })?;
    let other = || refused(format!("Send `{expected}`, and no other member."));
    // A list would be taken for the members in their order.
    if !document.is_object() {
        return Err(other());
    }
    serde_json::from_value(document).map_err(|_| other())
}

impl From<EventFault> for ApiError {
    fn from(fault: EventFault) -> Self {
        match fault {
            EventFault::Denied(denial) => denial.into(),
            EventFault::Ended(denial) => Self::from(denial).status(409),
            EventFault::Store(error) => error.into(),
        }
    }
}
