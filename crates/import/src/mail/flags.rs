//! What programs note about a message beside the message: read, starred, answered, and the labels it carries.

use super::headers::Headers;
use super::words;

/// Most labels one message keeps.
const MOST_LABELS: usize = 100;
/// Longest label.
const LONGEST_LABEL: usize = 256;

/// What is noted about one copy of a message. `None` where nobody says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) read: Option<bool>,
    pub(super) starred: Option<bool>,
    pub(super) answered: Option<bool>,
    pub(super) draft: Option<bool>,
    /// Marked to be thrown away.
    pub(super) deleted: Option<bool>,
    /// Thrown away or moved elsewhere; only its bytes are still there, until the mailbox is tidied.
    pub(super) gone: bool,
}

impl Flags {
    /// What the headers of a message say about it, with what its place says where they are silent.
    pub(super) fn read(headers: &Headers, place: Flags) -> Self {
        let said = gmail(headers).or_else(|| mozilla(headers)).or_else(|| unix(headers)).unwrap_or_default();
        Self {
            read: place.read.or(said.read),
            starred: place.starred.or(said.starred),
            answered: place.answered.or(said.answered),
            draft: place.draft.or(said.draft),
            deleted: place.deleted.or(said.deleted),
            gone: said.gone,
        }
    }

    /// What two copies of one message say together: what was done to either was done to it. It is thrown away only
    /// where both are.
    pub(super) fn join(self, other: Self) -> Self {
        let either = |one: Option<bool>, two: Option<bool>| one.into_iter().chain(two).max();
        Self {
            read: either(self.read, other.read),
            starred: either(self.starred, other.starred),
            answered: either(self.answered, other.answered),
            draft: either(self.draft, other.draft),
            deleted: self.deleted.into_iter().chain(other.deleted).min(),
            gone: self.gone && other.gone,
        }
    }

    /// All of it in one byte, except `gone`: what is gone is not kept.
    pub(super) fn pack(self) -> u8 {
        let all = [self.read, self.starred, self.answered, self.draft, self.deleted];
        all.iter().fold(0, |sum, said| sum * 3 + said.map_or(0, |said| 1 + u8::from(said)))
    }

    pub(super) fn unpack(mut byte: u8) -> Self {
        let mut next = || {
            let said = (byte % 3).checked_sub(1).map(|said| said == 1);
            byte /= 3;
            said
        };
        let (deleted, draft, answered, starred, read) = (next(), next(), next(), next(), next());
        Self { read, starred, answered, draft, deleted, gone: false }
    }

    /// Bits of a message in Apple Mail.
    pub(super) fn of_apple(bits: u64) -> Self {
        let has = |bit: u32| Some(bits >> bit & 1 == 1);
        Self { read: has(0), deleted: has(1), answered: has(2), starred: has(4), draft: has(6), gone: false }
    }
}

/// Labels in the owner's words, from the message and from the folder it lies in, each once.
pub(super) fn labels(headers: &Headers, folder: Option<&str>) -> Vec<String> {
    let mut labels = Vec::new();
    if let Some(field) = headers.raw("x-gmail-labels") {
        // The file's name repeats one of them, or says "All mail".
        split_labels(&words::decode(field), &mut labels);
    } else {
        labels.extend(folder.map(str::to_owned));
    }
    let tags = headers.raw("x-mozilla-keys").into_iter().chain(headers.raw("x-keywords"));
    for tag in tags.flat_map(str::split_whitespace) {
        labels.push(mozilla_tag(tag).to_owned());
    }
    tidy(labels)
}

/// Each label once, within bounds, in order.
pub(super) fn tidy(labels: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for mut label in labels {
        label.truncate(label.floor_char_boundary(LONGEST_LABEL));
        let label = label.trim();
        if !label.is_empty() && kept.len() < MOST_LABELS && !kept.iter().any(|known| known == label) {
            kept.push(label.to_owned());
        }
    }
    kept
}

/// Labels lie between commas; one that holds a comma stands in quotes.
fn split_labels(field: &str, labels: &mut Vec<String>) {
    let (mut label, mut quoted) = (String::new(), false);
    for letter in field.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => labels.push(std::mem::take(&mut label)),
            _ => label.push(letter),
        }
    }
    labels.push(label);
}

/// The five tags Thunderbird comes with, by the names it shows.
fn mozilla_tag(tag: &str) -> &str {
    match tag {
        "$label1" => "Important",
        "$label2" => "Work",
        "$label3" => "Personal",
        "$label4" => "To Do",
        "$label5" => "Later",
        other => other,
    }
}

/// Only the English names of Gmail's own labels are known; in other languages nothing is said.
fn gmail(headers: &Headers) -> Option<Flags> {
    let mut labels = Vec::new();
    split_labels(&words::decode(headers.raw("x-gmail-labels")?), &mut labels);
    let has = |name: &str| labels.iter().any(|label| label == name);
    let read = match (has("Unread"), has("Opened")) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        _ => None,
    };
    let said = |name: &str| has(name).then_some(true);
    let draft = said("Drafts").or(said("Draft"));
    Some(Flags { read, starred: said("Starred"), draft, ..Flags::default() })
}

fn mozilla(headers: &Headers) -> Option<Flags> {
    let bits = u32::from_str_radix(headers.raw("x-mozilla-status")?.trim(), 16).ok()?;
    let has = |bit: u32| Some(bits & bit != 0);
    Some(Flags {
        read: has(1),
        answered: has(2),
        starred: has(4),
        gone: has(8) == Some(true),
        ..Flags::default()
    })
}

/// The letters that older programs write into a mailbox.
fn unix(headers: &Headers) -> Option<Flags> {
    let status = headers.raw("status")?;
    let more = headers.raw("x-status").unwrap_or_default();
    Some(Flags {
        read: Some(status.contains('R')),
        answered: Some(more.contains('A')),
        starred: Some(more.contains('F')),
        draft: Some(more.contains('T')),
        deleted: Some(more.contains('D')),
        gone: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_from_headers_and_folders() {
        let of = |block: &str, folder| labels(&Headers::parse(block.as_bytes()), folder);
        assert_eq!(
            of("X-Gmail-Labels: Inbox,Important,\"a, b\",Inbox", Some("All mail")),
            ["Inbox", "Important", "a, b"]
        );
        assert_eq!(
            of("X-Gmail-Labels: =?UTF-8?Q?Gel=C3=B6scht,Ge=C3=B6ffnet?=", None),
            ["Gelöscht", "Geöffnet"]
        );
        assert_eq!(of("X-Mozilla-Keys: $label2 boat   ", Some("Inbox")), ["Inbox", "Work", "boat"]);
        assert!(of("Subject: x", None).is_empty());
    }

    #[test]
    fn notes_fit_into_one_byte() {
        for byte in 0..243 {
            assert_eq!(Flags::unpack(byte).pack(), byte);
        }
        let flags = Flags { read: Some(true), draft: Some(false), ..Flags::default() };
        assert_eq!(Flags::unpack(flags.pack()), flags);
    }

    #[test]
    fn notes_come_from_headers_unless_the_place_says_more() {
        let of = |block: &str, place| Flags::read(&Headers::parse(block.as_bytes()), place);
        assert_eq!(
            of("X-Gmail-Labels: Inbox,Unread,Starred", Flags::default()),
            Flags { read: Some(false), starred: Some(true), ..Flags::default() }
        );
        assert_eq!(of("X-Gmail-Labels: Posteingang", Flags::default()), Flags::default());
        assert!(of("X-Mozilla-Status: 0009", Flags::default()).gone);
        assert_eq!(of("Status: RO\nX-Status: AF", Flags::default()).answered, Some(true));
        let one = Flags { read: Some(false), deleted: Some(true), ..Flags::default() };
        let two = Flags { read: Some(true), deleted: Some(false), ..Flags::default() };
        assert_eq!(one.join(two), two);
        assert_eq!(one.join(Flags::default()), one);
        let place = Flags { read: Some(false), ..Flags::default() };
        assert_eq!(of("Status: RO", place).read, Some(false));
        assert_eq!(
            Flags::of_apple(0b1_0101),
            Flags {
                read: Some(true),
                answered: Some(true),
                starred: Some(true),
                draft: Some(false),
                deleted: Some(false),
                gone: false
            }
        );
    }
}
