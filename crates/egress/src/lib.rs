//! Calls addresses that strangers chose: the one way in which this server reaches out to whom it does not know.
//!
//! A client's metadata document, a webhook, a discovery document: whoever names such an address could name one of
//! the owner's own network. [`EgressUrl`] reads the address strictly; [`Egress`] looks the host up once, refuses it
//! if any of its addresses is not globally reachable, and connects to exactly an address it checked. Every stage
//! has a deadline and every part of the answer a largest size. Names are looked up and connections opened by a
//! [`Resolver`] and a [`Connector`] that are passed in.
//!
//! Who may be called, how often, and what an answer means is decided elsewhere.

mod address;
mod answer;
mod connect;
mod egress;
mod error;
mod exchange;
mod host;
mod limits;
pub mod metadata_document;
mod resolve;
mod url;

pub use answer::{Answer, Extent};
pub use connect::{BoxStream, Connector, Stream, TcpTls};
pub use egress::{Egress, Settings};
pub use error::{EgressError, EgressFault};
pub use host::{HostFault, parse_callback_host, registered_host};
pub use limits::{Limits, Oversize, Stage};
pub use resolve::{MAX_ADDRESSES, PinnedAddress, Resolver, SystemResolver};
pub use url::{EgressUrl, Literals, Loopback, MAX_URL_BYTES, UrlFault, UrlPolicy};

pub use rustls::RootCertStore;
pub use rustls::pki_types::ServerName;
