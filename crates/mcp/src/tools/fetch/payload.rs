//! The payload of a record, looked at once. Its document is written anew until it fits, and a record may be large.

use pdpp_evidence::{Content, Extent, classify, json_bytes, redact_in_place};
use serde_json::{Map, Value};

use crate::ladder::{BinaryField, binary_fields, content_fields};
use crate::record::{self, JSON_CHARS, NAME_BYTES, fits_alone};
use crate::shown::neutral;
use crate::tokens;

/// The most fields that are looked at; the others are counted.
const LOOKED_AT: usize = 1_000;
/// The longest value that counts as short, in characters.
const SHORT_CHARS: usize = 200;

pub(super) struct Payload<'v> {
    pub(super) members: &'v Map<String, Value>,
    /// The first fields that are content and hold something.
    pub(super) fields: Vec<Field<'v>>,
    /// How many there are beyond those.
    pub(super) more: usize,
    /// What the record calls its own metadata.
    pub(super) own_metadata: Option<Field<'v>>,
    /// The members without bytes.
    pub(super) redacted: Value,
    /// Where the bytes were.
    pub(super) redacted_paths: Vec<String>,
    /// The first fields that hold bytes.
    pub(super) binary: Vec<BinaryField>,
    /// How many characters are not shown as they are.
    pub(super) replaced: usize,
}

pub(super) struct Field<'v> {
    pub(super) name: &'v str,
    pub(super) value: &'v Value,
    /// What it costs beside the text, when it is short enough to stand there.
    pub(super) short: Option<usize>,
    /// Whether a fetch of nothing else shows all of it.
    pub(super) fits_alone: bool,
    /// Whether it is bytes, and listed as such.
    pub(super) is_bytes: bool,
}

impl<'v> Payload<'v> {
    pub(super) fn of(row: &'v Map<String, Value>) -> Self {
        let members = record::payload(row);
        let mut redacted = Value::Object(members.clone());
        let replaced = neutral(&redacted).replaced;
        let redacted_paths = redact_in_place(&mut redacted);
        let binary = binary_fields(row);
        let look = |(name, value): (&'v String, &'v Value)| Field::of(name, value, &redacted, &binary);
        let mut content = content_fields(row).filter(|(_, value)| !value.is_null());
        let fields = content.by_ref().take(LOOKED_AT).map(look).collect();
        let more = content.count();
        let own_metadata = members.get_key_value("metadata").map(look);
        Self { members, fields, more, own_metadata, redacted, redacted_paths, binary, replaced }
    }
}

impl<'v> Field<'v> {
    fn of(name: &'v str, value: &'v Value, redacted: &Value, binary: &[BinaryField]) -> Self {
        let holds_bytes = binary.iter().any(|field| field.field == name);
        let is_bytes = matches!(classify(value), Content::Base64 { .. } | Content::BlobRef { .. });
        let is_short = name.len() <= NAME_BYTES
            && match value {
                Value::String(text) => !is_bytes && !Extent::head(text, SHORT_CHARS).1.truncated,
                Value::Array(_) | Value::Object(_) => !holds_bytes && json_bytes(value) <= SHORT_CHARS,
                other => other.is_number() || other.is_boolean(),
            };
        let cost = || tokens::estimate(name) + tokens::estimate_json(value) + 2;
        Self {
            name,
            value,
            short: is_short.then(cost),
            fits_alone: fits_alone(name, redacted.get(name).map_or(0, json_chars)),
            is_bytes: is_bytes && holds_bytes,
        }
    }
}

/// The length of a value's JSON, counted closely only where that decides.
fn json_chars(value: &Value) -> usize {
    let bytes = json_bytes(value);
    // A character has at most four bytes.
    if bytes <= JSON_CHARS || bytes > JSON_CHARS * 4 { bytes } else { value.to_string().chars().count() }
}
