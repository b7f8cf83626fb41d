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

/// Bytes shown when nobody asked for some.
const USUAL_BYTES: usize = 2 * 1024;
/// The most bytes shown when somebody did.
const ASKED_BYTES: usize = 4 * 1024;
/// Text shown at a time, in bytes.
const TEXT_BYTES: usize = 6 * 1024;
/// What a text window may cost, in tokens; it stands in both halves.
const TEXT_TOKENS: usize = 2_100;
/// Pictures that hosts can show.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The result of the tool.
pub(super) fn outcome(
    adapter: &Adapter,
    blob: &BlobHandle,
    asked: Option<ByteRange>,
    answer: &Answer,
) -> Outcome {
    let media_type = answer.media_type.as_deref().unwrap_or("application/octet-stream");
    let (start, total) = placed(asked, answer);
    let bytes = skipped(asked, answer);
    let whole = start == 0 && total == bytes.len() as u64;
    let picture = PICTURES.contains(&media_type) && whole && bytes.len() <= MAX_IMAGE_BYTES;
    let shown = if picture {
        bytes.len()
    } else if media_type.starts_with("text/") {
        text_prefix(&bytes[..bytes.len().min(TEXT_BYTES)], bytes.len() > TEXT_BYTES)
    } else {
        bytes.len().min(if asked.is_some() { ASKED_BYTES } else { USUAL_BYTES })
    };
    let shown_bytes = &bytes[..shown];
    let end = start + shown as u64;
    let complete = start == 0 && end == total;

    let mut text = format!("Fetched {shown} bytes ({}).", quoted_type(media_type));
    let mut structured = json!({
        "blob": blob,
        "mime_type": media_type,
        "size": shown,
        "total_bytes": total,
        "range": {"start": start, "end": end},
        "complete": complete,
        "provider_url": adapter.provider_url(),
        "request_id": answer.request_id,
    });
    append(&mut text, format_args!(" bytes={start}..{end} total_bytes={total} complete={complete}"));
    if end < total {
        let mut arguments = json!({"blob_id": blob.blob_id, "range": format!("bytes={end}-")});
        if let Some(connection) = &blob.connection_id {
            arguments["connection_id"] = connection.as_str().into();
        }
        append(&mut text, format_args!("\nnext fetch_blob args={arguments}"));
        structured["next"] = json!({"tool": "fetch_blob", "args": arguments});
    }
    let uri = BlobHandle {
        range: (!complete).then(|| format!("bytes={start}-{}", end.max(1) - 1)),
        ..blob.clone()
    }
    .uri();
    if picture {
        return Outcome::new(text, structured)
            .block(ContentBlock::image(STANDARD.encode(shown_bytes), media_type))
            .resource("blob", uri);
    }
    if media_type.starts_with("text/") {
        let decoded = String::from_utf8_lossy(shown_bytes);
        let neutral = neutralise(&decoded);
        structured["text"] = Value::from(neutral.text.as_ref());
        append(&mut text, format_args!("\ntext={}", quoted(&neutral.text, usize::MAX)));
        return Outcome::new(text, structured).resource("blob", uri);
    }
    let encoded = STANDARD.encode(shown_bytes);
    structured["bytes_base64"] = encoded.as_str().into();
    let block = ResourceContents::blob(encoded, uri.clone()).with_mime_type(media_type);
    Outcome::new(text, structured).block(ContentBlock::resource(block)).resource("blob", uri)
}

/// The bytes that were asked for, when the server sent everything instead.
fn skipped(asked: Option<ByteRange>, answer: &Answer) -> &[u8] {
    let whole = answer.status != 206 && answer.content_range.is_none();
    let start = asked.filter(|_| whole).map_or(0, |range| usize::try_from(range.start).unwrap_or(usize::MAX));
    answer.body.get(start..).unwrap_or_default()
}

/// Where the bytes start, and how many there are in all.
fn placed(asked: Option<ByteRange>, answer: &Answer) -> (u64, u64) {
    let length = answer.body.len() as u64;
    let stated = answer.content_range.as_deref().and_then(|range| {
        let (span, total) = range.strip_prefix("bytes ")?.split_once('/')?;
        let start: u64 = span.split_once('-')?.0.parse().ok()?;
        // Numbers that no blob reaches are no place in one.
        let start = Some(start).filter(|start| *start < 1 << 53)?;
        Some((start, total.parse().ok().filter(|total: &u64| *total < 1 << 53).unwrap_or(start + length)))
    });
    match stated {
        Some((start, total)) => (start, total.max(start + length)),
        None if answer.status == 206 => {
            let start = asked.map_or(0, |range| range.start);
            (start, start + length)
        }
        // A server that ignores the range sends everything; what was asked for is cut out here.
        None => (asked.map_or(0, |range| range.start.min(length)), length),
    }
}

/// How many of the bytes are whole characters that fit the budget.
fn text_prefix(bytes: &[u8], more: bool) -> usize {
    let mut length = match std::str::from_utf8(bytes) {
        Err(error) if more && error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    loop {
        let text = String::from_utf8_lossy(&bytes[..length]);
        let cost = crate::tokens::estimate(&text);
        if cost <= TEXT_TOKENS || length < 256 {
            return length;
        }
        length = length * TEXT_TOKENS / cost * 9 / 10;
        // A character has at most three such bytes; more are no text, and are passed one by one.
        for _ in 0..3 {
            if length > 1 && bytes[length] & 0xC0 == 0x80 {
                length -= 1;
            }
        }
    }
}

fn quoted_type(media_type: &str) -> String {
    crate::text::flag(media_type, 80)
}
