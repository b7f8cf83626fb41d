//! An answer's body that neither hangs nor floods.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use object_store::client::{HttpError, HttpErrorKind};
use tokio::time::{Instant, Sleep};

/// Nothing came for as long as one is willing to wait.
#[derive(Debug, thiserror::Error)]
#[error("the store takes too long")]
pub(crate) struct TooSlow;

#[derive(Debug, thiserror::Error)]
#[error("the store's answer has no end")]
struct TooMuch;

/// How long a body may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// So long for each piece: the whole is as long as the object is.
    Piece(Duration),
    /// So long for all of it, so that nobody is kept waiting by single letters.
    Whole(Duration),
}

/// Waits so long, and takes so many bytes.
#[derive(Debug)]
pub(crate) struct PatientBody {
    inner: Incoming,
    patience: Patience,
    deadline: Pin<Box<Sleep>>,
    left: u64,
}

impl PatientBody {
    pub(crate) fn new(inner: Incoming, patience: Patience, most: u64) -> Self {
        let (Patience::Piece(first) | Patience::Whole(first)) = patience;
        Self { inner, patience, deadline: Box::pin(tokio::time::sleep(first)), left: most }
    }
}

impl Body for PatientBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let too_slow = || Poll::Ready(Some(Err(HttpError::new(HttpErrorKind::Timeout, TooSlow))));
        let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) else {
            ready!(self.deadline.as_mut().poll(cx));
            return too_slow();
        };
        match self.patience {
            Patience::Piece(patience) => self.deadline.as_mut().reset(Instant::now() + patience),
            Patience::Whole(_) if self.deadline.is_elapsed() => return too_slow(),
            Patience::Whole(_) => {}
        }
        let Some(frame) = frame else { return Poll::Ready(None) };
        let frame = frame.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
        let bytes = frame.as_ref().ok().and_then(Frame::data_ref).map_or(0, |data| data.len() as u64);
        Poll::Ready(Some(match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                frame
            }
            None => Err(HttpError::new(HttpErrorKind::Decode, TooMuch)),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
