//! The authorization server: clients register, ask, wait and redeem; the owner reads, narrows, approves, revokes.
//!
//! Nothing here knows HTTP or pages. [`AuthorizationServer`] has one method per step, and each step is one
//! transaction of the store. A token exists only after its request was redeemed, so an abandoned flow leaves
//! nothing that opens anything.

mod agent;
mod ask;
mod callbacks;
mod client;
mod decide;
mod detail;
mod device;
mod digest;
mod fault;
mod first_run;
mod form_token;
mod handles;
mod introspect;
mod issue;
mod keyed;
mod ledger;
mod metadata;
mod narrowing;
mod owners;
mod passkey;
mod picker;
mod pkce;
mod redeem;
mod redirect_uri;
mod refresh;
mod registration;
mod review;
mod revoke;
mod server;
mod session;
mod stage;
mod throttle;

pub use agent::{AgentOutcome, AgentStarted};
pub use client::{Document, KnownClient, MetadataDocuments, NoDocuments};
pub use decide::{AI_TRAINING, Approved, Handover};
pub use detail::{ClientClaims, DATA_ACCESS, Detail, DetailSource, Necessity, StreamAsk};
pub use device::DeviceStarted;
pub use fault::OAuthFault;
pub use introspect::Introspection;
pub use issue::TokenAnswer;
pub use ledger::Entry;
pub use metadata::ClientMetadata;
pub use narrowing::{Narrowing, SourceNarrowing};
pub use owners::NOBODY;
pub use passkey::Challenge;
pub use registration::Registered;
pub use review::{ConsentHandle, Review};
pub use server::{AuthorizationServer, OAuthSettings};
pub use session::SignedIn;
pub use stage::{AuthorizeOutcome, AuthorizeRequest, Pushed};
pub use throttle::Limit;

pub(crate) use handles::{PENDING, PUSHED};
pub(crate) use metadata::{CODE, DEVICE, REFRESH};
pub(crate) use redeem::CodeRedemption;
pub(crate) use redirect_uri::RedirectUri;
pub(crate) use stage::required;
