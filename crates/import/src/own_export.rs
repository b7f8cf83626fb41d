//! What `pdpp export` wrote: records, declarations and attachments, read back as they were.
//!
//! `pdpp-export.json` at the top names one folder per connection. In each lie `manifest.json`, `records.jsonl` with one
//! record line each, and `blobs/` with the attachments under their ids.

use std::collections::HashMap;
use std::io;

use pdpp_store::{MAX_RECORD_BYTES, RecordLine};
use pdpp_wire::Code;
use pdpp_wire::manifest::{MAX_MANIFEST_BYTES, Manifest};
use serde::Deserialize;
use serde_json::Value;

use crate::lines::{Line, Lines};
use crate::tree::{open_buffered, read_whole};
use crate::{Attachment, Claim, Complaint, Format, Look, Sink, Stop, Tree, file_name};

/// The file at the top.
const INDEX: &str = "pdpp-export.json";
/// Largest index file.
const INDEX_BYTES: u64 = 4 * 1024 * 1024;
/// The only version there is.
const VERSION: u32 = 1;

/// Reads what `pdpp export` wrote.
#[derive(Debug)]
pub(crate) struct OwnExport;

#[derive(Debug, Deserialize)]
struct Index {
    version: u32,
    connections: Vec<Exported>,
}

#[derive(Debug, Deserialize)]
struct Exported {
    folder: String,
    display_name: Option<String>,
}

impl Format for OwnExport {
    fn name(&self) -> &'static str {
        "pdpp"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        let mut claims = Vec::new();
        for index in look.find(|path| file_name(path) == INDEX) {
            let root = look.path(index).strip_suffix(INDEX).unwrap_or_default().to_owned();
            let Some(read) = look.whole(index, INDEX_BYTES).and_then(|text| parse(&text)) else {
                continue;
            };
            let mut mine = vec![index];
            for Exported { folder, display_name } in read.connections {
                let prefix = format!("{root}{folder}/");
                let mut entries = look.find(|path| path.starts_with(&prefix));
                let named = |name: &str| {
                    entries.iter().copied().find(|entry| look.path(*entry) == format!("{prefix}{name}"))
                };
                let (Some(manifest), Some(records)) = (named("manifest.json"), named("records.jsonl")) else {
                    continue;
                };
                let attachments = entries.len() - 2;
                entries.retain(|entry| *entry != manifest && *entry != records);
                // The index file belongs to the first; a claim begins with manifest and records.
                let entries = [manifest, records].into_iter().chain(entries).chain(mine.drain(..)).collect();
                let found = format!("{folder}, {attachments} attachments");
                claims.push(Claim { entries, account: display_name, found });
            }
        }
        claims
    }

    fn manifest(&self, tree: &mut dyn Tree, claim: &Claim) -> io::Result<Manifest> {
        let bytes = read_whole(tree, claim.entries[0], MAX_MANIFEST_BYTES as u64)?;
        let text = String::from_utf8(bytes).map_err(|_| invalid("the manifest is not UTF-8"))?;
        Manifest::parse(&text).map_err(|fault| invalid(&fault.to_string()))
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        // Bytes first: a record must not stand without what it refers to.
        let mut referring = Vec::new();
        each_line(tree, claim.entries[1], &mut |line| {
            referring.extend(line.ok().and_then(|(text, _)| Referring::read(text)));
            Ok(())
        })?;
        attach(tree, claim, &referring, sink)?;
        each_line(tree, claim.entries[1], &mut |line| match line {
            Ok((text, place)) => match RecordLine::parse(text) {
                Ok(line) => sink.line(line, &place),
                Err(refused) => sink.complain(Complaint::new(place, refused.code, refused.message)),
            },
            Err(complaint) => sink.complain(complaint),
        })
    }
}

/// A record that refers to an attachment.
struct Referring {
    stream: String,
    key: String,
    blob_id: String,
    media_type: String,
}

impl Referring {
    fn read(text: &[u8]) -> Option<Self> {
        // Most lines refer to nothing and need no parsing for it.
        if !text.windows(8).any(|part| part == b"blob_ref") {
            return None;
        }
        let line: Value = serde_json::from_slice(text).ok()?;
        let word = |pointer: &str| line.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            stream: word("/stream")?,
            key: word("/key")?,
            blob_id: word("/data/blob_ref/blob_id")?,
            media_type: word("/data/blob_ref/mime_type")
                .unwrap_or_else(|| "application/octet-stream".to_owned()),
        })
    }
}

fn attach(
    tree: &mut dyn Tree,
    claim: &Claim,
    referring: &[Referring],
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let files: HashMap<String, usize> = claim.entries[2..]
        .iter()
        .map(|index| (file_name(&tree.entries()[*index].path).to_owned(), *index))
        .collect();
    for Referring { stream, key, blob_id, media_type } in referring {
        let place = format!("{stream} {key}");
        let Some(index) = files.get(blob_id) else {
            sink.complain(Complaint::damaged(place, "Its attachment is not in the export."))?;
            continue;
        };
        let attachment = Attachment { stream, key, name: None, media_type };
        match tree.open(*index) {
            Ok(mut bytes) => {
                if sink.attach(&attachment, &mut bytes)?.is_none() {
                    sink.complain(Complaint::damaged(place, "Its attachment cannot be read to the end."))?;
                }
            }
            Err(error) => sink.complain(Complaint::unreadable(place, &error))?,
        }
    }
    Ok(())
}

/// Takes a line with its place, or what is wrong with it.
type TakeLine<'a> = dyn FnMut(Result<(&[u8], String), Complaint>) -> Result<(), Stop> + 'a;

/// Hands over every line that is not blank with its place, or what is wrong with it.
fn each_line(tree: &mut dyn Tree, index: usize, take: &mut TakeLine<'_>) -> Result<(), Stop> {
    let path = tree.entries()[index].path.clone();
    let reader = match open_buffered(tree, index) {
        Ok(reader) => reader,
        Err(error) => return take(Err(Complaint::unreadable(path, &error))),
    };
    let mut lines = Lines::new(reader, MAX_RECORD_BYTES);
    let mut number = 0_u64;
    loop {
        number += 1;
        let place = format!("{path} line {number}");
        match lines.next_line() {
            Ok(None) => return Ok(()),
            Ok(Some(Line::Whole(text))) if text.trim_ascii().is_empty() => {}
            Ok(Some(Line::Whole(text))) => take(Ok((text, place)))?,
            Ok(Some(Line::TooLong)) => {
                take(Err(Complaint::new(place, Code::ResourceLimit, "The line is too long.")))?;
            }
            Err(error) => return take(Err(Complaint::unreadable(place, &error))),
        }
    }
}

fn parse(text: &[u8]) -> Option<Index> {
    serde_json::from_slice(text).ok().filter(|index: &Index| index.version == VERSION)
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}
