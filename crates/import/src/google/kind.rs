//! What a file of a Takeout archive is, by how it begins.

use crate::file_name;

/// How much of a file is looked at.
pub(super) const HEAD: u64 = 8 * 1024;

/// The kinds of files that are read, in the order they are told to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A Keep note.
    Note,
    /// Every place a phone sent, oldest kind of file.
    Records,
    /// A month of visits and trips.
    Semantic,
    /// Visits and trips as an Android phone exports them.
    Timeline,
    /// Visits and trips as an iPhone exports them.
    PhoneTimeline,
    /// Searches, videos and everything else in My Activity.
    Activity,
    /// Who is in a chat.
    ChatGroup,
    /// What was written in a chat.
    ChatMessages,
    /// Old chats.
    Hangouts,
    /// Activity as a web page.
    Page,
}

impl Kind {
    /// Looks at a path and the first bytes.
    pub(super) fn of(path: &str, head: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let says = |name: &str| text.contains(&format!("\"{name}\""));
        let name = file_name(path).to_ascii_lowercase();
        if name.rsplit('.').next() == Some("html") {
            return (text.starts_with("<html") && text.contains("mdl-")).then_some(Self::Page);
        }
        if text.starts_with('[') {
            if says("header") && says("title") && says("time") {
                return Some(Self::Activity);
            }
            let timed = says("startTime") && says("endTime");
            return (timed && (says("visit") || says("activity") || says("timelinePath")))
                .then_some(Self::PhoneTimeline);
        }
        if !text.starts_with('{') {
            return None;
        }
        if says("semanticSegments") || (says("rawSignals") && says("position")) {
            return Some(Self::Timeline);
        }
        if says("timelineObjects") {
            return Some(Self::Semantic);
        }
        if says("locations") && (says("latitudeE7") || says("timestampMs")) {
            return Some(Self::Records);
        }
        let note = says("textContent") || says("listContent") || says("textContentHtml") || says("isTrashed");
        if note && (says("userEditedTimestampUsec") || says("isTrashed") || says("isArchived")) {
            return Some(Self::Note);
        }
        if says("conversations") && (says("conversation_id") || says("conversation")) {
            return Some(Self::Hangouts);
        }
        if says("messages") && says("creator") {
            return Some(Self::ChatMessages);
        }
        (name == "group_info.json" && says("members")).then_some(Self::ChatGroup)
    }

    /// Whether everything else in its folder belongs to it: pictures of notes, files of chats.
    pub(super) fn has_folder(self) -> bool {
        matches!(self, Self::Note | Self::ChatGroup | Self::ChatMessages)
    }

    /// For the owner.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Note => "Keep notes",
            Self::Records => "location history",
            Self::Semantic | Self::Timeline | Self::PhoneTimeline => "timeline",
            Self::Activity | Self::Page => "activity",
            Self::ChatGroup | Self::ChatMessages => "chats",
            Self::Hangouts => "Hangouts",
        }
    }
}

/// Whether a file is worth a look.
pub(super) fn could_be(path: &str) -> bool {
    let Some((_, end)) = file_name(path).rsplit_once('.') else { return false };
    if end.eq_ignore_ascii_case("json") {
        return true;
    }
    // Pages are only claimed to say what to do instead; their names are those of the English archive.
    let known = ["MyActivity.html", "My Activity.html", "watch-history.html", "search-history.html"];
    end.eq_ignore_ascii_case("html") && known.contains(&file_name(path))
}
