//! Bytes in a record: what they are, how many, and who hands them out. The bytes themselves are never shown.

use std::borrow::Cow;
use std::fmt::Write as _;

use pdpp_evidence::{Content, RecordHandle, classify, neutralise, percent_encode_segment};
use serde_json::{Map, Value, json};

use crate::Adapter;
use crate::record::{call_text, is_callable};
use crate::row::Row;
use crate::text::{flag, handle as plain};

const FIELDS: usize = 5;
const MAX_DEPTH: usize = 32;

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
            digest: digest.map(|digest| digest.chars().take(100).collect()),
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
        if let Some(connection) = record.connection_id.as_ref().filter(|id| is_callable(id)) {
            args["connection_id"] = connection.as_str().into();
        }
        Some(json!({"tool": "fetch_blob", "args": args}))
    }

    /// The request that exports the value outside of a conversation.
    fn export(&self, record: &RecordHandle) -> String {
        let mut route = format!(
            "GET /v1/streams/{}/records/{}?fields={}",
            percent_encode_segment(&record.stream),
            percent_encode_segment(&record.record_id),
            percent_encode_segment(&self.field),
        );
        if let Some(connection) = &record.connection_id {
            // Writing to a string cannot fail.
            let _ = write!(route, "&connection_id={}", percent_encode_segment(connection));
        }
        route
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
    pub(crate) fn brief(&self, record: &RecordHandle) -> Value {
        let (size, media_type) = self.size_and_type();
        let mut field =
            json!({"field_path": neutralise(&self.field_path).text, "preview_status": "binary-only"});
        if let Some(media_type) = media_type {
            field["mime_type"] = neutralise(media_type).text.into();
        }
        if let Some(size) = size {
            field["size_bytes"] = size.into();
        }
        match &self.content {
            Content::BlobRef { blob_id, .. } => field["blob_id"] = neutralise(blob_id).text.into(),
            _ => field["export"] = self.export(record).into(),
        }
        field
    }

    /// What the ladder says.
    pub(crate) fn describe(&self, adapter: &Adapter, record: &RecordHandle) -> Value {
        let mut field = json!({
            "field_path": neutralise(&self.field_path).text,
            "binary_field": true,
            "text_like": false,
            "handle_semantics": "live_lookup",
            "preview_status": "binary-only",
        });
        let (size, media_type) = self.size_and_type();
        if let Content::BlobRef { blob_id, .. } = &self.content {
            field["blob_id"] = neutralise(blob_id).text.into();
        }
        if let Some(media_type) = media_type {
            field["mime_type"] = neutralise(media_type).text.into();
        }
        if let Some(digest) = &self.digest {
            field["digest"] = neutralise(digest).text.into();
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
        let mut line = format!("binary-only field_path={}", plain(&neutralise(&self.field_path).text));
        if let Some(media_type) = media_type {
            line.push_str(" mime_type=");
            line.push_str(&flag(media_type, 60));
        }
        if let Some(size) = size {
            // Writing to a string cannot fail.
            let _ = write!(line, " size_bytes={size}");
        }
        let next = self.read(adapter, record).map_or_else(
            || format!("metadata only; export={}", self.export(record)),
            |read| call_text(&read),
        );
        format!("{line} {next}")
    }
}
