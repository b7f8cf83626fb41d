//! Tells a client's receiver that something in its slice changed, and nothing more.
//!
//! [`EventDesk`] makes and changes subscriptions for clients; [`EventWorker`] follows the change log, decides for whom a
//! change is news, and sends. What is news is decided exactly as a `changes_since` read would: an event is sent only if
//! that read, under the subscription's grants and from the event's own token, shows something. No record leaves here.
//!
//! Everything that must survive lies in the store: who is told, what waits, how far the log was followed. A worker holds
//! nothing that another could not take over.

mod attempt;
mod callback;
mod capability;
mod desk;
mod envelope;
mod follower;
mod index;
mod news;
mod parts;
mod retry;
mod scope;
mod secret_box;
mod signature;
mod worker;

pub use capability::{MAX_ATTEMPTS, RETRY_SECONDS};
pub use desk::EventDesk;
pub use parts::{Delivering, EventParts, RESPONSE_WINDOW};
pub use pdpp_egress::parse_callback_host;
pub use secret_box::{SecretBox, SecretKey};
pub use signature::{SignatureFault, verify};
pub use worker::EventWorker;
