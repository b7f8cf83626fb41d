//! Lines of bounded length from bytes of any length.

use std::io::{self, BufRead};

/// A buffer above this size is given back after its line.
const KEEP: usize = 1024 * 1024;

/// One line, or that it was too long.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The line without its end.
    Whole(&'a [u8]),
    /// Skipped, however long it was, without keeping it.
    TooLong,
}

/// Cuts bytes into lines.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: Vec<u8>,
    count: u64,
}

impl<R: BufRead> Lines<R> {
    /// Starts reading; a line longer than `limit` bytes is skipped.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, buffer: Vec::new(), count: 0 }
    }

    /// How many lines were given; the number of the last one.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.buffer.shrink_to(KEEP);
        let (mut seen, mut too_long) = (false, false);
        loop {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if available.is_empty() {
                break;
            }
            seen = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            too_long |= self.buffer.len() + part.len() > self.limit;
            if !too_long {
                self.buffer.extend_from_slice(part);
            }
            let used = end.map_or(part.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !seen {
            return Ok(None);
        }
        self.count += 1;
        Ok(Some(if too_long { Line::TooLong } else { Line::Whole(self.text()) }))
    }

    /// The line without a carriage return at its end, or a byte order mark at the very beginning.
    fn text(&self) -> &[u8] {
        let text = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        match self.count {
            1 => text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &[u8], expected: Expect) {
        // A tiny buffer, so that every line crosses its border.
        let mut lines = Lines::new(BufReader::with_capacity(3, text), 8);
        let mut told = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            told.push(match line {
                Line::Whole(text) => String::from_utf8_lossy(text).into_owned(),
                Line::TooLong => "(too long)".to_owned(),
            });
        }
        expected.assert_eq(&told.join("|"));
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        check(b"", expect![""]);
        check(b"a\nbc\n", expect!["a|bc"]);
        check(b"a\n\nbc", expect!["a||bc"]);
        check(b"\xef\xbb\xbfa\r\n\xef\xbb\xbfb\r\n", expect!["a|\u{feff}b"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_read() {
        check(b"12345678\n123456789\n1234567890123456789\nok", expect!["12345678|(too long)|(too long)|ok"]);
    }

    #[test]
    fn a_skipped_line_is_never_held_in_memory() {
        let endless = BufReader::new(io::Read::take(io::repeat(b'x'), 64 * 1024 * 1024));
        let mut lines = Lines::new(endless, 1024);
        assert_eq!(lines.next_line().unwrap(), Some(Line::TooLong));
        assert!(lines.buffer.capacity() <= 64 * 1024, "{}", lines.buffer.capacity());
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
