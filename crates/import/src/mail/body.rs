//! What of a message is its text, and what is attached to it.
//!
//! Of alternatives the plain one is taken where it says something, otherwise the page is turned into text. Parts that
//! follow each other are joined. Everything else is an attachment, and so is a text too long to be kept whole.

use super::flowed::unflow;
use super::mime::{Mime, Part};
use crate::charset;
use crate::html_text::html_to_text;

/// Longest text of one message.
const LONGEST_TEXT: usize = 2 * 1024 * 1024;
/// How deep messages inside messages are read for their text.
const DEEPEST: usize = 4;

/// A message's text and attachments.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) text: String,
    /// The places of the attached parts.
    pub(super) attached: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Page,
    Attached,
}

impl Body {
    pub(super) fn read(mime: &Mime<'_>) -> Self {
        let roles: Vec<Role> = mime.parts.iter().map(|part| role(part, mime.parts.len() == 1)).collect();
        let roles = &roles;
        let mut body = Self::default();
        let mut at = 0;
        while at < mime.parts.len() {
            // Alternatives stand together; a part outside of any stands alone.
            let group = mime.parts[at].alternatives;
            let same = |part: &&Part| group.is_some() && part.alternatives == group;
            let length = mime.parts[at..].iter().take_while(same).count().max(1);
            let of = |wanted: Role| (at..at + length).filter(move |place| roles[*place] == wanted);
            let plain = body.join(mime, of(Role::Plain), Role::Plain);
            // A page is costly to read and rarely needed beside its plain text.
            let page =
                if says_enough(&plain) { String::new() } else { body.join(mime, of(Role::Page), Role::Page) };
            body.append(if is_stand_in(&plain, &page) { &page } else { &plain });
            body.attached.extend(of(Role::Attached));
            at += length;
        }
        body.attached.sort_unstable();
        body.attached.dedup();
        body
    }

    fn join(&mut self, mime: &Mime<'_>, places: impl Iterator<Item = usize>, role: Role) -> String {
        let mut joined = String::new();
        for place in places {
            let text = readable(mime, &mime.parts[place], role);
            if text.len() > LONGEST_TEXT {
                self.attached.push(place);
            }
            if !joined.is_empty() && !text.trim().is_empty() {
                joined.push_str("\n\n");
            }
            joined.push_str(text.trim_end());
        }
        joined
    }

    fn append(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.text.truncate(self.text.floor_char_boundary(LONGEST_TEXT));
    }
}

fn role(part: &Part, is_only: bool) -> Role {
    let disposition = part.headers.typed("content-disposition");
    let named = name(part).is_some();
    let is_attachment = disposition.as_ref().is_some_and(|found| found.main == "attachment");
    let is_file = !is_only && (is_attachment || named);
    match (part.kind.main.as_str(), part.kind.sub.as_str()) {
        ("text", "html") if !is_file => Role::Page,
        // A multipart that could not be taken apart is shown as it stands.
        ("text", "plain" | "" | "enriched" | "x-markdown" | "markdown") | ("multipart", _) if !is_file => {
            Role::Plain
        }
        _ => Role::Attached,
    }
}

/// The name a part goes by.
pub(super) fn name(part: &Part) -> Option<String> {
    let disposition = part.headers.typed("content-disposition");
    let given =
        disposition.as_ref().and_then(|found| found.parameter("filename")).or(part.kind.parameter("name"))?;
    let clean: String = given.chars().filter(|letter| !letter.is_control()).take(255).collect();
    let clean = clean.trim();
    if clean.is_empty() { None } else { Some(clean.to_owned()) }
}

fn readable(mime: &Mime<'_>, part: &Part, role: Role) -> String {
    let text = charset::decode(&mime.content(part), part.kind.parameter("charset"));
    let text = text.replace("\r\n", "\n").replace('\0', "");
    if role == Role::Page {
        return html_to_text(&text, LONGEST_TEXT + 1);
    }
    let is = |name: &str, value: &str| {
        part.kind.parameter(name).is_some_and(|said| said.eq_ignore_ascii_case(value))
    };
    if is("format", "flowed") { unflow(&text, is("delsp", "yes")) } else { text }
}

fn says_enough(plain: &str) -> bool {
    plain.trim().len() >= 200
}

/// Whether plain text only stands there because there had to be some: "your program cannot show this message".
fn is_stand_in(plain: &str, page: &str) -> bool {
    plain.trim().is_empty() || page.len() > plain.trim().len() * 5
}

/// The text of a message in a file: who, what about, and what it says, messages inside it included.
pub(crate) fn text_of_message(bytes: &[u8]) -> Option<String> {
    text_at(bytes, DEEPEST)
}

fn text_at(bytes: &[u8], deeper: usize) -> Option<String> {
    let mime = Mime::parse(bytes);
    let mut lines = Vec::new();
    for (field, label) in [("from", "From"), ("to", "To"), ("date", "Date"), ("subject", "Subject")] {
        lines.extend(mime.headers.text(field).map(|text| format!("{label}: {text}")));
    }
    if lines.is_empty() {
        return None;
    }
    let body = Body::read(&mime);
    let mut text = format!("{}\n\n{}", lines.join("\n"), body.text);
    for place in body.attached {
        let part = &mime.parts[place];
        if text.len() > LONGEST_TEXT {
            break;
        }
        if let Some(name) = name(part) {
            text.extend(["\n\n[", &name, "]"]);
        }
        if is_message(part)
            && deeper > 0
            && let Some(inner) = text_at(&mime.content(part), deeper - 1)
        {
            text.extend(["\n\n", &inner]);
        }
    }
    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    Some(text.trim_end().to_owned())
}

/// Whether a part is a message of its own.
pub(super) fn is_message(part: &Part) -> bool {
    part.kind.main == "message" && matches!(part.kind.sub.as_str(), "rfc822" | "global")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: &str, attached: usize) {
        let mime = Mime::parse(message.as_bytes());
        let body = Body::read(&mime);
        assert_eq!((body.text.as_str(), body.attached.len()), (expected, attached));
    }

    fn alternatives(plain: &str, page: &str) -> String {
        format!(
            "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n{page}\n--b--\n"
        )
    }

    #[test]
    fn plain_text_is_taken_where_it_says_something() {
        check(&alternatives("hello there", "<p>hello <b>there</b></p>"), "hello there", 0);
        check(&alternatives("  \n", "<p>only here</p>"), "only here", 0);
        let page = format!("<p>{}</p>", "a real letter ".repeat(20));
        let stands_in = alternatives("Please use a modern program.", &page);
        check(&stands_in, "a real letter ".repeat(20).trim(), 0);
    }

    #[test]
    fn texts_are_joined_and_files_are_attached() {
        check(
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\nContent-Type: text/plain; name=notes.txt\n\nfile\n--b\nContent-Type: text/html\n\n<i>two</i>\n--b\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\n--b--\n",
            "one\n\ntwo",
            2,
        );
        check("Content-Type: text/plain; name=a.txt\n\nthe only part\n", "the only part", 0);
        check("Content-Type: application/pdf\n\n%PDF", "", 1);
    }

    #[test]
    fn a_text_too_long_is_cut_and_attached_whole() {
        let long = format!("Subject: x\n\n{}", "word ".repeat(1_000_000));
        let mime = Mime::parse(long.as_bytes());
        let body = Body::read(&mime);
        assert_eq!((body.text.len(), body.attached.as_slice()), (LONGEST_TEXT, &[0][..]));
    }

    #[test]
    fn messages_inside_messages_are_read_for_their_text() {
        let inner = "From: bo@example.org\nSubject: inner\n\ndeep words\n";
        let outer = format!(
            "From: ada@example.org\nSubject: outer\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee below\n--b\nContent-Type: message/rfc822\n\n{inner}\n--b--\n"
        );
        let text = text_of_message(outer.as_bytes()).unwrap();
        assert!(
            text.contains("Subject: outer") && text.contains("see below") && text.contains("deep words"),
            "{text}"
        );
        let mut nested = String::from(inner);
        for _ in 0..50 {
            nested = format!("Subject: x\nContent-Type: message/rfc822\n\n{nested}");
        }
        assert!(!text_of_message(nested.as_bytes()).unwrap().contains("deep words"));
        assert_eq!(text_of_message(b"no message"), None);
    }
}
