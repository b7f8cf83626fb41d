//! Cuts a mailbox file into messages, one in memory at a time.
//!
//! A message begins after a line `From …` that stands at the very beginning or behind an empty line. Bodies hold such
//! lines too, and not every program quotes them, so the line must also look like a separator and be followed by a
//! header field. Quoted lines (`>From `) lose one mark.

use std::io::{self, BufRead};

use memchr::memchr;

use super::headers::field_name_end;

/// Longest message that is kept whole. Providers stop at 50 MB on the way in.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;
/// Longest piece of a line that is looked at in one go.
const PIECE: usize = 64 * 1024;
/// A buffer above this size is given back after its message.
const KEEP: usize = 1024 * 1024;

/// One message as it lay in the mailbox.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut<'b> {
    /// Its bytes, without the separator and unquoted; only the first of them when it is too long.
    pub(super) bytes: &'b [u8],
    /// What the separator says after `From `.
    pub(super) separator: &'b [u8],
    /// Counted from one.
    pub(super) number: u64,
    pub(super) is_too_long: bool,
    /// Whether nothing follows it.
    pub(super) is_last: bool,
}

/// A mailbox while it is read.
#[derive(Debug)]
pub(super) struct Mbox<R> {
    reader: R,
    longest: usize,
    /// The piece of a line that was read last.
    piece: Vec<u8>,
    /// Whether the piece begins a line.
    begins_line: bool,
    /// Whether the piece has yet to be looked at.
    is_held: bool,
    separator: Vec<u8>,
    next_separator: Option<Vec<u8>>,
    message: Vec<u8>,
    /// How long the message is, kept or not.
    length: usize,
    number: u64,
    /// Whether bytes before the first message belong to none.
    pub(super) has_lead: bool,
}

impl<R: BufRead> Mbox<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::with_longest(reader, LONGEST)
    }

    fn with_longest(reader: R, longest: usize) -> Self {
        Self {
            reader,
            longest,
            piece: Vec::new(),
            begins_line: true,
            is_held: false,
            separator: Vec::new(),
            next_separator: None,
            message: Vec::new(),
            length: 0,
            number: 0,
            has_lead: false,
        }
    }

    /// The next message; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Cut<'_>>> {
        if self.number == 0 {
            self.find_first()?;
        }
        let Some(separator) = self.next_separator.take() else { return Ok(None) };
        self.number += 1;
        self.separator = separator;
        self.message.clear();
        self.message.shrink_to(KEEP);
        self.length = 0;
        self.gather()?;
        // The empty line at the end belongs to the mailbox, not to the message.
        let ends = [&b"\n\r\n"[..], b"\n\n"];
        if let Some(end) = ends.iter().find(|end| self.message.ends_with(end)) {
            self.message.truncate(self.message.len() + 1 - end.len());
        }
        Ok(Some(Cut {
            bytes: &self.message,
            separator: said(&self.separator),
            number: self.number,
            is_too_long: self.length > self.longest,
            is_last: self.next_separator.is_none(),
        }))
    }

    /// Goes to the first separator; what lies before it belongs to no message.
    fn find_first(&mut self) -> io::Result<()> {
        let mut is_blank = true;
        while self.read_piece()? {
            let first = self.piece.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.piece);
            if !self.has_lead && first.starts_with(b"From ") {
                self.next_separator = Some(first.to_vec());
                return Ok(());
            }
            if self.begins_line && is_blank && is_separator(&self.piece) && self.confirm()? {
                return Ok(());
            }
            is_blank = self.begins_line && is_empty_line(&self.piece);
            self.has_lead |= !is_blank;
            self.is_held = false;
        }
        Ok(())
    }

    /// Gathers lines until the next message begins.
    fn gather(&mut self) -> io::Result<()> {
        let mut is_blank = false;
        while std::mem::take(&mut self.is_held) || self.read_piece()? {
            if self.begins_line && is_blank && is_separator(&self.piece) {
                let candidate = self.piece.clone();
                if self.confirm()? {
                    return Ok(());
                }
                // It was a line of the body after all; the one behind it is looked at next.
                self.push(&candidate);
                is_blank = false;
                continue;
            }
            let piece = std::mem::take(&mut self.piece);
            let unquoted = if self.begins_line { unquote(&piece) } else { &piece };
            self.push(unquoted);
            is_blank = self.begins_line && is_empty_line(&piece);
            self.piece = piece;
        }
        Ok(())
    }

    /// Whether the line after a separator begins a message. The line is held either way.
    fn confirm(&mut self) -> io::Result<bool> {
        let separator = self.piece.clone();
        let follows = if self.read_piece()? {
            self.is_held = true;
            field_name_end(&self.piece).is_some() || self.piece.starts_with(b">From ")
        } else {
            // The mailbox was cut right behind it.
            self.piece.clear();
            true
        };
        if follows {
            self.next_separator = Some(separator);
        }
        Ok(follows)
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = self.longest - self.message.len();
        self.length = self.length.saturating_add(bytes.len());
        self.message.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Reads up to the end of the line, or as much of it as one piece holds.
    fn read_piece(&mut self) -> io::Result<bool> {
        self.begins_line = self.piece.last().is_none_or(|byte| *byte == b'\n');
        self.piece.clear();
        while self.piece.len() < PIECE {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if available.is_empty() {
                break;
            }
            let room = available.len().min(PIECE - self.piece.len());
            let used = memchr(b'\n', &available[..room]).map_or(room, |at| at + 1);
            self.piece.extend_from_slice(&available[..used]);
            self.reader.consume(used);
            if self.piece.last() == Some(&b'\n') {
                break;
            }
        }
        Ok(!self.piece.is_empty())
    }
}

fn is_empty_line(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

/// What a separator says behind its first word.
fn said(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"From ").unwrap_or(line).trim_ascii()
}

/// Whether a line looks like one: `From ` and nothing, one word, or a time of day with a year.
fn is_separator(line: &[u8]) -> bool {
    if !line.starts_with(b"From ") || line.len() > 1000 {
        return false;
    }
    let said = said(line);
    let is_time = |word: &[u8]| word.len() >= 4 && word[0].is_ascii_digit() && word.contains(&b':');
    let is_year = |word: &[u8]| word.len() == 4 && word.iter().all(u8::is_ascii_digit);
    let words = || said.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    words().count() <= 1 || (words().any(is_time) && words().any(is_year))
}

/// A quoted line without one of its marks.
fn unquote(line: &[u8]) -> &[u8] {
    let marks = line.iter().take_while(|byte| **byte == b'>').count();
    if marks > 0 && line[marks..].starts_with(b"From ") { &line[1..] } else { line }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            // A tiny buffer, so that every line crosses its border.
            let mut mbox = Mbox::with_longest(BufReader::with_capacity(3, text.as_bytes()), 200);
            let mut told = Vec::new();
            while let Some(cut) = mbox.next().unwrap() {
                let bytes = String::from_utf8_lossy(cut.bytes).replace("\r\n", "\n");
                let long = if cut.is_too_long { " too long" } else { "" };
                let last = if cut.is_last { " last" } else { "" };
                told.push(format!(
                    "{}{long}{last} [{}] {bytes:?}",
                    cut.number,
                    String::from_utf8_lossy(cut.separator)
                ));
            }
            if mbox.has_lead {
                told.push("lead".into());
            }
            expected.assert_eq(&told.join("\n"));
        }
    }

    #[test]
    fn messages_begin_behind_separators() {
        check("", expect![""]);
        check(
            "From a@x Fri Jan  2 03:04:05 2026\nA: 1\n\none\n\nFrom - Fri Jan 2 03:04:05 2026\nB: 2\n\ntwo\n",
            expect![[r#"
            1 [a@x Fri Jan  2 03:04:05 2026] "A: 1\n\none\n"
            2 last [- Fri Jan 2 03:04:05 2026] "B: 2\n\ntwo\n""#]],
        );
        check(
            "From \nA: 1\n\none\n\nFrom \nB: 2\n\ntwo",
            expect![[r#"
            1 [] "A: 1\n\none\n"
            2 last [] "B: 2\n\ntwo""#]],
        );
    }

    #[test]
    fn lines_of_bodies_are_no_separators() {
        check(
            "From a\nA: 1\n\n\nFrom here on\nSubject: no\n\nFrom the 12:30 train\n",
            expect![[r#"
            1 last [a] "A: 1\n\n\nFrom here on\nSubject: no\n\nFrom the 12:30 train\n""#]],
        );
        check(
            "From a\nA: 1\n\nFrom Fri 10:00 2026\nprose follows\n",
            expect![[r#"
            1 last [a] "A: 1\n\nFrom Fri 10:00 2026\nprose follows\n""#]],
        );
        check(
            "From a\nA: 1\n\n>From me\n>>From you\n> From\n",
            expect![[r#"
            1 last [a] "A: 1\n\nFrom me\n>From you\n> From\n""#]],
        );
    }

    #[test]
    fn what_comes_before_the_first_separator_is_told() {
        check(
            "rubbish\n\nFrom a\nA: 1\n\nx\n",
            expect![[r#"
            1 last [a] "A: 1\n\nx\n"
            lead"#]],
        );
        check("\n\nFrom a\nA: 1\n", expect![[r#"1 last [a] "A: 1\n""#]]);
        check("rubbish", expect!["lead"]);
    }

    #[test]
    fn a_mailbox_may_stop_anywhere() {
        check(
            "From a\nA: 1\n\nx\n\nFrom b",
            expect![[r#"
            1 [a] "A: 1\n\nx\n"
            2 last [b] """#]],
        );
        check("From a\nA: 1", expect![[r#"1 last [a] "A: 1""#]]);
        check("From a", expect![[r#"1 last [a] """#]]);
    }

    #[test]
    fn a_message_that_is_too_long_keeps_its_beginning() {
        let text = format!("From a\nA: 1\n\n{}\n\nFrom b\nB: 2\n\ny\n", "x".repeat(90));
        let mut mbox = Mbox::with_longest(text.as_bytes(), 10);
        let cut = mbox.next().unwrap().unwrap();
        assert_eq!((cut.bytes, cut.is_too_long), (&b"A: 1\n\nxxxx"[..], true));
        let cut = mbox.next().unwrap().unwrap();
        assert_eq!((cut.bytes, cut.is_too_long), (&b"B: 2\n\ny\n"[..], false));
    }

    #[test]
    fn memory_stays_flat() {
        let endless = io::Read::chain(&b"From a\nA: 1\n\n"[..], io::Read::take(io::repeat(b'x'), 200 << 20));
        let mut mbox = Mbox::with_longest(BufReader::new(endless), 1 << 20);
        assert!(mbox.next().unwrap().unwrap().is_too_long);
        assert!(mbox.message.capacity() <= 4 << 20 && mbox.piece.capacity() <= 4 * PIECE);
        assert_eq!(mbox.next().unwrap(), None);
    }
}
