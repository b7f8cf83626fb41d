//! What stands beside a document's own facts: related records, the server's warnings, and what the boundary
//! changed.

use pdpp_evidence::{neutralise, redact};
use serde_json::{Map, Value, json};

use super::document::Record;
use super::metadata::clipped;
use crate::ladder::binary_fields;
use crate::shown::neutral;
use crate::{bounded, record};

/// What related records may cost.
const EXPANDED_TOKENS: usize = 1_200;

/// The related records that were asked for, with long texts cut and every cut listed.
pub(super) fn expanded(record: &Record<'_>, metadata: &mut Map<String, Value>) {
    let Some(related) = record.row.get("expanded").filter(|it| it.is_object()) else { return };
    // Under its own name, so that a cut in it is not taken for a cut in a field of this record.
    let mut related = json!({ "expanded": redact(related).0 });
    let cuts = bounded::fit_row(&mut related, EXPANDED_TOKENS, None);
    let shown = related.get("expanded").cloned().unwrap_or(related);
    metadata.insert("expanded".to_owned(), neutral(&shown).value);
    bounded::report(cuts, metadata);
}

/// What the server wants its reader to know.
pub(super) fn warnings(record: &Record<'_>, metadata: &mut Map<String, Value>) {
    let given = record.row.get("meta").and_then(|meta| meta.get("warnings")).and_then(Value::as_array);
    let said = |warning: &Value| {
        let warning = warning.as_object()?;
        let parts = ["code", "message"].map(|name| record::text(warning, name).unwrap_or(""));
        Some(clipped(&parts.join(": ").into()))
    };
    let warnings: Vec<Value> = given.into_iter().flatten().filter_map(said).take(3).collect();
    if !warnings.is_empty() {
        metadata.insert("warnings".to_owned(), warnings.into());
    }
}

/// What the boundary changed: bytes left out, characters made visible.
pub(super) fn boundary(record: &Record<'_>, metadata: &mut Map<String, Value>) {
    let payload = Value::Object(record.payload().clone());
    let replaced = neutral(&payload).replaced;
    if replaced > 0 {
        metadata.insert("unsafe_chars_replaced".to_owned(), replaced.into());
    }
    let (_, binary) = redact(&payload);
    let fields: Vec<Value> =
        binary_fields(record.row).iter().map(|field| field.brief(record.handle)).collect();
    if !fields.is_empty() {
        metadata.insert("binary_fields".to_owned(), fields.into());
    }
    if !binary.is_empty() {
        let paths: Vec<Value> = binary.iter().take(20).map(|path| neutralise(path).text.into()).collect();
        metadata.insert("binary_redacted".to_owned(), paths.into());
    }
}
