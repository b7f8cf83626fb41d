//! From a host's name to addresses that may be called.
//!
//! The name is looked up once. All answers are judged, and one forbidden answer refuses the host: a name that
//! points at a public and a private address is an attack, or a mistake that one would rather see. The addresses
//! that passed are the only ones a connection can be opened to, so a second lookup with another answer has no
//! place to happen.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;

use crate::url::Reach;
use crate::{EgressError, EgressFault, EgressUrl, address};

/// The most addresses a host may have.
pub const MAX_ADDRESSES: usize = 8;

/// Looks names up.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of this host, in the order in which they should be tried.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// An address that was checked. Nothing but the check makes one, so a connector cannot be sent elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedAddress(SocketAddr);

impl PinnedAddress {
    /// Where to connect.
    pub fn socket(&self) -> SocketAddr {
        self.0
    }
}

/// Looks the host up and checks every answer.
pub(crate) async fn pin(resolver: &dyn Resolver, url: &EgressUrl) -> Result<Vec<PinnedAddress>, EgressError> {
    let answers = match url.literal() {
        Some(address) => vec![address],
        None => resolver
            .resolve(url.host())
            .await
            .map_err(|error| EgressFault::NoAddress.because(format_args!("{}: {error}", url.host())))?,
    };
    check(url, answers)
}

fn check(url: &EgressUrl, answers: Vec<IpAddr>) -> Result<Vec<PinnedAddress>, EgressError> {
    let host = url.host();
    let mut pinned = Vec::new();
    for answer in answers {
        let address = match url.reach() {
            Reach::Public => address::check(answer).map_err(|refusal| refusal.to_string()),
            // The exception is for this machine, not for whatever its name was made to point at.
            Reach::Loopback if answer.is_loopback() => Ok(answer),
            Reach::Loopback => Err(format!("{answer} is not this machine")),
        };
        let address = address
            .map_err(|reason| EgressFault::ForbiddenAddress.because(format_args!("{host}: {reason}")))?;
        let address = PinnedAddress(SocketAddr::new(address, url.port()));
        if !pinned.contains(&address) {
            pinned.push(address);
        }
        if pinned.len() > MAX_ADDRESSES {
            let detail = format_args!("{host} has more than {MAX_ADDRESSES} addresses");
            return Err(EgressFault::TooManyAddresses.because(detail));
        }
    }
    if pinned.is_empty() {
        return Err(EgressFault::NoAddress.because(host));
    }
    Ok(pinned)
}

/// The most lookups that wait for the system at one time.
const MAX_LOOKUPS: usize = 16;

/// Asks the operating system, as every other program on this machine does.
#[derive(Clone, Debug)]
pub struct SystemResolver(Arc<Semaphore>);

impl Default for SystemResolver {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LOOKUPS)))
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        // A lookup cannot be called back. The task outlives a caller who went away and keeps the permit, so that
        // names that never resolve cannot fill the runtime with waiting threads.
        let lookup = tokio::spawn(async move {
            let found = tokio::net::lookup_host((host, 0)).await;
            drop(permit);
            found.map(|addresses| addresses.map(|address| address.ip()).collect())
        });
        lookup.await.map_err(io::Error::other)?
    }
}
