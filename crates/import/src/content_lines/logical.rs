//! Unfolds physical lines into logical ones.

use std::io::{self, BufRead};

use crate::lines::{Line, Lines};

use super::MOST_BYTES;

/// A logical line with the number of its first physical one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Logical {
    pub(super) number: u64,
    /// `None` when it was longer than the bound.
    pub(super) bytes: Option<Vec<u8>>,
}

/// Joins what was folded: by white space, and in old contacts by `=` or by bare base64.
#[derive(Debug)]
pub(super) struct LogicalLines<R> {
    lines: Lines<R>,
    /// The physical line that was read to see whether it goes on; `None` inside when it was too long.
    ahead: Option<(u64, Option<Vec<u8>>)>,
    ended: bool,
}

impl<R: BufRead> LogicalLines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { lines: Lines::new(reader, MOST_BYTES), ahead: None, ended: false }
    }

    fn physical(&mut self) -> io::Result<Option<(u64, Option<Vec<u8>>)>> {
        if self.ended {
            return Ok(None);
        }
        let line = match self.lines.next_line()? {
            None => {
                self.ended = true;
                return Ok(None);
            }
            Some(Line::Whole(bytes)) => Some(bytes.to_vec()),
            Some(Line::TooLong) => None,
        };
        Ok(Some((self.lines.count(), line)))
    }

    /// The next line that is not blank; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Logical>> {
        let (number, mut joined) = loop {
            let first = match self.ahead.take() {
                Some(ahead) => Some(ahead),
                None => self.physical()?,
            };
            match first {
                None => return Ok(None),
                Some((_, Some(bytes))) if bytes.trim_ascii().is_empty() => {}
                Some(first) => break first,
            }
        };
        let encoding = joined.as_deref().map_or(Encoding::Plain, Encoding::of);
        while let Some((at, line)) = self.physical()? {
            let Some(more) = encoding.continuation(joined.as_deref(), line.as_deref()) else {
                self.ahead = Some((at, line));
                break;
            };
            let soft = more.soft;
            let fits = joined.as_ref().is_some_and(|bytes| bytes.len() + more.bytes.len() <= MOST_BYTES);
            match &mut joined {
                Some(bytes) if fits => {
                    if soft {
                        bytes.pop();
                    }
                    bytes.extend_from_slice(more.bytes);
                }
                _ => joined = None,
            }
        }
        Ok(Some(Logical { number, bytes: joined }))
    }
}

/// How the value of a line is written, as far as it decides where the line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Plain,
    QuotedPrintable,
    Base64,
}

struct More<'a> {
    bytes: &'a [u8],
    /// The `=` before it goes.
    soft: bool,
}

impl Encoding {
    fn of(line: &[u8]) -> Self {
        let header = line.split(|byte| *byte == b':').next().unwrap_or_default().to_ascii_uppercase();
        let says = |word: &[u8]| {
            header.split(|byte| *byte == b';').skip(1).any(|parameter| {
                parameter == word || parameter.strip_prefix(b"ENCODING=").is_some_and(|value| value == word)
            })
        };
        if says(b"QUOTED-PRINTABLE") {
            Self::QuotedPrintable
        } else if says(b"BASE64") || says(b"B") {
            Self::Base64
        } else {
            Self::Plain
        }
    }

    /// What a physical line adds to the logical one before it, if it belongs to it.
    fn continuation<'a>(self, so_far: Option<&[u8]>, line: Option<&'a [u8]>) -> Option<More<'a>> {
        let line = line?;
        if self == Self::QuotedPrintable && so_far.is_some_and(|bytes| bytes.ends_with(b"=")) {
            return Some(More { bytes: line, soft: true });
        }
        if let [b' ' | b'\t', rest @ ..] = line {
            return Some(More { bytes: rest, soft: false });
        }
        // Some phones fold base64 without the white space that a fold needs.
        let bare = || line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
        if self == Self::Base64 && !line.is_empty() && bare() {
            return Some(More { bytes: line, soft: false });
        }
        None
    }
}
