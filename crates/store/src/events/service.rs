//! What answers the event routes, whoever does it.

use async_trait::async_trait;
use pdpp_access::{ClientPrincipal, Denial, Secret};
use pdpp_wire::EventId;
use serde_json::Value;

use super::{StoredDelivery, StoredSubscription};
use crate::StoreError;

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventWish {
    /// Where events should be sent, as written.
    pub callback_url: String,
    /// Only these streams; all when empty.
    pub streams: Vec<String>,
    /// Only this connection.
    pub connection_id: Option<String>,
}

/// Makes and changes subscriptions for clients.
#[async_trait]
pub trait EventService: Send + Sync {
    /// What is advertised; `None` while nothing delivers events.
    fn capability(&self) -> Option<Value>;

    /// Makes a subscription; its secret is given here and never again.
    async fn create(
        &self,
        client: &ClientPrincipal,
        wish: EventWish,
    ) -> Result<(StoredSubscription, Secret), EventFault>;

    /// The client's subscriptions under its grants, oldest first.
    async fn list(&self, client: &ClientPrincipal) -> Result<Vec<StoredSubscription>, EventFault>;

    /// One of them.
    async fn find(&self, client: &ClientPrincipal, id: &str) -> Result<StoredSubscription, EventFault>;

    /// Switches one on or off, or gives it another secret.
    async fn update(
        &self,
        client: &ClientPrincipal,
        id: &str,
        enabled: Option<bool>,
        rotate_secret: bool,
    ) -> Result<(StoredSubscription, Option<Secret>), EventFault>;

    /// Removes one.
    async fn delete(&self, client: &ClientPrincipal, id: &str) -> Result<(), EventFault>;

    /// Sends a test event.
    async fn test(&self, client: &ClientPrincipal, id: &str) -> Result<EventId, EventFault>;

    /// The last attempts, newest first.
    async fn deliveries(
        &self,
        client: &ClientPrincipal,
        id: &str,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, EventFault>;
}

/// Why a subscription cannot be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum EventFault {
    /// Refused.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The subscription ended with its grants.
    #[error("{0}")]
    Ended(Denial),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}
