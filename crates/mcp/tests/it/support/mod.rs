//! What the tests share: a resource server that can be scripted, and a host that speaks the protocol.

mod fake;
mod host;

pub(crate) use fake::{Fake, Reply, Seen};
pub(crate) use host::{CallResult, Host};
