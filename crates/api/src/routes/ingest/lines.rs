//! Splits a body at line feeds while it arrives, holding one line at a time.

use axum::body::{Body, BodyDataStream};
use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::StreamExt as _;

use crate::ApiError;
use crate::call::{cut_short, too_large};

/// The non-blank lines of a body of bounded length.
pub(super) struct Lines {
    body: BodyDataStream,
    held: BytesMut,
    searched: usize,
    taken: usize,
    max: usize,
    ended: bool,
    first: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    pub(super) fn new(body: Body, max: usize) -> Self {
        Self {
            body: body.into_data_stream(),
            held: BytesMut::new(),
            searched: 0,
            taken: 0,
            max,
            ended: false,
            first: true,
        }
    }

    /// The next line that is not blank, without its line feed.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if let Some(mut line) = self.held_line() {
                // Some editors begin a file with a byte order mark; it is not part of the first line.
                if std::mem::take(&mut self.first) && line.starts_with(BYTE_ORDER_MARK) {
                    line.advance(BYTE_ORDER_MARK.len());
                }
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            self.pull().await?;
        }
    }

    fn held_line(&mut self) -> Option<Bytes> {
        let found = self.held[self.searched..].iter().position(|byte| *byte == b'\n');
        match found {
            Some(at) => {
                let line = self.held.split_to(self.searched + at).freeze();
                self.held.advance(1);
                self.searched = 0;
                Some(line)
            }
            None if self.ended && !self.held.is_empty() => {
                self.searched = 0;
                Some(self.held.split().freeze())
            }
            None => {
                self.searched = self.held.len();
                None
            }
        }
    }

    async fn pull(&mut self) -> Result<(), ApiError> {
        match self.body.next().await {
            None => self.ended = true,
            Some(Err(error)) => return Err(cut_short(error)),
            Some(Ok(chunk)) => {
                self.taken += chunk.len();
                if self.taken > self.max {
                    return Err(too_large(self.max));
                }
                self.held.extend_from_slice(&chunk);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn split(chunks: &[&'static str], max: usize) -> Result<Vec<String>, ApiError> {
        let chunks: Vec<Result<Bytes, std::io::Error>> =
            chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect();
        let mut lines = Lines::new(Body::from_stream(futures_util::stream::iter(chunks)), max);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await? {
            found.push(String::from_utf8_lossy(&line).into_owned());
        }
        Ok(found)
    }

    #[tokio::test]
    async fn lines_are_found_across_chunks_and_blank_ones_skipped() {
        assert_eq!(split(&["a\nb", "c\n \n\n", "d"], 100).await.unwrap(), ["a", "bc", "d"]);
        assert_eq!(split(&[], 100).await.unwrap(), Vec::<String>::new());
        assert_eq!(split(&["\u{feff}a\nb"], 100).await.unwrap(), ["a", "b"]);
        assert_eq!(split(&["\r\n", "x\r\n"], 100).await.unwrap(), ["x\r"]);
    }

    #[tokio::test]
    async fn a_body_beyond_the_bound_is_refused() {
        assert!(split(&["aaaa", "aaaa"], 7).await.is_err());
        assert!(split(&["aaaa", "aaa"], 7).await.is_ok());
    }
}
