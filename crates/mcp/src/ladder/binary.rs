//! Bytes in a record: what they are, how many, and who hands them out. The bytes themselves are never shown.

use std::borrow::Cow;
use std::fmt::Write as _;

use pdpp_evidence::{Content, RecordHandle, classify, neutralise, percent_encode_segment};
use serde_json::{Map, Value, json};

use crate::Adapter;
use crate::record::{self, NAME_BYTES, call_text, is_callable, is_safe};
use crate::row::Row;
use crate::text::{clipped, flag, handle as plain};

const FIELDS: usize = 5;
const MAX_DEPTH: usize = 32;
/// How much of a path, a media type or a digest is shown, in characters: whoever wrote the record wrote them too.
const SHOWN_CHARS: usize = 120;

/// One field that holds bytes or refers to them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BinaryField {
    pub(crate) field_path: String,
    /// The top-level field it stands in.
    pub(crate) field: String,
    pub(crate) content: Content,
    size_chars: Option<usize>,
    digest: Option<String>,
}

/// The first binary fields of a record, at any depth of its payload.
pub(crate) fn binary_fields(row: &Map<String, Value>) -> Vec<BinaryField> {
    binary_among(&Row::Tree(row).fields())
}

/// The same among fields that are content.
pub(crate) fn binary_among(fields: &[(&str, &Value)]) -> Vec<BinaryField> {
    let (mut path, mut found) = (Vec::new(), Vec::new());
    for (name, value) in fields {
        path.push(Cow::Borrowed(*name));
        collect(value, &mut path, &mut found);
        path.clear();
    }
    found
}

fn collect<'v>(value: &'v Value, path: &mut Vec<Cow<'v, str>>, found: &mut Vec<BinaryField>) {
    if found.len() == FIELDS || path.len() > MAX_DEPTH {
        return;
    }
    let content = classify(value);
    if matches!(content, Content::Base64 { .. } | Content::BlobRef { .. }) {
        let digest = ["digest", "sha256"].iter().find_map(|name| value.get(*name)?.as_str());
        found.push(BinaryField {
            field_path: path.join("."),
            field: path.first().map_or_else(String::new, ToString::to_string),
            content,
            size_chars: value.as_str().map(|text| text.chars().count()),
            digest: digest.map(str::to_owned),
        });
        return;
    }
    let mut inside = |segment: Cow<'v, str>, value: &'v Value| {
        path.push(segment);
        collect(value, path, found);
        path.pop();
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| inside(index.to_string().into(), item));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| inside(name.into(), member)),
        _ => {}
    }
}

impl BinaryField {
    /// The call that hands out the bytes, where they are stored and the tool is listed.
    pub(crate) fn read(&self, adapter: &Adapter, record: &RecordHandle) -> Option<Value> {
        let Content::BlobRef { blob_id, .. } = &self.content else { return None };
        if !adapter.lists("fetch_blob") || !is_callable(blob_id) {
            return None;
        }
        let mut args = json!({ "blob_id": blob_id });
        if let Some(connection) = record.connection_id.as_ref().filter(|id| is_safe(id)) {
            args["connection_id"] = connection.as_str().into();
        }
        Some(json!({"tool": "fetch_blob", "args": args}))
    }

    /// The request that hands out the bytes outside of a conversation: of the blob where they are stored, else of
    /// the field they stand in.
    fn export(&self, record: &RecordHandle) -> String {
        let Some(blob_id) = self.blob_id() else { return record::export(record, &[&self.field]) };
        let mut route = format!("GET /v1/blobs/{}", percent_encode_segment(blob_id));
        if let Some(connection) = &record.connection_id {
            // Writing to a string cannot fail.
            let _ = write!(route, "?connection_id={}", percent_encode_segment(connection));
        }
        route
    }

    /// The blob, if its id is no longer than one that a store gives.
    fn blob_id(&self) -> Option<&str> {
        match &self.content {
            Content::BlobRef { blob_id, .. } => Some(blob_id.as_str()).filter(|id| id.len() <= NAME_BYTES),
            _ => None,
        }
    }

    fn size_and_type(&self) -> (Option<u64>, Option<&str>) {
        match &self.content {
            Content::Base64 { media_type, decoded_bytes } => {
                (u64::try_from(*decoded_bytes).ok(), media_type.as_deref())
            }
            Content::BlobRef { mime_type, size_bytes, .. } => (*size_bytes, mime_type.as_deref()),
            Content::Text | Content::Json | Content::Scalar => (None, None),
        }
    }

    /// What a document says: kind, size, and how to export what no tool hands out.
    pub(crate) fn brief(&self, adapter: &Adapter, record: &RecordHandle) -> Value {
        let (size, media_type) = self.size_and_type();
        let mut field =
            json!({"field_path": clipped(&self.field_path, SHOWN_CHARS), "preview_status": "binary-only"});
        if let Some(media_type) = media_type {
            field["mime_type"] = clipped(media_type, SHOWN_CHARS).into();
        }
        if let Some(size) = size {
            field["size_bytes"] = size.into();
        }
        if let Some(blob_id) = self.blob_id() {
            field["blob_id"] = neutralise(blob_id).text.into();
        }
        // The calls of a document stand by themselves.
        if self.read(adapter, record).is_none() {
            field["export"] = self.export(record).into();
        }
        field
    }

    /// What the ladder says.
    pub(crate) fn describe(&self, adapter: &Adapter, record: &RecordHandle) -> Value {
        let mut field = json!({
            "field_path": clipped(&self.field_path, SHOWN_CHARS),
            "binary_field": true,
            "text_like": false,
            "handle_semantics": "live_lookup",
            "preview_status": "binary-only",
        });
        let (size, media_type) = self.size_and_type();
        if let Some(blob_id) = self.blob_id() {
            field["blob_id"] = neutralise(blob_id).text.into();
        }
        if let Some(media_type) = media_type {
            field["mime_type"] = clipped(media_type, SHOWN_CHARS).into();
        }
        if let Some(digest) = &self.digest {
            field["digest"] = clipped(digest, SHOWN_CHARS).into();
        }
        if let Some(size) = size {
            field["size_bytes"] = size.into();
        }
        if let Some(chars) = self.size_chars {
            field["encoding"] = "base64".into();
            field["size_chars"] = chars.into();
        }
        match self.read(adapter, record) {
            Some(read) => field["read"] = read,
            None => field["export"] = self.export(record).into(),
        }
        field
    }

    /// The same on one line.
    pub(crate) fn line(&self, adapter: &Adapter, record: &RecordHandle) -> String {
        let (size, media_type) = self.size_and_type();
        let mut line = format!("binary-only field_path={}", plain(&clipped(&self.field_path, SHOWN_CHARS)));
        if let Some(media_type) = media_type {
            line.push_str(" mime_type=");
            line.push_str(&flag(media_type, 60));
        }
        if let Some(size) = size {
            // Writing to a string cannot fail.
            let _ = write!(line, " size_bytes={size}");
        }
        let next = self.read(adapter, record).map_or_else(
            || format!("metadata only; export={}", spoken(self.export(record))),
            |read| call_text(&read),
        );
        format!("{line} {next}")
    }
}

/// A request on a line of text: in quotes where a name had to be encoded, because what it says can still be read.
fn spoken(request: String) -> String {
    if request.contains('%') { Value::from(request).to_string() } else { request }
}
