//! Handles: the strings by which a reader names a record, a window of a field, or a blob.
//!
//! | form | grammar |
//! |---|---|
//! | self-contained | `connection_id/stream:record_id` |
//! | older | `stream:record_id` |
//! | record URI | `pdpp://record/` and base64url JSON, or one of the forms above percent-encoded |
//!
//! The first `/` ends the connection, the first `:` after it ends the stream, so a record id may hold colons.
//! `/` stands in no part, so the two plain forms cannot be confused. A handle names a place and carries no
//! authority; whoever holds the data decides.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

const RECORD: &str = "pdpp://record/";
const FIELD_WINDOW: &str = "pdpp://field-window/";
const BLOB: &str = "pdpp://blob/";
const GRAMMARS: &str =
    "pass `connection_id/stream:record_id` or `stream:record_id` exactly as a result printed it";

/// Why a text is no handle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandleError {
    /// A part is empty.
    #[error("{0} is required")]
    Missing(String),
    /// A part could leave its place in a path.
    #[error("{0} contains invalid characters")]
    InvalidCharacters(String),
    /// It follows none of the grammars.
    #[error("the id is malformed; {GRAMMARS}")]
    NoGrammar,
    /// A resource handle that does not decode.
    #[error("Resource handle is malformed")]
    Malformed,
}

/// Refuses a name that is empty or could leave its place in a path.
pub fn safe_name(label: &str, name: &str) -> Result<(), HandleError> {
    if name.is_empty() {
        return Err(HandleError::Missing(label.to_owned()));
    }
    if name == "." || name.contains(['/', '\\']) || name.contains("..") || name.contains('\0') {
        return Err(HandleError::InvalidCharacters(label.to_owned()));
    }
    Ok(())
}

/// Names a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHandle {
    /// The connection; none in the older form.
    pub connection_id: Option<String>,
    /// The stream.
    pub stream: String,
    /// The record's key.
    pub record_id: String,
}

#[derive(Serialize, Deserialize)]
struct RecordPayload {
    v: u64,
    kind: String,
    connection_id: Option<String>,
    stream: String,
    record_id: String,
}

impl RecordHandle {
    /// Reads any form.
    pub fn parse(text: &str) -> Result<Self, HandleError> {
        if text.is_empty() {
            return Err(HandleError::Missing("id".to_owned()));
        }
        let Some(rest) = text.strip_prefix(RECORD) else { return Self::parse_plain(text) };
        let decoded = percent_decode(rest).ok_or(HandleError::NoGrammar)?;
        match decode::<RecordPayload>(&decoded) {
            Some(payload) if payload.v == 1 && payload.kind == "record" => {
                let connection_id = payload.connection_id.unwrap_or_default();
                safe_name("connection_id", &connection_id)?;
                safe_name("stream", &payload.stream)?;
                safe_key(&payload.record_id)?;
                Ok(Self {
                    connection_id: Some(connection_id),
                    stream: payload.stream,
                    record_id: payload.record_id,
                })
            }
            _ => Self::parse_plain(&decoded),
        }
    }

    fn parse_plain(text: &str) -> Result<Self, HandleError> {
        let (connection_id, rest) = match text.split_once('/') {
            None => (None, text),
            Some((connection, rest)) => {
                safe_name("connection_id", connection)?;
                (Some(connection.to_owned()), rest)
            }
        };
        safe_name("id", rest)?;
        let (stream, record_id) = rest.split_once(':').ok_or(HandleError::NoGrammar)?;
        if stream.is_empty() || record_id.is_empty() {
            return Err(HandleError::NoGrammar);
        }
        safe_name("stream", stream)?;
        safe_name("record_id", record_id)?;
        Ok(Self { connection_id, stream: stream.to_owned(), record_id: record_id.to_owned() })
    }

    /// The handle shown to readers: plain where the parts allow it, else the URI. It is complete in itself when
    /// the connection is known.
    pub fn id(&self) -> String {
        let visible = |text: &str| text.chars().all(|c| !c.is_whitespace() && !c.is_control());
        let sound = safe_name("stream", &self.stream).is_ok()
            && !self.stream.contains(':')
            && safe_name("record_id", &self.record_id).is_ok()
            && visible(&self.stream)
            && crate::neutralise(&self.record_id).replaced == 0
            && visible(&self.record_id);
        match &self.connection_id {
            Some(connection)
                if sound
                    && !connection.contains(':')
                    && visible(connection)
                    && safe_name("connection_id", connection).is_ok() =>
            {
                format!("{connection}/{}:{}", self.stream, self.record_id)
            }
            Some(_) => self.uri(),
            None => format!("{}:{}", self.stream, self.record_id),
        }
    }

    /// The canonical record URI.
    pub fn uri(&self) -> String {
        encode(
            RECORD,
            &RecordPayload {
                v: 1,
                kind: "record".to_owned(),
                connection_id: self.connection_id.clone(),
                stream: self.stream.clone(),
                record_id: self.record_id.clone(),
            },
        )
    }
}

/// A key inside a URI may hold `/`, which is encoded on its way, but nothing that walks a path.
fn safe_key(key: &str) -> Result<(), HandleError> {
    if key.is_empty() {
        return Err(HandleError::Missing("record_id".to_owned()));
    }
    let walks = key.split('/').any(|segment| segment == "." || segment == "..");
    if walks || key.contains('\\') || key.chars().any(char::is_control) {
        return Err(HandleError::InvalidCharacters("record_id".to_owned()));
    }
    Ok(())
}

/// Names a window of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldWindowHandle {
    /// The connection.
    pub connection_id: String,
    /// The stream.
    pub stream: String,
    /// The record's key.
    pub record_id: String,
    /// The field.
    pub field_path: String,
    /// Where the window starts, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Where the window starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_chars: Option<u64>,
    /// How long it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_chars: Option<u64>,
    /// What it opens on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// How much text before the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_chars: Option<u64>,
    /// How much text after the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_chars: Option<u64>,
}

/// Names a stored blob, or part of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobHandle {
    /// The blob.
    pub blob_id: String,
    /// The connection that holds it, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// Which bytes, as in `bytes=0-1023`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u64,
    kind: String,
    #[serde(flatten)]
    rest: T,
}

impl FieldWindowHandle {
    /// The URI of the window.
    pub fn uri(&self) -> String {
        encode(FIELD_WINDOW, &Versioned { v: 1, kind: "field-window".to_owned(), rest: self })
    }

    /// Reads the URI of a window; none when the text is no such URI at all.
    pub fn parse(uri: &str) -> Option<Result<Self, HandleError>> {
        let rest = uri.strip_prefix(FIELD_WINDOW)?;
        Some(decode_resource(rest, "field-window").and_then(|handle: Self| {
            safe_name("connection_id", &handle.connection_id)?;
            safe_name("stream", &handle.stream)?;
            safe_key(&handle.record_id)?;
            safe_name("field_path", &handle.field_path)?;
            Ok(handle)
        }))
    }
}

impl BlobHandle {
    /// The URI of the blob.
    pub fn uri(&self) -> String {
        encode(BLOB, &Versioned { v: 1, kind: "blob".to_owned(), rest: self })
    }

    /// Reads the URI of a blob; none when the text is no such URI at all.
    pub fn parse(uri: &str) -> Option<Result<Self, HandleError>> {
        let rest = uri.strip_prefix(BLOB)?;
        Some(decode_resource(rest, "blob").and_then(|handle: Self| {
            safe_name("blob_id", &handle.blob_id)?;
            handle
                .connection_id
                .as_deref()
                .map_or(Ok(()), |connection| safe_name("connection_id", connection))?;
            Ok(handle)
        }))
    }
}

fn decode_resource<T: for<'de> Deserialize<'de>>(encoded: &str, kind: &str) -> Result<T, HandleError> {
    let decoded = percent_decode(encoded).ok_or(HandleError::Malformed)?;
    let mut payload: serde_json::Map<String, serde_json::Value> =
        decode(&decoded).ok_or(HandleError::Malformed)?;
    let version = payload.remove("v");
    let named = payload.remove("kind");
    if version != Some(1.into()) || named != Some(kind.into()) {
        return Err(HandleError::Malformed);
    }
    serde_json::from_value(payload.into()).map_err(|_| HandleError::Malformed)
}

fn encode(prefix: &str, payload: &impl Serialize) -> String {
    let json = serde_json::to_vec(payload).unwrap_or_default();
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(json))
}

fn decode<T: for<'de> Deserialize<'de>>(encoded: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

/// The text behind percent escapes; none when an escape is broken or the bytes are no text.
pub fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            let digits =
                std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
