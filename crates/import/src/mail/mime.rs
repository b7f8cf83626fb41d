//! The parts of a message: one pass over its lines, without recursion.
//!
//! Parts lie inside each other, and a stranger decides how deep and how many. Depth and number are bounded, and only
//! places are kept: a part's bytes are decoded when somebody asks for them.

use std::ops::Range;

use memchr::memchr;

use super::headers::{Headers, Typed};
use super::transfer;

/// How deep parts may lie inside each other.
const DEEPEST: usize = 24;
/// Most parts of one message.
const MOST_PARTS: usize = 1000;

/// A message taken apart.
#[derive(Debug)]
pub(super) struct Mime<'m> {
    message: &'m [u8],
    /// The message's own headers.
    pub(super) headers: Headers,
    /// What holds content, in order.
    pub(super) parts: Vec<Part>,
    /// Whether the headers ended, and every part that was opened was closed.
    pub(super) is_complete: bool,
    /// Whether there are more parts than were looked at.
    pub(super) is_cut: bool,
}

/// One part that holds content.
#[derive(Debug)]
pub(super) struct Part {
    /// Its number among its neighbours, below that of the part it lies in: `2.1`.
    pub(super) path: String,
    pub(super) kind: Typed,
    pub(super) headers: Headers,
    body: Range<usize>,
    /// The group of alternatives it belongs to, if it does.
    pub(super) alternatives: Option<usize>,
    /// Whether its end was seen.
    pub(super) is_closed: bool,
}

/// A multipart that is being read.
struct Open {
    boundary: Vec<u8>,
    path: String,
    children: usize,
    is_digest: bool,
    alternatives: Option<usize>,
}

impl<'m> Mime<'m> {
    pub(super) fn parse(message: &'m [u8]) -> Self {
        let (block, body) = split_headers(message);
        let mut walk = Walk { message, open: Vec::new(), parts: Vec::new(), is_cut: false };
        let headers = Headers::parse(&message[..block]);
        let is_complete = match body {
            Some(body) => walk.run(headers.clone(), body),
            None => false,
        };
        Self { message, headers, parts: walk.parts, is_complete, is_cut: walk.is_cut }
    }

    /// A part's bytes as they were before they were packed for the way.
    pub(super) fn content(&self, part: &Part) -> Vec<u8> {
        let body = &self.message[part.body.clone()];
        match part.headers.raw("content-transfer-encoding").unwrap_or_default().to_ascii_lowercase().trim() {
            "base64" => transfer::base64(body),
            "quoted-printable" => transfer::quoted_printable(body),
            _ => body.to_vec(),
        }
    }

    /// What follows the headers, as it stands.
    pub(super) fn raw_body(&self) -> &'m [u8] {
        split_headers(self.message).1.map_or(&[], |body| &self.message[body..])
    }
}

struct Walk<'m> {
    message: &'m [u8],
    open: Vec<Open>,
    parts: Vec<Part>,
    is_cut: bool,
}

enum Delimiter {
    Next(usize),
    Last(usize),
}

impl Walk<'_> {
    /// Walks from the root's body to the end; whether everything that was opened was closed.
    fn run(&mut self, root: Headers, body: usize) -> bool {
        let mut current = self.enter(root, body, "");
        let mut at = body;
        while at < self.message.len() {
            let end = line_end(self.message, at);
            let Some(delimiter) = self.delimiter(&self.message[at..end]) else {
                at = end;
                continue;
            };
            if let Some(part) = current.take() {
                self.close(part, at, true);
            }
            at = end;
            match delimiter {
                // What was left open inside ends with it.
                Delimiter::Last(level) => self.open.truncate(level),
                Delimiter::Next(level) => {
                    self.open.truncate(level + 1);
                    if self.parts.len() >= MOST_PARTS {
                        self.is_cut = true;
                        continue;
                    }
                    let start = end;
                    at = self.headers_end(start);
                    let headers = Headers::parse(&self.message[start..at]);
                    let open = &mut self.open[level];
                    open.children += 1;
                    let path = format!("{}{}.", open.path, open.children);
                    current = self.enter(headers, at, &path);
                }
            }
        }
        let is_complete = self.open.is_empty();
        if let Some(part) = current {
            self.close(part, self.message.len(), is_complete);
        }
        is_complete
    }

    /// A part begins: it holds content, or others.
    fn enter(&mut self, headers: Headers, body: usize, path: &str) -> Option<Part> {
        let parent = self.open.last();
        let alternatives = parent.and_then(|open| open.alternatives);
        let in_digest = parent.is_some_and(|open| open.is_digest);
        let kind = headers.typed("content-type").unwrap_or_else(|| {
            let (main, sub) = if in_digest { ("message", "rfc822") } else { ("text", "plain") };
            Typed::plain(main, sub)
        });
        if kind.main == "multipart"
            && self.open.len() < DEEPEST
            && let Some(boundary) = kind.parameter("boundary")
        {
            let fresh = (kind.sub == "alternative").then_some(self.parts.len());
            self.open.push(Open {
                boundary: boundary.trim_end().as_bytes().to_vec(),
                path: path.to_owned(),
                children: 0,
                is_digest: kind.sub == "digest",
                // The outermost group decides: a page and its pictures are one alternative.
                alternatives: alternatives.or(fresh),
            });
            return None;
        }
        let path = if path.is_empty() { "1" } else { path.trim_end_matches('.') }.to_owned();
        Some(Part { path, kind, headers, body: body..body, alternatives, is_closed: false })
    }

    fn close(&mut self, mut part: Part, at: usize, is_closed: bool) {
        // The line break before a boundary belongs to the boundary.
        let mut end = at.max(part.body.start);
        if !self.open.is_empty() {
            let body = &self.message[part.body.start..end];
            let without = body.strip_suffix(b"\n").map(|body| body.strip_suffix(b"\r").unwrap_or(body));
            end = part.body.start + without.unwrap_or(body).len();
        }
        part.body.end = end;
        part.is_closed = is_closed;
        self.parts.push(part);
    }

    /// Whether a line separates parts, and of which multipart, the innermost first.
    fn delimiter(&self, line: &[u8]) -> Option<Delimiter> {
        let line = line.strip_prefix(b"--")?.trim_ascii_end();
        for (level, open) in self.open.iter().enumerate().rev() {
            match line.strip_prefix(open.boundary.as_slice()) {
                Some(b"") => return Some(Delimiter::Next(level)),
                Some(b"--") => return Some(Delimiter::Last(level)),
                _ => {}
            }
        }
        None
    }

    /// Where a part's headers end: after an empty line, or before a line that separates parts.
    fn headers_end(&self, start: usize) -> usize {
        let mut at = start;
        while at < self.message.len() {
            let end = line_end(self.message, at);
            let line = &self.message[at..end];
            if line.trim_ascii_end().is_empty() {
                return end;
            }
            if self.delimiter(line).is_some() {
                return at;
            }
            at = end;
        }
        at
    }
}

/// Where the headers end and the body begins; no body when no empty line ends the headers.
pub(super) fn split_headers(message: &[u8]) -> (usize, Option<usize>) {
    let mut at = 0;
    while at < message.len() {
        let end = line_end(message, at);
        if matches!(&message[at..end], b"\n" | b"\r\n") {
            return (at, Some(end));
        }
        at = end;
    }
    (message.len(), None)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found + 1)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(message: &str, expected: Expect) {
        for message in [message.to_owned(), message.replace('\n', "\r\n")] {
            let mime = Mime::parse(message.as_bytes());
            let mut told: Vec<String> = mime
                .parts
                .iter()
                .map(|part| {
                    let content = String::from_utf8_lossy(&mime.content(part)).replace("\r\n", "\n");
                    let group = part.alternatives.map_or(String::new(), |group| format!(" or{group}"));
                    let open = if part.is_closed { "" } else { " open" };
                    format!("{} {}/{}{group}{open} {content:?}", part.path, part.kind.main, part.kind.sub)
                })
                .collect();
            told.push(format!("complete={} cut={}", mime.is_complete, mime.is_cut));
            expected.assert_eq(&told.join("\n"));
        }
    }

    #[test]
    fn a_plain_message_is_one_part() {
        check(
            "Subject: x\n\nhello\n",
            expect![[r#"
            1 text/plain "hello\n"
            complete=true cut=false"#]],
        );
        check("Subject: x\n", expect!["complete=false cut=false"]);
        check(
            "\nonly a body",
            expect![[r#"
            1 text/plain "only a body"
            complete=true cut=false"#]],
        );
    }

    #[test]
    fn parts_lie_inside_each_other() {
        check(
            "Content-Type: multipart/mixed; boundary=a\n\npreamble\n--a\nContent-Type: multipart/alternative; boundary=\"a b\"\n\n--a b\n\nplain\n--a b  \nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p>h=\ni\n--a b--\nepilogue\n--a\nContent-Type: application/pdf\nContent-Transfer-Encoding: base64\n\naGk=\n\n--a--\nrest\n",
            expect![[r#"
                1.1 text/plain or0 "plain"
                1.2 text/html or0 "<p>hi"
                2 application/pdf "hi"
                complete=true cut=false"#]],
        );
    }

    #[test]
    fn an_inner_multipart_that_is_not_closed_ends_with_the_outer() {
        check(
            "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/related; boundary=b\n\n--b\n\none\n--a\n\ntwo\n--a--\n",
            expect![[r#"
                1.1 text/plain "one"
                2 text/plain "two"
                complete=true cut=false"#]],
        );
    }

    #[test]
    fn a_message_that_stops_in_the_middle_keeps_what_is_there() {
        check(
            "Content-Type: multipart/mixed; boundary=a\n\n--a\n\none\n--a\nContent-Type: image/png\n\ncut of",
            expect![[r#"
                1 text/plain "one"
                2 image/png open "cut of"
                complete=false cut=false"#]],
        );
        check(
            "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: image/png\n--a--\n",
            expect![[r#"
                1 image/png ""
                complete=true cut=false"#]],
        );
    }

    #[test]
    fn parts_of_a_digest_are_messages() {
        check(
            "Content-Type: multipart/digest; boundary=a\n\n--a\n\nSubject: x\n\nhi\n--a--\n",
            expect![[r#"
            1 message/rfc822 "Subject: x\n\nhi"
            complete=true cut=false"#]],
        );
        check(
            "Content-Type: multipart/mixed\n\nno boundary\n",
            expect![[r#"
            1 multipart/mixed "no boundary\n"
            complete=true cut=false"#]],
        );
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let level = |n: u32| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
        let deep = (0..100_000).map(level).collect::<Vec<_>>().concat();
        assert!(Mime::parse(deep.as_bytes()).parts.len() <= 1);
        let many = format!("Content-Type: multipart/mixed; boundary=b\n\n{}", "--b\n\nx\n".repeat(5000));
        let mime = Mime::parse(many.as_bytes());
        assert_eq!((mime.parts.len(), mime.is_cut), (MOST_PARTS, true));
        let nested = "Content-Type: message/rfc822\n\n".repeat(200_000);
        assert_eq!(Mime::parse(nested.as_bytes()).parts.len(), 1);
    }
}
