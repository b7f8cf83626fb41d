//! The text in a document: PDF, Word, HTML, mail, and anything that is text already.
//!
//! Documents come from strangers. Unpacking and output are bounded here; time and memory are bounded by whoever
//! calls, in a process of its own, because a PDF can still be made to keep its reader busy.

mod docx;
mod pdf;

use crate::charset;
use crate::html_text::html_to_text;
use crate::mail::text_of_message;

/// Most bytes of text one document gives.
pub(crate) const MOST_TEXT: usize = 2 * 1024 * 1024;
/// Most bytes of one packed piece, once unpacked.
pub(crate) const MOST_UNPACKED: usize = 64 * 1024 * 1024;
/// Most bytes of a text that are looked at. Of a log of gigabytes the beginning is enough.
const MOST_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pdf,
    Docx,
    Html,
    Message,
    Plain,
}

/// The text of a document, at most 2 MiB of it; `None` when it has none or is of no kind that is known.
///
/// The media type decides, then the name, then the first bytes: mail calls many things `application/octet-stream`.
pub fn extract_text(media_type: &str, name: Option<&str>, bytes: &[u8]) -> Option<String> {
    let text = match kind(media_type, name, bytes)? {
        Kind::Pdf => pdf::text(bytes)?,
        Kind::Docx => docx::text(bytes)?,
        Kind::Html => html_to_text(&decode(media_type, bytes, true), MOST_TEXT),
        Kind::Message => text_of_message(bytes)?,
        Kind::Plain => plain(media_type, bytes)?,
    };
    let text = text.replace('\0', "");
    let text = text[..text.floor_char_boundary(MOST_TEXT)].trim_end();
    if text.trim().is_empty() { None } else { Some(text.to_owned()) }
}

fn kind(media_type: &str, name: Option<&str>, bytes: &[u8]) -> Option<Kind> {
    const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.";
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let by_name = || name.and_then(by_extension);
    match essence.as_str() {
        "application/pdf" | "application/x-pdf" => Some(Kind::Pdf),
        "text/html" | "application/xhtml+xml" => Some(Kind::Html),
        "message/rfc822" | "message/global" => Some(Kind::Message),
        // Both are markup of their own, of which the text is the smaller part.
        "text/rtf" | "text/richtext" => None,
        "application/json" | "application/xml" | "application/ics" | "application/yaml" => Some(Kind::Plain),
        _ if essence.starts_with(WORD) => Some(Kind::Docx),
        _ if essence.starts_with("text/") || essence.starts_with("message/") => {
            by_name().or(Some(Kind::Plain))
        }
        _ if essence.ends_with("+json") || essence.ends_with("+xml") && essence != "image/svg+xml" => {
            Some(Kind::Plain)
        }
        ""
        | "application/octet-stream"
        | "binary/octet-stream"
        | "application/x-download"
        | "application/download"
        | "application/force-download"
        | "application/zip" => by_name().or_else(|| by_first_bytes(bytes)),
        _ => None,
    }
}

fn by_extension(name: &str) -> Option<Kind> {
    match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "pdf" => Some(Kind::Pdf),
        "docx" | "docm" | "dotx" => Some(Kind::Docx),
        "html" | "htm" | "xhtml" => Some(Kind::Html),
        "eml" => Some(Kind::Message),
        "txt" | "text" | "md" | "markdown" | "csv" | "tsv" | "log" | "ics" | "vcf" | "json" | "xml"
        | "yaml" | "yml" | "srt" | "tex" | "org" | "rst" => Some(Kind::Plain),
        _ => None,
    }
}

fn by_first_bytes(bytes: &[u8]) -> Option<Kind> {
    let head = &bytes[..bytes.len().min(1024)];
    head.windows(5).any(|five| five == b"%PDF-").then_some(Kind::Pdf)
}

fn plain(media_type: &str, bytes: &[u8]) -> Option<String> {
    // What calls itself text and is full of zeros is none; UTF-16 says so by its mark.
    let head = &bytes[..bytes.len().min(4096)];
    let zeros = memchr::memchr_iter(0, head).count();
    let is_marked = encoding_rs::Encoding::for_bom(head).is_some();
    if zeros * 10 > head.len() && !is_marked && parameter(media_type).is_none() {
        return None;
    }
    Some(decode(media_type, bytes, false).replace("\r\n", "\n"))
}

fn decode(media_type: &str, bytes: &[u8], is_html: bool) -> String {
    let bytes = &bytes[..bytes.len().min(MOST_BYTES)];
    let said = parameter(media_type);
    let inside = || if is_html { meta_charset(bytes) } else { None };
    let label = said.map(str::to_owned).or_else(inside);
    charset::decode(bytes, label.as_deref())
}

/// The charset behind a media type.
fn parameter(media_type: &str) -> Option<&str> {
    let parameters = media_type.split(';').skip(1).filter_map(|part| part.split_once('='));
    let mut found = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    found.next().map(|(_, value)| value.trim().trim_matches('"'))
}

/// The charset a page names near its beginning.
fn meta_charset(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(2048)]).to_ascii_lowercase();
    let (_, after) = head.split_once("charset=")?;
    let value = after.trim_start_matches(['"', '\'']);
    let end = value.find(['"', '\'', '>', ' ', ';', '/']).unwrap_or(value.len());
    (end > 0).then(|| value[..end].to_owned())
}

#[cfg(test)]
mod tests;
