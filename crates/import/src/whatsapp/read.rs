//! Reads one chat: twice through its lines, once for the order of its dates and once for its messages.

use std::collections::HashMap;

use jiff::civil::DateTime;

use super::chat::{self, Chat};
use super::content::{self, Content, Media};
use super::header::Header;
use super::marks::clean;
use super::order::Order;
use super::survey::Survey;
use crate::chat::{Bytes, Fields, Pending, Waiting, local, media_type_of};
use crate::lines::{Line, Lines};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree, hash_key, mint_key};

/// Longest line, and longest message, that is kept.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;
/// Most messages that are counted to tell equal ones apart.
const MOST_COUNTED: usize = 1 << 20;

pub(super) fn chat(
    tree: &mut dyn Tree,
    index: usize,
    waiting: &mut Waiting,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let path = tree.entries()[index].path.clone();
    let survey = match Survey::of(tree, index) {
        Ok(Some(survey)) => survey,
        // A text that a chat attached, and not a chat itself.
        Ok(None) => return Ok(()),
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let name = chat::name(&path, survey.noticed.as_deref());
    let folder = path[..path.rfind('/').map_or(0, |slash| slash + 1)].to_owned();
    let chat = Chat::new(name, survey.phone, survey.evidence.decide());
    let mut reading =
        Reading { path: &path, folder, chat, open: None, counts: HashMap::new(), damage: Damage::default() };
    let mut after = 0;
    loop {
        let paused = reading.stretch(tree, index, after, waiting, sink)?;
        waiting.flush(tree, sink)?;
        match paused {
            Some(line) => after = line,
            None => break,
        }
    }
    reading.finish(sink)?;
    waiting.complain_of_missing(&path, sink)
}

/// A message whose lines are still coming.
struct Open {
    at: DateTime,
    seconds: bool,
    author: Option<String>,
    text: String,
    line: u64,
    cut: bool,
}

/// Lines that could not be taken as they are, told once for the whole chat.
#[derive(Default)]
struct Damage {
    not_utf8: Option<u64>,
    too_long: Option<u64>,
    before_first: Option<u64>,
}

struct Reading<'r> {
    path: &'r str,
    folder: String,
    chat: Chat,
    open: Option<Open>,
    counts: HashMap<String, u32>,
    damage: Damage,
}

impl Reading<'_> {
    /// Reads what stands behind line `after`; `Some` where it stopped so that media can be given.
    fn stretch(
        &mut self,
        tree: &mut dyn Tree,
        index: usize,
        after: u64,
        waiting: &mut Waiting,
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Stop> {
        let reader = match open_buffered(tree, index) {
            Ok(reader) => reader,
            Err(error) => {
                sink.complain(Complaint::unreadable(self.path, &error))?;
                return Ok(None);
            }
        };
        let mut lines = Lines::new(reader, LONGEST);
        let mut number = 0;
        loop {
            number += 1;
            match lines.next_line() {
                Ok(None) => break,
                Ok(Some(_)) if number <= after => {}
                Ok(Some(Line::Whole(bytes))) => {
                    let line = String::from_utf8_lossy(bytes);
                    if line.contains('\u{fffd}') && std::str::from_utf8(bytes).is_err() {
                        self.damage.not_utf8.get_or_insert(number);
                    }
                    self.line(&line, number, waiting, sink)?;
                }
                Ok(Some(Line::TooLong)) => _ = self.damage.too_long.get_or_insert(number),
                Err(error) => {
                    sink.complain(Complaint::unreadable(self.path, &error))?;
                    break;
                }
            }
            if waiting.full() {
                return Ok(Some(number));
            }
        }
        if let Some(open) = self.open.take() {
            self.give(open, waiting, sink)?;
        }
        Ok(None)
    }

    fn line(
        &mut self,
        line: &str,
        number: u64,
        waiting: &mut Waiting,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        // A line that looks like a beginning but is from no possible day was written by someone.
        let begins = Header::parse(line).and_then(|header| header.at(self.order()).map(|at| (at, header)));
        let Some((at, header)) = begins else {
            self.go_on(line, number);
            return Ok(());
        };
        let (author, text) = split_author(header.rest);
        let open = Open {
            at,
            seconds: header.has_seconds(),
            author,
            text: text.to_owned(),
            line: number,
            cut: false,
        };
        match self.open.replace(open) {
            Some(done) => self.give(done, waiting, sink),
            None => Ok(()),
        }
    }

    fn order(&self) -> Order {
        self.chat.order
    }

    fn go_on(&mut self, line: &str, number: u64) {
        match &mut self.open {
            Some(open) if open.text.len() + line.len() > LONGEST => open.cut = true,
            Some(open) => {
                open.text.push('\n');
                open.text.push_str(line);
            }
            None if line.trim().is_empty() => {}
            None => _ = self.damage.before_first.get_or_insert(number),
        }
    }

    fn give(&mut self, open: Open, waiting: &mut Waiting, sink: &mut dyn Sink) -> Result<(), Stop> {
        let place = format!("{} line {}", self.path, open.line);
        if open.cut {
            let message = "The message is longer than 4 MiB; its end was left out.";
            sink.complain(Complaint::damaged(place.clone(), message))?;
        }
        let Some(sent_at) = local(open.at) else {
            return sink.complain(Complaint::damaged(place, "Its date is no day."));
        };
        let content = content::read(open.text.trim_end(), open.author.as_deref());
        let key = self.key(&sent_at, open.author.as_deref(), &content);
        self.chat.count(&sent_at, open.author.as_deref().filter(|_| content.kind != content::Kind::System));
        let media = self.media(&content, &key, &sent_at, &place);
        let fields = self.message(&key, &sent_at, &open, content);
        sink.record(fields.draft("messages", &key, place))?;
        match media {
            Some(Pending { bytes: Bytes::Path(path), draft }) if path.is_empty() => sink.record(draft),
            Some(pending) => {
                waiting.push(pending);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The same message has the same key in every export of its chat, with media and without: what stands for media
    /// is not part of it. Equal messages of one minute are counted.
    fn key(&mut self, sent_at: &str, author: Option<&str>, content: &Content) -> String {
        let stand_in = if content.media.is_some() { "media" } else { "" };
        let parts = [self.chat.id.as_str(), sent_at, author.unwrap_or_default(), &content.text, stand_in];
        let base = hash_key(&parts);
        if self.counts.len() >= MOST_COUNTED {
            self.counts.clear();
        }
        let count = self.counts.entry(base.clone()).or_default();
        *count += 1;
        if *count == 1 { base } else { hash_key(&[&base, &count.to_string()]) }
    }

    fn message(&self, key: &str, sent_at: &str, open: &Open, content: Content) -> Fields {
        let mut fields = Fields::new(key);
        fields.put("chat_id", self.chat.id.as_str());
        fields.put("chat_name", self.chat.name.as_str());
        fields.put("sent_at", sent_at);
        fields.put("time_precision", if open.seconds { "second" } else { "minute" });
        // iPhones put notices under the name of the chat, which wrote nothing.
        let notice = content.kind == content::Kind::System && open.author.as_ref() == Some(&self.chat.name);
        fields.maybe("author", open.author.as_deref().filter(|_| !notice));
        fields.put("kind", content.kind.as_str());
        fields.put("text", content.text);
        fields.when("is_edited", content.edited);
        fields.when("is_deleted", content.kind == content::Kind::Deleted);
        match &content.media {
            Some(Media::Named(name)) => fields.put("media_name", name.as_str()),
            Some(Media::Omitted(_)) => fields.put("is_media_omitted", true),
            None => {}
        }
        if let Some((latitude, longitude)) = content.place {
            fields.put("latitude", latitude);
            fields.put("longitude", longitude);
        }
        if let Some(poll) = content.poll {
            fields.put("poll_question", poll.question);
            fields.list("poll_choices", poll.choices);
        }
        fields
    }

    /// The record of the media, with an empty path when the export left them out.
    fn media(&self, content: &Content, message: &str, sent_at: &str, place: &str) -> Option<Pending> {
        let media = content.media.as_ref()?;
        let key = mint_key(&format!("{message}:media"));
        let mut fields = Fields::new(&key);
        fields.put("message_id", message);
        fields.put("chat_id", self.chat.id.as_str());
        fields.put("sent_at", sent_at);
        let path = match media {
            Media::Named(name) => {
                fields.put("name", name.as_str());
                fields.put("kind", kind_of(name));
                fields.put("media_type", media_type_of(name));
                format!("{}{name}", self.folder)
            }
            Media::Omitted(kind) => {
                fields.put("kind", *kind);
                String::new()
            }
        };
        fields.put("is_included", matches!(media, Media::Named(_)));
        Some(Pending { bytes: Bytes::Path(path), draft: fields.draft("media", &key, place.to_owned()) })
    }

    fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Damage { not_utf8, too_long, before_first } = self.damage;
        for (line, message) in [
            (not_utf8, "From here on, lines that are not UTF-8 were read with replacement characters."),
            (too_long, "A line longer than 4 MiB was left out; there may be more."),
            (before_first, "Lines before the first message that can be dated were left out."),
        ] {
            if let Some(line) = line {
                sink.complain(Complaint::damaged(format!("{} line {line}", self.path), message))?;
            }
        }
        if self.chat.messages == 0 {
            let message = "No message has a date that can be understood.";
            return sink.complain(Complaint::damaged(self.path, message));
        }
        self.chat.give(self.path.to_owned(), sink)
    }
}

/// `Name: text`. A notice has no author; it may quote something with a colon in it.
fn split_author(rest: &str) -> (Option<String>, &str) {
    let (name, text) = match rest.split_once(": ") {
        Some(found) => found,
        None => match rest.strip_suffix(':') {
            Some(name) => (name, ""),
            None => return (None, rest),
        },
    };
    let clean = clean(name);
    if clean.is_empty() || name.len() > 256 || name.contains(['“', '"', '«', '„', '\u{201d}']) {
        return (None, rest);
    }
    (Some(clean), text)
}

/// The kind of media, from the name that phones give it, else from what it is.
fn kind_of(name: &str) -> &'static str {
    let upper = name.to_ascii_uppercase();
    let says = |part: &str| upper.contains(part);
    match media_type_of(name) {
        _ if says("STICKER") || upper.starts_with("STK-") => "sticker",
        _ if says("-GIF-") => "gif",
        _ if upper.starts_with("PTT-") || says("-AUDIO-") && says(".OPUS") => "voice_message",
        kind if kind.starts_with("image/") => "image",
        kind if kind.starts_with("video/") => "video",
        kind if kind.starts_with("audio/") => "audio",
        "text/vcard" => "contact",
        _ => "document",
    }
}
