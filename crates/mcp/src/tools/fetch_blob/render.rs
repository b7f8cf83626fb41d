//! A blob as a model sees it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pdpp_client::Answer;
use pdpp_evidence::{BlobHandle, neutralise};
use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::MAX_IMAGE_BYTES;
use super::range::ByteRange;
use crate::Adapter;
use crate::outcome::Outcome;
use crate::text::{append, quoted};
use crate::tokens::{estimate, estimate_json};

/// Bytes shown when nobody asked for some.
const USUAL_BYTES: usize = 2 * 1024;
/// The most bytes shown when somebody did.
const ASKED_BYTES: usize = 4 * 1024;
/// Text shown at a time, in bytes.
pub(super) const TEXT_BYTES: usize = 6 * 1024;
/// What a text window may cost, in tokens, and what it may cost in both halves.
const TEXT_TOKENS: usize = 2_100;
const BOTH_TOKENS: usize = 8_000;
/// Pictures that hosts can show.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Why a picture is not shown, and how its owner gets it. The id is left out: it may be a stranger's, and the line
/// may end in a shell.
const NOT_SHOWN: &str = "images larger than 1048576 bytes";
const EXPORT: &str = "pdpp read blob BLOB_ID --output FILE";

/// The result of the tool, where `asked` was asked for and, because no more can be shown, `wanted` was sent for.
pub(super) fn outcome(
    adapter: &Adapter,
    blob: &BlobHandle,
    asked: Option<ByteRange>,
    wanted: ByteRange,
    answer: &Answer,
) -> Outcome {
    let media_type = answer.media_type.as_deref().unwrap_or("application/octet-stream");
    let place = Place::of(wanted, answer);
    let start = place.start;
    let bytes = skipped(wanted, answer);
    let whole = start == 0 && place.known_total() == Some(bytes.len() as u64);
    let kind = Kind::of(media_type, place, whole, asked);
    let shown = match kind {
        Kind::Picture => bytes.len(),
        Kind::LargePicture => 0,
        Kind::Text => {
            let part = &bytes[..bytes.len().min(TEXT_BYTES)];
            text_prefix(part, place.goes_on_after(start + part.len() as u64))
        }
        Kind::Other => bytes.len().min(if asked.is_some() { ASKED_BYTES } else { USUAL_BYTES }),
    };
    let shown_bytes = &bytes[..shown];
    let end = start + shown as u64;
    let goes_on = place.goes_on_after(end);
    let complete = start == 0 && !goes_on;

    let mut text = format!("Fetched {shown} bytes ({}).", quoted_type(media_type));
    let mut structured = json!({
        "blob": blob,
        "mime_type": media_type,
        "size": shown,
        "total_bytes": place.known_total(),
        "range": {"start": start, "end": end},
        "complete": complete,
        "provider_url": adapter.provider_url(),
        "request_id": answer.request_id,
    });
    let total = place.known_total().map_or_else(|| "unknown".to_owned(), |total| total.to_string());
    append(&mut text, format_args!(" bytes={start}..{end} total_bytes={total} complete={complete}"));
    if kind == Kind::LargePicture {
        append(&mut text, format_args!("\nnot_shown={NOT_SHOWN}; export={EXPORT}"));
        structured["not_shown"] = NOT_SHOWN.into();
        structured["export"] = EXPORT.into();
    } else if goes_on {
        let step = if kind == Kind::Text { TEXT_BYTES } else { ASKED_BYTES };
        let arguments = next(blob, end, place.known_total(), step);
        append(&mut text, format_args!("\nnext fetch_blob args={arguments}"));
        structured["next"] = json!({"tool": "fetch_blob", "args": arguments});
    }
    let part = !complete && shown > 0;
    let uri = BlobHandle { range: part.then(|| format!("bytes={start}-{}", end - 1)), ..blob.clone() }.uri();
    let encoded = || STANDARD.encode(shown_bytes);
    let outcome = match kind {
        Kind::Picture => Outcome::new(text, structured).block(ContentBlock::image(encoded(), media_type)),
        Kind::Text => {
            let decoded = String::from_utf8_lossy(shown_bytes);
            let neutral = neutralise(&decoded).text;
            append(&mut text, format_args!("\ntext={}", quoted(&neutral, usize::MAX)));
            structured["text"] = neutral.into();
            Outcome::new(text, structured)
        }
        Kind::Other if shown > 0 => {
            structured["bytes_base64"] = encoded().into();
            let block = ResourceContents::blob(encoded(), uri.clone()).with_mime_type(media_type);
            Outcome::new(text, structured).block(ContentBlock::resource(block))
        }
        Kind::LargePicture | Kind::Other => Outcome::new(text, structured),
    };
    outcome.resource("blob", uri)
}

/// What is done with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Picture,
    /// One that is not shown: its first bytes show nothing of it. Whoever asks for a range gets bytes.
    LargePicture,
    Text,
    Other,
}

impl Kind {
    fn of(media_type: &str, place: Place, whole: bool, asked: Option<ByteRange>) -> Self {
        let small = place.known_total().is_some_and(|total| total <= MAX_IMAGE_BYTES as u64);
        if PICTURES.contains(&media_type) {
            return match (small, asked) {
                (true, _) if whole && place.total > 0 => Self::Picture,
                (false, None) => Self::LargePicture,
                _ => Self::Other,
            };
        }
        if media_type.starts_with("text/") { Self::Text } else { Self::Other }
    }
}

/// The call that reads on: no more bytes than it will show.
fn next(blob: &BlobHandle, start: u64, total: Option<u64>, step: usize) -> Value {
    let end = start + step as u64;
    let last = total.map_or(end, |total| end.min(total)) - 1;
    let mut arguments = json!({"blob_id": blob.blob_id, "range": format!("bytes={start}-{last}")});
    if let Some(connection) = &blob.connection_id {
        arguments["connection_id"] = connection.as_str().into();
    }
    arguments
}

/// The bytes that were asked for, when the server sent everything instead.
pub(crate) fn skipped(range: ByteRange, answer: &Answer) -> &[u8] {
    let whole = answer.status != 206 && answer.content_range.is_none();
    let start = if whole { usize::try_from(range.start).unwrap_or(usize::MAX) } else { 0 };
    answer.body.get(start..).unwrap_or_default()
}

/// Where the bytes of an answer lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) start: u64,
    /// How many there are in all, or at least.
    pub(crate) total: u64,
    /// Whether more may follow: a server may leave open how many there are (RFC 9110, 14.4), and as long as it sends
    /// all that is asked for, nothing says that they are all.
    pub(crate) is_open: bool,
}

impl Place {
    /// Where the answer to a request for this range lies.
    pub(crate) fn of(range: ByteRange, answer: &Answer) -> Self {
        let length = answer.body.len() as u64;
        let stated = answer.content_range.as_deref().and_then(|range| {
            let (span, total) = range.strip_prefix("bytes ")?.split_once('/')?;
            // Numbers that no blob reaches are no place in one.
            let number = |text: &str| text.parse().ok().filter(|number: &u64| *number < 1 << 53);
            Some((number(span.split_once('-')?.0)?, number(total)))
        });
        let (start, total) = match stated {
            Some(stated) => stated,
            None if answer.status == 206 => (range.start, None),
            // A server that ignores the range sends everything; what was asked for is cut out here.
            None => (range.start.min(length), Some(length)),
        };
        let end = if answer.status == 206 || stated.is_some() { start + length } else { length };
        let is_open = total.is_none() && length > range.end - range.start;
        Self { start, total: total.unwrap_or(end).max(end), is_open }
    }

    /// Whether bytes follow after these.
    fn goes_on_after(self, end: u64) -> bool {
        self.is_open || end < self.total
    }

    /// How many bytes there are, where that is known.
    pub(crate) fn known_total(self) -> Option<u64> {
        (!self.is_open).then_some(self.total)
    }
}

/// How many of the bytes are whole characters that fit the budget.
fn text_prefix(bytes: &[u8], more: bool) -> usize {
    let mut length = match std::str::from_utf8(bytes) {
        // Where nothing comes before it, the call after this one would stand at the same byte.
        Err(error) if more && error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    };
    loop {
        let (cost, most) = cost(&bytes[..length]);
        if cost <= most || length < 256 {
            return length;
        }
        length = length * most / cost * 9 / 10;
        // A character has at most three such bytes; more are no text, and are passed one by one.
        for _ in 0..3 {
            if length > 1 && bytes[length] & 0xC0 == 0x80 {
                length -= 1;
            }
        }
    }
}

/// What a text costs as it is shown, and what it may cost, in the half where it is nearer to that: in quotes where it is
/// text, and in all where those are quoted again and it stands beside them as data.
fn cost(bytes: &[u8]) -> (usize, usize) {
    let line = quoted(&String::from_utf8_lossy(bytes), usize::MAX);
    let once = estimate(&line);
    let both = once + estimate_json(&line.into());
    if both * TEXT_TOKENS > once * BOTH_TOKENS { (both, BOTH_TOKENS) } else { (once, TEXT_TOKENS) }
}

fn quoted_type(media_type: &str) -> String {
    crate::text::flag(media_type, 80)
}
