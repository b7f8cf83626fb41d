//! What desk and worker share: the store, the way out, time and randomness.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pdpp_access::{Clock, Entropy, Sealer, random_hex};
use pdpp_egress::Egress;
use pdpp_store::Store;
use pdpp_wire::{EventId, Instant, SubscriptionId};
use tokio::sync::Notify;

use crate::SecretBox;
use crate::capability::RESPONSE_SECONDS;

/// Everything events need; made once by whoever assembles the server.
#[derive(Clone)]
pub struct EventParts {
    /// Subscriptions, the queue, the change log.
    pub store: Arc<dyn Store>,
    /// The way to strangers' addresses.
    pub egress: Arc<Egress>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Unguessable bytes.
    pub entropy: Arc<dyn Entropy>,
    /// Seals `changes_since` tokens.
    pub sealer: Sealer,
    /// Seals webhook secrets.
    pub secrets: SecretBox,
    /// Who sends.
    pub delivering: Delivering,
    /// How long a receiver may take to answer; what is advertised is [`RESPONSE_WINDOW`].
    pub response_window: Duration,
}

/// How long a receiver may take to answer.
pub const RESPONSE_WINDOW: Duration = Duration::from_secs(RESPONSE_SECONDS);

/// Who sends the events of this store.
#[derive(Clone)]
pub enum Delivering {
    /// This process; its desk wakes its worker.
    Here(Arc<Notify>),
    /// Another process, if this says so.
    Elsewhere(Arc<dyn Fn() -> bool + Send + Sync>),
}

impl Delivering {
    /// Whether anybody sends.
    pub fn is_running(&self) -> bool {
        match self {
            Self::Here(_) => true,
            Self::Elsewhere(is_running) => is_running(),
        }
    }

    pub(crate) fn wake(&self) {
        if let Self::Here(worker) = self {
            worker.notify_one();
        }
    }
}

impl EventParts {
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn mint_event_id(&self) -> EventId {
        EventId::parse(format!("evt_{}", random_hex(self.entropy.as_ref(), 12))).expect("a plain id")
    }

    pub(crate) fn mint_subscription_id(&self) -> SubscriptionId {
        SubscriptionId::parse(format!("sub_{}", random_hex(self.entropy.as_ref(), 12))).expect("a plain id")
    }
}

impl fmt::Debug for EventParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventParts").field("egress", &self.egress).finish_non_exhaustive()
    }
}

impl fmt::Debug for Delivering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here(_) => "Here",
            Self::Elsewhere(_) => "Elsewhere",
        })
    }
}
