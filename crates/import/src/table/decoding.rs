//! Text of a file as UTF-8, whatever it was written in.
//!
//! UTF-16 is told by its mark or by its zero bytes. Everything else is read as UTF-8, and bytes that are none are read
//! as windows-1252: so a file that is one or the other, or one with a few bytes of the other, comes out right, and no
//! pass over the file is needed to find out.

use std::io::{self, BufReader, Read};

use encoding_rs::{Decoder, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::Tree;

const CHUNK: usize = 64 * 1024;

/// An entry's text behind a buffer.
pub(super) fn open_text(
    tree: &mut dyn Tree,
    index: usize,
) -> io::Result<BufReader<Decoded<Box<dyn Read + '_>>>> {
    Ok(BufReader::with_capacity(CHUNK, Decoded::new(tree.open(index)?)))
}

/// How a text begins, decoded.
pub(super) fn decode_head(head: &[u8]) -> String {
    let mut text = Vec::new();
    // Reading from memory does not fail, and what is decoded is UTF-8.
    let _ = Decoded::new(head).read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Bytes in, UTF-8 out.
pub(super) struct Decoded<R> {
    inner: R,
    /// Bytes that were read and not yet decoded.
    raw: Vec<u8>,
    /// UTF-8 that was not yet given out, from `given` on.
    text: Vec<u8>,
    given: usize,
    wide: Option<Decoder>,
    started: bool,
    ended: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, raw: Vec::new(), text: Vec::new(), given: 0, wide: None, started: false, ended: false }
    }

    /// Reads one more chunk, or finds the end.
    fn fill(&mut self) -> io::Result<()> {
        let had = self.raw.len();
        self.raw.resize(had + CHUNK, 0);
        let read = loop {
            match self.inner.read(&mut self.raw[had..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.raw.truncate(had + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(())
    }

    fn start(&mut self) -> io::Result<()> {
        // Enough to tell the encoding, however small the pieces come.
        while self.raw.len() < 1024 && !self.ended {
            self.fill()?;
        }
        self.started = true;
        let (wide, mark) = match self.raw.as_slice() {
            [0xef, 0xbb, 0xbf, ..] => (None, 3),
            [0xff, 0xfe, ..] => (Some(UTF_16LE), 2),
            [0xfe, 0xff, ..] => (Some(UTF_16BE), 2),
            raw => (unmarked_wide(raw), 0),
        };
        self.wide = wide.map(encoding_rs::Encoding::new_decoder_without_bom_handling);
        self.raw.drain(..mark);
        Ok(())
    }

    fn decode(&mut self) {
        self.text.clear();
        self.given = 0;
        match &mut self.wide {
            None => decode_narrow(&mut self.raw, &mut self.text, self.ended),
            Some(decoder) => {
                let most = decoder.max_utf8_buffer_length(self.raw.len()).unwrap_or(4 * self.raw.len() + 16);
                self.text.resize(most, 0);
                let (_, read, written, _) = decoder.decode_to_utf8(&self.raw, &mut self.text, self.ended);
                self.text.truncate(written);
                self.raw.drain(..read);
            }
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.started {
            self.start()?;
            self.decode();
        }
        while self.given == self.text.len() {
            if self.ended {
                return Ok(0);
            }
            self.fill()?;
            self.decode();
        }
        let count = buffer.len().min(self.text.len() - self.given);
        buffer[..count].copy_from_slice(&self.text[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// UTF-16 without a mark: letters of most scripts that tables are written in have a zero byte.
fn unmarked_wide(raw: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let pairs = raw.len().min(1024) / 2;
    let zeros = |at: usize| raw.chunks_exact(2).take(pairs).filter(|pair| pair[at] == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    match pairs >= 4 && even + odd > pairs / 2 {
        true if odd > 4 * even => Some(UTF_16LE),
        true if even > 4 * odd => Some(UTF_16BE),
        _ => None,
    }
}

/// Decodes what is whole; a character cut at the end waits for the next chunk.
fn decode_narrow(raw: &mut Vec<u8>, text: &mut Vec<u8>, ended: bool) {
    let mut at = 0;
    while at < raw.len() {
        let rest = &raw[at..];
        let Err(error) = std::str::from_utf8(rest) else {
            text.extend_from_slice(rest);
            at = raw.len();
            break;
        };
        let (valid, after) = rest.split_at(error.valid_up_to());
        text.extend_from_slice(valid);
        at += valid.len();
        let wrong = match error.error_len() {
            Some(length) => length,
            None if ended => after.len(),
            None => break,
        };
        let (decoded, _) = WINDOWS_1252.decode_without_bom_handling(&after[..wrong]);
        text.extend_from_slice(decoded.as_bytes());
        at += wrong;
    }
    raw.drain(..at);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], text: &str) {
        assert_eq!(decode_head(bytes), text);
        let mut slow = String::new();
        Decoded::new(Slow(bytes)).read_to_string(&mut slow).unwrap();
        assert_eq!(slow, text);
    }

    fn wide(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn every_encoding_comes_out_as_the_same_text() {
        let text = "name;größe\nÄpfel;€ 3 😀\n";
        check(text.as_bytes(), text);
        check(&[b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat(), text);
        check(&wide(text, u16::to_le_bytes), text);
        check(&wide(text, u16::to_be_bytes), text);
        check(&wide(&format!("\u{feff}{text}"), u16::to_le_bytes), text);
        check(&wide(&format!("\u{feff}{text}"), u16::to_be_bytes), text);
        check(b"name;gr\xf6\xdfe\n\xc4pfel;\x80 3\n", "name;größe\nÄpfel;€ 3\n");
        check(b"half a character: \xe2\x82", "half a character: â‚");
        check(b"", "");
    }

    #[test]
    fn a_late_foreign_byte_is_read_too() {
        let mut bytes = "ä".repeat(100_000).into_bytes();
        bytes.extend_from_slice(b"\xfc!");
        check(&bytes, &format!("{}ü!", "ä".repeat(100_000)));
    }
}
