//! Connections live on the runtime the store was opened on, whoever asks for one.
//!
//! A search index is fed from a thread with a small runtime of its own. A connection made there would end with that
//! runtime while the pool still lends it to others.

use std::future::poll_fn;
use std::pin::Pin;

use deadpool_postgres::{ConfigConnectImpl, Connect};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

/// Connects from one runtime.
pub(super) struct Home<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    connect: ConfigConnectImpl<T>,
    runtime: Handle,
}

impl<T> Home<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    /// From the runtime this is called on.
    pub(super) fn here(tls: T) -> Self {
        Self { connect: ConfigConnectImpl { tls }, runtime: Handle::current() }
    }
}

impl<T> Connect for Home<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect(
        &self,
        config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        let mut connecting = self.connect.connect(config);
        // Sockets and tasks belong to the runtime that is entered when they are made.
        Box::pin(poll_fn(move |context| {
            let _entered = self.runtime.enter();
            connecting.as_mut().poll(context)
        }))
    }
}
