//! What a request asks, as it is kept while it waits.

use pdpp_store::{StagedRequest, StoreError};
use serde::{Deserialize, Serialize};

use super::{Detail, OAuthFault};

/// What is asked, and where the answer goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ask {
    /// What the client wants; empty when it leaves the choice to the owner.
    #[serde(default)]
    pub(super) details: Vec<Detail>,
    /// A connector of which everything is wanted, while it is not known whose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) connector_id: Option<String>,
    /// The address tokens will be for.
    pub(super) resource: String,
    /// Where a code is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redirect: Option<Redirect>,
    /// A name given with the request instead of registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claimed_name: Option<String>,
    /// Where events should be sent, in normal form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) event_callback_hosts: Vec<String>,
}

/// Where a code is sent, and what proves its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Redirect {
    pub(super) uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<String>,
    pub(super) challenge: String,
}

impl Ask {
    pub(super) fn read(request: &StagedRequest) -> Result<Self, OAuthFault> {
        let damaged = |_| StoreError::Damaged("a request cannot be read".to_owned());
        Ok(serde_json::from_str(&request.document).map_err(damaged)?)
    }

    pub(super) fn write(&self) -> String {
        serde_json::to_string(self).expect("a request is plain data")
    }
}
