//! A record that does not fit its place in the text: what is shown of it, and the call that reads on.

use pdpp_evidence::{Content, classify, neutralise};
use serde_json::Value;

use crate::record::{self, call_text, field_fetch, field_read};
use crate::row::Named;
use crate::{bounded, ladder, tokens};

/// The record with its long strings cut, so that every field is seen; at worst, its beginning. A cut may leave half of
/// an emoji, and what held it together with the other half acts unseen by itself. With it, the length at which strings
/// are cut; none where the record itself is.
pub(super) fn shortened(value: &Value, whole: &str, room: usize) -> (String, Option<usize>) {
    let (line, cap) = cut(value, whole, room);
    (neutralise(&line).text.into_owned(), cap)
}

fn cut(value: &Value, whole: &str, room: usize) -> (String, Option<usize>) {
    for cap in [4_000, 2_000, 1_000, 500, 250, 120, 60] {
        let mut shorter = value.clone();
        if bounded::cut_strings(&mut shorter, cap, None).is_empty() {
            continue;
        }
        if tokens::estimate_json(&shorter) <= room {
            return (format!("{shorter}…"), Some(cap));
        }
    }
    let mut head = String::new();
    let (mut rest, mut spent) = (whole, 0);
    // Piece by piece, because measuring the whole head each time would be quadratic.
    while !rest.is_empty() {
        let end = rest.char_indices().nth(32).map_or(rest.len(), |(byte, _)| byte);
        let piece = &rest[..end];
        spent += tokens::estimate(piece);
        if spent + 4 > room {
            break;
        }
        head.push_str(piece);
        rest = &rest[end..];
    }
    head.push('…');
    (head, None)
}

/// The call that reads on in a cut record of so many bytes: its longest text, where that is cut, else its largest
/// structure. Where the record is cut for having many fields, neither shows the others.
pub(super) fn continuation(named: &Named<'_>, cap: Option<usize>, whole: usize) -> String {
    let (Some(handle), Some(id), row) = (&named.handle, &named.id, named.row.tree()) else {
        return "followup=rerun_fields".to_owned();
    };
    let longest = ladder::content_fields(&row)
        .filter(|(_, value)| classify(value) == Content::Text)
        .filter_map(|(name, value)| Some((name, value.as_str()?.chars().count())))
        .max_by_key(|(_, length)| *length)
        .filter(|(_, length)| cap.is_some_and(|cap| *length > cap));
    let largest = ladder::content_fields(&row)
        .filter(|(_, value)| classify(value) == Content::Json)
        .map(|(name, value)| (name, pdpp_evidence::json_bytes(value)))
        .max_by_key(|(_, length)| *length)
        .filter(|(_, length)| cap.is_some() || *length * 2 > whole);
    let text = longest.filter(|(_, length)| largest.is_none_or(|(_, other)| *length * 4 >= other));
    let read = match (text, largest) {
        (None, Some((name, _))) if record::is_projectable(name) => Some(field_fetch(id, &[name])),
        (Some((name, _)), _) | (None, Some((name, _))) => field_read(handle, name, 0),
        (None, None) => None,
    };
    read.map_or_else(|| format!("fetch args={}", serde_json::json!({ "id": id })), |read| call_text(&read))
}
