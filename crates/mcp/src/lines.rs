//! One JSON-RPC message per line, on any pair of streams.
//!
//! Whatever a client writes, the process lives on and the client hears what was wrong: a line that is no JSON, one
//! that is no message, a batch where the revision has none, a line longer than is taken.

mod input;
mod message;
mod writer;

use std::io;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, ServiceExt as _, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;

use self::input::Input;
pub(crate) use self::message::{Complaint, message};
use self::writer::Writer;
use crate::Adapter;
use crate::batch::Batches;

/// Serves the adapter on two streams until the first one ends.
pub async fn serve_lines<R, W>(adapter: Adapter, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (adapter, lines) = (adapter.writing(), Lines::new(reader, writer));
    loop {
        match adapter.clone().serve(lines.clone()).await {
            Ok(running) => return running.waiting().await.map(|_| ()).map_err(io::Error::other),
            // The library ends a conversation that begins with a notification or an answer. It asks for nothing, and
            // nothing is lost by waiting for what comes after it.
            Err(ServerInitializeError::ExpectedInitializeRequest(Some(_))) => {}
            // The client left before it said anything, which is an orderly end.
            Err(error) => {
                tracing::debug!(%error, "the client left during the handshake");
                return Ok(());
            }
        }
    }
}

/// A pair of streams. Clones share it, because the library keeps a transport to itself.
struct Lines<R, W> {
    input: Arc<Mutex<Input<R, W>>>,
    writer: Arc<Mutex<Writer<W>>>,
}

impl<R, W> Clone for Lines<R, W> {
    fn clone(&self) -> Self {
        Self { input: Arc::clone(&self.input), writer: Arc::clone(&self.writer) }
    }
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn new(reader: R, writer: W) -> Self {
        let batches = Arc::new(StdMutex::new(Batches::default()));
        let writer = Arc::new(Mutex::new(Writer::new(writer, Arc::clone(&batches))));
        let input = Arc::new(Mutex::new(Input::new(reader, batches, Arc::clone(&writer))));
        Self { input, writer }
    }
}

fn locked(batches: &StdMutex<Batches>) -> MutexGuard<'_, Batches> {
    batches.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move { writer.lock().await.send(item).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.input.lock().await.next().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.lock().await.finish().await;
        self.writer.lock().await.shutdown().await
    }
}
