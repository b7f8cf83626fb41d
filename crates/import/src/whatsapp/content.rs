//! What a message is: words, media, a place, a poll, or something `WhatsApp` tells itself.

use super::marks::{clean, is_mark, is_space};
use super::phrases;
use super::poll::{self, Poll};

#[derive(Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) kind: Kind,
    /// The words, without what stands for media.
    pub(super) text: String,
    pub(super) edited: bool,
    pub(super) media: Option<Media>,
    pub(super) place: Option<(f64, f64)>,
    pub(super) poll: Option<Poll>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Text,
    Media,
    Location,
    Poll,
    Call,
    Deleted,
    System,
}

impl Kind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Media => "media",
            Self::Location => "location",
            Self::Poll => "poll",
            Self::Call => "call",
            Self::Deleted => "deleted",
            Self::System => "system",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Named(String),
    Omitted(&'static str),
}

/// Reads a text. `author` is `None` for notices, which have none.
pub(super) fn read(raw: &str, author: Option<&str>) -> Content {
    // WhatsApp puts a mark in front of what it writes itself.
    let marked = raw.starts_with(is_mark);
    let text = raw.trim_start_matches(is_mark);
    if author.is_none() {
        return Content { kind: Kind::System, text: text.to_owned(), ..Content::default() };
    }
    let (text, edited) = without_edited(text);
    let mut content = Content { text: text.to_owned(), edited, ..Content::default() };
    if phrases::is_deleted(text) {
        content.kind = Kind::Deleted;
    } else if let Some((media, words)) = media(text) {
        (content.kind, content.media, content.text) = (Kind::Media, Some(media), words);
    } else if let Some(poll) = poll::parse(text) {
        (content.kind, content.poll) = (Kind::Poll, Some(poll));
    } else if let Some(place) = place(text) {
        (content.kind, content.place) = (Kind::Location, Some(place));
    } else if marked && phrases::is_call(text) {
        content.kind = Kind::Call;
    } else if marked && !edited {
        content.kind = Kind::System;
    }
    content
}

fn without_edited(text: &str) -> (&str, bool) {
    let end = text.trim_end_matches(|last| is_mark(last) || is_space(last));
    let edited = end.strip_suffix('>').and_then(|rest| rest.rsplit_once('<'));
    match edited {
        Some((before, inner)) if inner.len() < 120 && phrases::is_edited(inner) => {
            (before.trim_end_matches(|last| is_mark(last) || is_space(last)), true)
        }
        _ => (text, false),
    }
}

/// The media a text stands for, and the words that came with it. What stands for media is one line, the first or the
/// last.
fn media(text: &str) -> Option<(Media, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = (0, lines.len().checked_sub(1)?);
    for place in [first, last] {
        let Some((media, before)) = media_line(lines[place]) else { continue };
        let mut words: Vec<&str> = lines[..place].to_vec();
        if !before.is_empty() {
            words.push(before);
        }
        words.extend(&lines[place + 1..]);
        return Some((media, words.join("\n")));
    }
    None
}

/// The media that one line of a chat names, to find the file before the chat is read.
pub(super) fn media_of_line(line: &str) -> Option<String> {
    match media_line(line)?.0 {
        Media::Named(name) => Some(name),
        Media::Omitted(_) => None,
    }
}

/// Whether a file has a name as phones give them to media.
pub(super) fn is_named_by_phone(name: &str) -> bool {
    has_number_in_front(name) || is_numbered_by_whatsapp(name)
}

/// A line that ends with what stands for media, and what is in front of it.
fn media_line(line: &str) -> Option<(Media, &str)> {
    let bare = line.trim_matches(|found| is_mark(found) || is_space(found));
    if let Some(kind) = phrases::omitted_kind(bare) {
        return Some((Media::Omitted(kind), ""));
    }
    if let Some(found) = iphone_attached(bare).or_else(|| android_attached(bare)) {
        return Some(found);
    }
    // `Report.pdf • 3 pages ‎document omitted`: a mark sets off what WhatsApp wrote.
    let (before, behind) = bare.rsplit_once('\u{200e}')?;
    let kind = phrases::omitted_kind(behind)?;
    Some((Media::Omitted(kind), before.trim_end_matches(|found| is_mark(found) || is_space(found))))
}

/// `words <attached: NAME>`, and from older versions `NAME <attached>`.
fn iphone_attached(line: &str) -> Option<(Media, &str)> {
    let inner = line.strip_suffix('>')?;
    let open = inner.rfind('<')?;
    let (before, inside) = (&line[..open], &inner[open + 1..]);
    let set_off = before.is_empty() || before.ends_with(is_mark);
    let before = before.trim_end_matches(|found| is_mark(found) || is_space(found));
    if phrases::is_attached_word(inside) && is_file_name(before) {
        return Some((Media::Named(clean(before)), ""));
    }
    let (word, name) = inside.split_once([':', '：'])?;
    let name = clean(name);
    // In a language that is not known here, the number that iPhones put in front of names tells.
    let known = phrases::is_attached_word(word) || (set_off && has_number_in_front(&name));
    (known && is_file_name(&name)).then_some((Media::Named(name), before))
}

/// `NAME (file attached)`
fn android_attached(line: &str) -> Option<(Media, &str)> {
    let (name, words) = line.strip_suffix(')')?.rsplit_once('(')?;
    let name = clean(name);
    let known = phrases::is_attached(words) || (line.len() < 200 && is_numbered_by_whatsapp(&name));
    (known && is_file_name(&name)).then_some((Media::Named(name), ""))
}

fn is_file_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let plain =
        (1..=5).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain && name.len() <= 255 && !name.contains(['/', '\\', '\0', '<', '>'])
}

/// `00000012-PHOTO-2024-05-06-07-08-09.jpg`
fn has_number_in_front(name: &str) -> bool {
    name.len() > 9 && name.as_bytes()[..8].iter().all(u8::is_ascii_digit) && name.as_bytes()[8] == b'-'
}

/// `IMG-20240506-WA0012.jpg`
fn is_numbered_by_whatsapp(name: &str) -> bool {
    let number = name.split_once("-WA").map_or("", |(_, rest)| rest).as_bytes();
    number.len() > 5 && number[..4].iter().all(u8::is_ascii_digit) && number[4] == b'.'
}

/// The numbers in a link to a map.
fn place(text: &str) -> Option<(f64, f64)> {
    let (before, link) = text.split_once("https://maps.google.com/?q=")?;
    // A link inside a longer text is a link, not a place that was shared.
    if before.len() > 120 || before.contains('\n') && before.len() > 60 {
        return None;
    }
    let (latitude, longitude) = link.split_whitespace().next()?.split_once(',')?;
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.abs() <= 180.0);
    Some((number(latitude)?, number(longitude)?))
}
