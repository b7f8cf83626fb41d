//! Files that lie inside a calendar, written out in base64.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::content_lines::{Component, decode_base64};
use crate::{Attachment, Complaint, Draft, Sink, Stop, hash_key};

/// Gives attachments, each of an event once: programs repeat them at every changed date of a series.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    given: HashSet<String>,
}

impl Attachments {
    /// Every file in a component.
    pub(super) fn of(
        &mut self,
        component: &Component,
        parent: &str,
        time: Option<&Value>,
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        for property in component.all("ATTACH").filter(|property| property.is_base64()) {
            let Some(bytes) = decode_base64(&property.value) else {
                sink.complain(Complaint::damaged(place, "ATTACH is no base64; the file was left out."))?;
                continue;
            };
            let named = ["FILENAME", "X-FILENAME", "X-APPLE-FILENAME", "LABEL"];
            let name = named.iter().find_map(|name| property.parameter(name));
            let media_type = property.parameter("FMTTYPE").unwrap_or("application/octet-stream");
            // The file itself tells it apart: two of one name may differ.
            let key = hash_key(&[parent, name.unwrap_or_default(), &property.value]);
            if !self.given.insert(key.clone()) {
                continue;
            }
            let attachment = Attachment { stream: "attachments", key: &key, name, media_type };
            let Some(kept) = sink.attach(&attachment, &mut bytes.as_slice())? else {
                sink.complain(Complaint::damaged(place, "ATTACH could not be kept."))?;
                continue;
            };
            let data = json!({"id": key, "event_id": parent, "time": time, "name": name, "media_type": kept.media_type,
                "size_bytes": kept.size_bytes, "sha256": kept.sha256, "blob_ref": kept.blob_ref(),
                "text": kept.text});
            let Value::Object(data) = data else { continue };
            sink.record(Draft { stream: "attachments".to_owned(), key, data, place: place.to_owned() })?;
        }
        Ok(())
    }
}
