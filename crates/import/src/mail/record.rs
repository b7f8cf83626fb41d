//! Messages and their attachments as records.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::body::{Body, is_message, name, text_of_message};
use super::date;
use super::flags::Flags;
use super::headers::{Headers, MOST_NAMES, Mailbox};
use super::identity::ThreadId;
use super::mime::{Mime, Part};
use super::words;
use crate::{Attachment, Draft, Sink, Stop, mint_key};

/// Fields that are kept as they stand beside the ones everybody reads.
const EXTRA: [&str; 22] = [
    "sender",
    "organization",
    "user-agent",
    "x-mailer",
    "importance",
    "priority",
    "x-priority",
    "sensitivity",
    "keywords",
    "comments",
    "content-language",
    "delivered-to",
    "x-original-to",
    "return-path",
    "auto-submitted",
    "precedence",
    "list-unsubscribe",
    "list-post",
    "resent-from",
    "resent-to",
    "resent-date",
    "x-gm-msgid",
];
/// Longest of those.
const LONGEST_EXTRA: usize = 2000;
/// Longest line of recipients.
const LONGEST_LINE: usize = 20_000;

/// A message and what was found out about it.
#[derive(Debug)]
pub(super) struct Message<'m> {
    pub(super) key: String,
    /// The id its sender gave it.
    pub(super) given_id: Option<String>,
    pub(super) thread: ThreadId,
    pub(super) labels: Vec<String>,
    pub(super) flags: Flags,
    pub(super) sent: Option<Sent>,
    pub(super) size: usize,
    /// Whether only its beginning was read.
    pub(super) is_too_long: bool,
    pub(super) place: String,
    pub(super) mime: &'m Mime<'m>,
}

/// When a message was sent, and who says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Timestamp,
    source: &'static str,
}

impl Sent {
    /// The date its sender gave; otherwise when it was received, or put into the mailbox.
    pub(super) fn read(headers: &Headers, separator: Option<&[u8]>) -> Option<Self> {
        let by = |source, text: Option<&str>| Some(Self { at: date::parse(text?)?, source });
        let received =
            || headers.raw("received").and_then(|text| text.rsplit_once(';')).map(|(_, date)| date);
        let mailbox = || {
            // The first word is an address, which may look like anything.
            let text = String::from_utf8_lossy(separator?).into_owned();
            by("mailbox", Some(text.split_once(' ')?.1))
        };
        by("date", headers.raw("date"))
            .or_else(|| by("resent", headers.raw("resent-date")))
            .or_else(|| by("received", received()))
            .or_else(mailbox)
    }
}

impl Message<'_> {
    /// Tells the message, then its attachments.
    pub(super) fn tell(&self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let body = Body::read(self.mime);
        let parts = body.attached.iter().map(|place| &self.mime.parts[*place]);
        // Of a message that is too long, the part that was cut is no file any more.
        let parts: Vec<&Part> = parts.filter(|part| part.is_closed || !self.is_too_long).collect();
        let data = self.data(body.text, parts.len());
        sink.record(Draft {
            stream: "messages".into(),
            key: self.key.clone(),
            data,
            place: self.place.clone(),
        })?;
        for part in parts {
            self.tell_attachment(part, sink)?;
        }
        Ok(())
    }

    fn data(&self, text: String, attachments: usize) -> Map<String, Value> {
        let headers = &self.mime.headers;
        let mut data = Fields::default();
        data.put("id", Some(self.key.as_str()));
        data.put("thread_id", Some(self.thread.key()));
        data.put("internet_message_id", self.given_id.as_deref());
        data.put("sent_at", self.sent.map(|sent| sent.at.to_string()));
        data.put("sent_at_source", self.sent.map(|sent| sent.source));
        data.put("date_header", headers.raw("date").map(|text| cut(text, 200)));
        data.put("subject", headers.text("subject"));
        let from = headers.mailboxes("from");
        data.put("from", line(&from));
        data.put("from_name", from.first().and_then(|one| one.name.as_deref()));
        data.put(
            "from_address",
            from.first().and_then(|one| one.address.as_ref()).map(|text| text.to_lowercase()),
        );
        let mut everybody = Vec::new();
        for (field, name) in [("to", "to"), ("cc", "cc"), ("bcc", "bcc"), ("reply-to", "reply_to")] {
            let people = headers.mailboxes(field);
            data.put(name, (!people.is_empty()).then(|| list(&people)));
            if field != "reply-to" {
                everybody.extend(people);
            }
        }
        data.put("recipients", line(&everybody));
        data.put("recipient_count", Some(everybody.len()));
        data.put("in_reply_to", headers.ids("in-reply-to").into_iter().next());
        let mut references = headers.ids("references");
        references.truncate(MOST_NAMES.min(200));
        data.put("references", (!references.is_empty()).then_some(references));
        data.put("list_id", headers.raw("list-id").map(list_id));
        data.put("labels", Some(self.labels.clone()));
        data.put("label_line", (!self.labels.is_empty()).then(|| self.labels.join(", ")));
        data.put("is_read", self.flags.read);
        data.put("is_starred", self.flags.starred);
        data.put("is_answered", self.flags.answered);
        data.put("is_draft", self.flags.draft);
        data.put("is_deleted", self.flags.deleted);
        data.put("text", Some(text));
        data.put("size_bytes", Some(self.size));
        data.put("attachment_count", Some(attachments));
        data.put("extra", extra(headers));
        data.0
    }

    fn tell_attachment(&self, part: &Part, sink: &mut dyn Sink) -> Result<(), Stop> {
        let key = mint_key(&format!("{}:{}", self.key, part.path));
        let bytes = self.mime.content(part);
        let media_type = media_type(part);
        let inner = is_message(part).then(|| text_of_message(&bytes)).flatten();
        let name = name(part).or_else(|| default_name(part, &bytes));
        let kept = if bytes.is_empty() {
            None
        } else {
            let full_type = with_charset(part, &media_type);
            let attachment = Attachment {
                stream: "attachments",
                key: &key,
                name: name.as_deref(),
                media_type: &full_type,
            };
            sink.attach(&attachment, &mut bytes.as_slice())?
        };
        let disposition = part.headers.typed("content-disposition");
        let content_id = part.headers.raw("content-id").map(|id| id.trim_matches(['<', '>', ' ']).to_owned());
        let is_inline = disposition.map_or(content_id.is_some(), |found| found.main == "inline");
        let mut data = Fields::default();
        data.put("id", Some(key.as_str()));
        data.put("message_id", Some(self.key.as_str()));
        data.put("thread_id", Some(self.thread.key()));
        data.put("sent_at", self.sent.map(|sent| sent.at.to_string()));
        data.put("name", name.as_deref());
        data.put("media_type", Some(media_type.as_str()));
        data.put("part", Some(part.path.as_str()));
        data.put("content_id", content_id.filter(|id| !id.is_empty()));
        data.put("is_inline", Some(is_inline));
        data.put("description", part.headers.text("content-description"));
        data.put("size_bytes", Some(kept.as_ref().map_or(bytes.len() as u64, |kept| kept.size_bytes)));
        data.put("sha256", kept.as_ref().map(|kept| kept.sha256.as_str()));
        let blob_ref = kept.as_ref().map_or(Value::Null, crate::Attached::blob_ref);
        data.0.insert("blob_ref".into(), blob_ref);
        let text = kept.and_then(|kept| kept.text).or(inner);
        data.0.insert("text".into(), json!(text));
        sink.record(Draft { stream: "attachments".into(), key, data: data.0, place: self.place.clone() })
    }
}

/// Members of a record; what is absent is left out.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put<V>(&mut self, name: &str, value: Option<V>)
    where
        Value: From<V>,
    {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
    }
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// People in one line: `Ada Berg <ada@example.org>, bo@example.org`.
fn line(people: &[Mailbox]) -> Option<String> {
    let told = people.iter().map(|one| match (&one.name, &one.address) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    });
    let mut line = told.collect::<Vec<_>>().join(", ");
    line.truncate(line.floor_char_boundary(LONGEST_LINE));
    if line.is_empty() { None } else { Some(line) }
}

fn list(people: &[Mailbox]) -> Value {
    let told = people.iter().map(|one| {
        let mut fields = Fields::default();
        fields.put("name", one.name.as_deref());
        fields.put("address", one.address.as_deref());
        Value::Object(fields.0)
    });
    told.collect()
}

/// `Harbour news <news.harbour.example>` is the list `news.harbour.example`.
fn list_id(field: &str) -> String {
    let text = words::decode(field);
    let id = text.rsplit_once('<').and_then(|(_, id)| id.split_once('>')).map_or(text.as_str(), |(id, _)| id);
    cut(id.trim(), 500).to_owned()
}

fn extra(headers: &Headers) -> Option<Value> {
    let mut fields = Fields::default();
    for name in EXTRA {
        let text = headers.text(name);
        fields.put(name, text.as_deref().map(|text| cut(text, LONGEST_EXTRA)));
    }
    (!fields.0.is_empty()).then_some(Value::Object(fields.0))
}

fn media_type(part: &Part) -> String {
    let (main, sub) = (part.kind.main.as_str(), part.kind.sub.as_str());
    let plain = |word: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !word.is_empty() && word.len() < 64 && word.bytes().all(fits)
    };
    if plain(main) && plain(sub) { format!("{main}/{sub}") } else { "application/octet-stream".to_owned() }
}

/// The type with the charset of a text, without which its bytes could not be read later.
fn with_charset(part: &Part, media_type: &str) -> String {
    let plain = |label: &&str| {
        label.len() < 40 && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    match part.kind.parameter("charset").filter(plain) {
        Some(label) if part.kind.main == "text" => format!("{media_type}; charset={label}"),
        _ => media_type.to_owned(),
    }
}

/// What a part without a name would be saved as, where that is plain.
fn default_name(part: &Part, bytes: &[u8]) -> Option<String> {
    if is_message(part) {
        let subject = Mime::parse(bytes).headers.text("subject").unwrap_or_default();
        let plain: String = subject
            .chars()
            .filter(|letter| !letter.is_control() && !"/\\:".contains(*letter))
            .take(100)
            .collect();
        let plain = plain.trim();
        return Some(format!("{}.eml", if plain.is_empty() { "message" } else { plain }));
    }
    (part.kind.main == "text" && part.kind.sub == "calendar").then(|| "invite.ics".to_owned())
}
