//! The headers of a message or of one of its parts.
//!
//! Fields are unfolded, made text whatever bytes they hold, and bounded before anything interprets them: what is sent
//! to a person is written by strangers, and a header may be as long as they please.

use mail_parser::parsers::MessageStream;
use mail_parser::{Address, ContentType, HeaderValue};

use super::words;
use crate::charset;

/// Most bytes of headers that are kept.
const MOST_BYTES: usize = 1024 * 1024;
/// Longest field that is kept whole. Five thousand recipients fit.
const LONGEST_FIELD: usize = 256 * 1024;
/// Longest field that names a type with parameters.
const LONGEST_TYPE: usize = 16 * 1024;
/// Most fields.
const MOST_FIELDS: usize = 2000;
/// Most people or ids one field gives.
pub(super) const MOST_NAMES: usize = 5000;

/// Header fields in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers {
    /// The name in small letters, and the text without line breaks.
    fields: Vec<(String, String)>,
    /// Whether something was too long to be kept whole.
    pub(super) is_cut: bool,
}

/// A name with an address, either of which may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mailbox {
    pub(super) name: Option<String>,
    pub(super) address: Option<String>,
}

impl Headers {
    /// Reads a block of fields. A line that is no field is skipped.
    pub(super) fn parse(block: &[u8]) -> Self {
        let mut headers = Self { fields: Vec::new(), is_cut: block.len() > MOST_BYTES };
        let block = &block[..block.len().min(MOST_BYTES)];
        let mut field: Vec<u8> = Vec::new();
        for line in block.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if matches!(line, [b' ' | b'\t', ..]) && !field.is_empty() {
                field.push(b' ');
                field.extend_from_slice(line.trim_ascii_start());
            } else {
                headers.take(&field);
                field.clear();
                field.extend_from_slice(line);
            }
        }
        headers.take(&field);
        headers
    }

    fn take(&mut self, field: &[u8]) {
        let Some(colon) = field_name_end(field) else { return };
        if self.fields.len() == MOST_FIELDS {
            self.is_cut = true;
            return;
        }
        let name = String::from_utf8_lossy(field[..colon].trim_ascii_end()).to_ascii_lowercase();
        let mut value = field[colon + 1..].trim_ascii();
        let longest = if name.starts_with("content-") { LONGEST_TYPE } else { LONGEST_FIELD };
        if value.len() > longest {
            self.is_cut = true;
            value = &value[..longest];
        }
        let text = charset::decode(value, None);
        self.fields.push((name, text.replace('\0', "")));
    }

    /// The first field of a name, as it stands.
    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Every field of a name, as they stand.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |field| field.0 == name).map(|field| field.1.as_str())
    }

    /// The text of a field, decoded; `None` when it is empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = words::decode(self.raw(name)?);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { None } else { Some(text) }
    }

    /// The people a field names, of all fields of that name.
    pub(super) fn mailboxes(&self, name: &str) -> Vec<Mailbox> {
        let mut found = Vec::new();
        for field in self.all(name) {
            let field = words::unify(field) + "\n";
            if let HeaderValue::Address(address) = MessageStream::new(field.as_bytes()).parse_address() {
                gather(&address, &mut found);
            }
        }
        found.truncate(MOST_NAMES);
        found
    }

    /// The ids a field names, without their brackets.
    pub(super) fn ids(&self, name: &str) -> Vec<String> {
        let mut ids = Vec::new();
        for field in self.all(name) {
            let mut rest = field;
            while let Some((_, after)) = rest.split_once('<')
                && let Some((id, after)) = after.split_once('>')
            {
                ids.push(id.split_whitespace().collect::<String>());
                rest = after;
            }
            if ids.is_empty() {
                ids.extend(field.split_whitespace().filter(|word| word.contains('@')).map(str::to_owned));
            }
        }
        ids.retain(|id| !id.is_empty() && id.len() <= 998);
        ids.truncate(MOST_NAMES);
        ids
    }

    /// A field that names a type with parameters: `text/plain; charset=utf-8`, `attachment; filename=x`.
    pub(super) fn typed(&self, name: &str) -> Option<Typed> {
        let field = words::unify(self.raw(name)?) + "\n";
        match MessageStream::new(field.as_bytes()).parse_content_type() {
            HeaderValue::ContentType(found) => Some(Typed::new(&found)),
            _ => None,
        }
    }
}

/// A type with parameters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) main: String,
    pub(super) sub: String,
    parameters: Vec<(String, String)>,
}

impl Typed {
    /// A type without parameters.
    pub(super) fn plain(main: &str, sub: &str) -> Self {
        Self { main: main.to_owned(), sub: sub.to_owned(), parameters: Vec::new() }
    }

    fn new(found: &ContentType<'_>) -> Self {
        let parameters = found.attributes.iter().flatten();
        Self {
            main: found.c_type.trim().to_ascii_lowercase(),
            sub: found.c_subtype.as_deref().unwrap_or_default().trim().to_ascii_lowercase(),
            parameters: parameters
                .map(|one| (one.name.to_ascii_lowercase(), one.value.clone().into_owned()))
                .collect(),
        }
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Where a field's name ends: at a colon after letters without blanks. `None` when the line is no field.
pub(super) fn field_name_end(line: &[u8]) -> Option<usize> {
    let colon = line.iter().take(128).position(|byte| *byte == b':')?;
    let name = line[..colon].trim_ascii_end();
    let plain = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    plain.then_some(colon)
}

fn gather(address: &Address<'_>, found: &mut Vec<Mailbox>) {
    let tidy = |text: Option<&str>| {
        let text = text?.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { None } else { Some(text) }
    };
    for one in address.iter() {
        let mailbox = Mailbox { name: tidy(one.name()), address: tidy(one.address()) };
        if mailbox.name.is_some() || mailbox.address.is_some() {
            found.push(mailbox);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(field: &str) -> String {
        let headers = Headers::parse(field.as_bytes());
        let told = headers
            .mailboxes("to")
            .into_iter()
            .map(|one| format!("{}={}", one.name.unwrap_or_default(), one.address.unwrap_or_default()));
        told.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn fields_are_unfolded_and_named_in_small_letters() {
        let headers =
            Headers::parse(b"Subject: one\r\n two\r\n\tthree\r\nno field here\nX-A : b\nsubject: again\n");
        assert_eq!(headers.raw("subject"), Some("one two three"));
        assert_eq!(headers.all("subject").count(), 2);
        assert_eq!(headers.raw("x-a"), Some("b"));
        assert_eq!(headers.text("nothing"), None);
    }

    #[test]
    fn raw_bytes_in_a_header_become_text() {
        assert_eq!(Headers::parse(b"Subject: Gr\xfc\xdfe").text("subject").as_deref(), Some("Grüße"));
        assert_eq!(Headers::parse("Subject: Grüße".as_bytes()).text("subject").as_deref(), Some("Grüße"));
        assert_eq!(Headers::parse(b"Subject: a\0b").text("subject").as_deref(), Some("ab"));
    }

    #[test]
    fn people_are_read_in_all_spellings() {
        assert_eq!(
            people("To: Ada <ada@example.org>, bo@example.org"),
            "Ada=ada@example.org|=bo@example.org"
        );
        assert_eq!(people("To: \"Berg, Ada\" <ada@example.org>"), "Berg, Ada=ada@example.org");
        assert_eq!(people("To: =?utf-8?Q?Ad=C3?= =?utf-8?Q?=A1?= <ada@example.org>"), "Adá=ada@example.org");
        assert_eq!(people("To: ada@example.org (Ada Berg)"), "Ada Berg=ada@example.org");
        assert_eq!(people("To: Crew: ada@example.org, bo@example.org;"), "=ada@example.org|=bo@example.org");
        assert_eq!(people("To: undisclosed-recipients:;"), "");
        assert_eq!(people("To: Only A Name"), "Only A Name=");
        assert_eq!(people("To: a@example.org\nTo: b@example.org"), "=a@example.org|=b@example.org");
    }

    #[test]
    fn ids_are_read_with_and_without_brackets() {
        let headers =
            Headers::parse(b"References: <a@x>\n <b@x>, junk <c@ x>\nIn-Reply-To: bare@x\nMessage-ID: <>");
        assert_eq!(headers.ids("references"), ["a@x", "b@x", "c@x"]);
        assert_eq!(headers.ids("in-reply-to"), ["bare@x"]);
        assert!(headers.ids("message-id").is_empty());
    }

    #[test]
    fn parameters_are_put_together_and_decoded() {
        let typed = |field: &str| Headers::parse(field.as_bytes()).typed("content-disposition").unwrap();
        let name = |field: &str| typed(field).parameter("filename").unwrap_or("none").to_owned();
        assert_eq!(name("Content-Disposition: attachment; filename=\"a b.txt\""), "a b.txt");
        assert_eq!(
            name("Content-Disposition: attachment; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt"),
            "Grüße.txt"
        );
        assert_eq!(
            name("Content-Disposition: attachment; filename*0*=utf-8''Gr%C3%BC; filename*1=\"n.txt\""),
            "Grün.txt"
        );
        assert_eq!(
            name("Content-Disposition: attachment; filename=\"=?utf-8?Q?Gr=C3=BCn.txt?=\""),
            "Grün.txt"
        );
        assert_eq!(typed("Content-Disposition: INLINE").main, "inline");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let long = format!("Subject: {}\nX-B: c\n", "x".repeat(LONGEST_FIELD + 10));
        let headers = Headers::parse(long.as_bytes());
        assert!(headers.is_cut);
        assert_eq!(headers.raw("subject").map(str::len), Some(LONGEST_FIELD));
        assert_eq!(headers.raw("x-b"), Some("c"));
        let many = "A: b\n".repeat(MOST_FIELDS + 1);
        assert!(Headers::parse(many.as_bytes()).is_cut);
        for hostile in ["=?ab?q?x", "(", "\"", "<", "a*0=b;", ",", ":", "\\"] {
            let field = format!("To: {0}\nContent-Type: a/b; {0}\n", hostile.repeat(60_000));
            let headers = Headers::parse(field.as_bytes());
            headers.mailboxes("to");
            headers.typed("content-type");
        }
    }
}
