//! Bytes on their way out, a chunk at a time.

use std::io::{self, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use pdpp_store::{BlobBody, StoreError};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, Take};
use tokio_util::io::ReaderStream;

/// Bytes held at once for one reader.
const CHUNK: usize = 64 * 1024;

/// A range of a file that is known to be at least as long.
pub(super) async fn body(path: PathBuf, range: Range<u64>) -> Result<BlobBody, StoreError> {
    let remaining = range.end - range.start;
    let mut file = File::open(&path).await.map_err(unreadable)?;
    file.seek(SeekFrom::Start(range.start)).await.map_err(unreadable)?;
    Ok(Box::pin(Body { chunks: ReaderStream::with_capacity(file.take(remaining), CHUNK), remaining }))
}

struct Body {
    chunks: ReaderStream<Take<File>>,
    remaining: u64,
}

impl Stream for Body {
    type Item = Result<Bytes, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.chunks).poll_next(context).map(|chunk| match chunk {
            Some(Ok(bytes)) => {
                self.remaining = self.remaining.saturating_sub(bytes.len() as u64);
                Some(Ok(bytes))
            }
            Some(Err(error)) => Some(Err(unreadable(error))),
            None if self.remaining > 0 => {
                self.remaining = 0;
                Some(Err(StoreError::Damaged("a blob's file is shorter than its record".to_owned())))
            }
            None => None,
        })
    }
}

fn unreadable(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Damaged("a blob's file is missing".to_owned()),
        _ => StoreError::Backend(error.into()),
    }
}
