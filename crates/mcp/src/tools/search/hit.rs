//! One hit in any shape servers send, read once: what it is, where it came from, what it proves.

use pdpp_evidence::percent_encode_segment;
use serde_json::Value;

use super::marked::Marked;
use super::mint::{Minted, connection_of, mint};
use super::page::Wanted;
use super::value::{harmless, label, raw};
use super::window::{Window, other_provenance, sound_path, windows};

/// The longest label of a source, in characters.
const MAX_LABEL_CHARS: usize = 60;
/// The longest title.
const MAX_TITLE_CHARS: usize = 120;
/// A longer address is replaced by the record's own.
const MAX_URL_BYTES: usize = 1_024;

/// A hit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) minted: Minted,
    pub(super) stream: Option<String>,
    pub(super) record_key: Option<String>,
    pub(super) connection_id: Option<String>,
    pub(super) connector_key: Option<String>,
    pub(super) display_name: Option<String>,
    pub(super) title: String,
    pub(super) url: String,
    /// What the evidence is, when it is not the words in the record's own text.
    pub(super) evidence: Option<String>,
    /// How many more records say nearly the same.
    pub(super) duplicates: u64,
    pub(super) windows: Vec<Window>,
    pub(super) snippet: Option<Snippet>,
}

/// A piece of text that proves nothing by itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snippet {
    pub(super) field: Option<String>,
    pub(super) text: Marked,
}

impl Hit {
    /// Reads the hit at this position, counted from one.
    pub(super) fn read(hit: &Value, position: usize, wanted: Wanted<'_>) -> Self {
        let minted = mint(hit, position);
        let source = hit.get("source").unwrap_or(&Value::Null);
        let either = |names: &[&str], max_chars| {
            label(hit, names, max_chars).or_else(|| label(source, names, max_chars))
        };
        let record = minted.record.as_ref();
        let stream =
            record.map(|record| record.stream.clone()).or_else(|| either(&["stream", "stream_name"], 200));
        let connection_id =
            record.and_then(|record| record.connection_id.clone()).or_else(|| connection_of(hit));
        let connector_key = either(&["connector_key", "connector_id"], MAX_LABEL_CHARS);
        let display_name = either(&["display_name"], MAX_LABEL_CHARS);
        let title =
            label(hit, &["title", "name", "subject", "summary"], MAX_TITLE_CHARS).unwrap_or_else(|| {
                let source = display_name.as_ref().or(connector_key.as_ref()).or(connection_id.as_ref());
                let time = authored_at(hit).or_else(|| label(hit, &["emitted_at"], 40));
                let parts = [source, stream.as_ref(), time.as_ref()].map(|part| part.map(String::as_str));
                let parts: Vec<&str> = parts.into_iter().flatten().collect();
                if parts.is_empty() { minted.id.clone() } else { parts.join(" / ") }
            });
        Self {
            url: url(hit, &minted, wanted.provider_url),
            stream,
            record_key: record.map(|record| record.record_id.clone()),
            connection_id,
            connector_key,
            display_name,
            title,
            evidence: other_provenance(hit.get("evidence")),
            duplicates: hit.get("duplicates").and_then(Value::as_u64).unwrap_or(0),
            windows: windows(hit, wanted.query),
            snippet: snippet(hit, wanted.query),
            minted,
        }
    }

    /// The id that `fetch` takes, if there is one.
    pub(super) fn handle(&self) -> Option<&str> {
        self.minted.handle.as_deref()
    }
}

/// When the record was written, wherever the hit says so.
fn authored_at(hit: &Value) -> Option<String> {
    const NAMES: [&str; 6] =
        ["sent_at", "authored_at", "created_at", "source_created_at", "occurred_at", "updated_at"];
    let nested = ["data", "record", "metadata", "source"].iter().filter_map(|name| hit.get(*name));
    std::iter::once(hit).chain(nested).find_map(|object| label(object, &NAMES, 40))
}

fn snippet(hit: &Value, query: &str) -> Option<Snippet> {
    let given = hit.get("snippet")?;
    let (field, text) = match given {
        Value::String(text) => (None, text.clone()),
        _ => (raw(given, &["field", "field_path"]), raw(given, &["text", "preview_text"])?),
    };
    Some(Snippet { field: field.filter(|field| sound_path(field)), text: Marked::read(&text, query)? })
}

/// An address that opens in a browser: the hit's own, made absolute, else the record's.
fn url(hit: &Value, minted: &Minted, provider_url: &str) -> String {
    let own = ["url", "record_url", "href", "source_url"].iter().find_map(|name| {
        let url = raw(hit, &[name]).filter(|url| url.len() <= MAX_URL_BYTES && harmless(url))?;
        if url.starts_with("https://") || url.starts_with("http://") {
            Some(url)
        } else if url.starts_with('/') && !url.starts_with("//") {
            Some(format!("{provider_url}{url}"))
        } else {
            None
        }
    });
    own.unwrap_or_else(|| {
        let Some(record) = &minted.record else { return provider_url.to_owned() };
        let [stream, key] = [&record.stream, &record.record_id].map(|part| percent_encode_segment(part));
        let scope = record.connection_id.as_deref().map(percent_encode_segment);
        let query = scope.map(|id| format!("?connection_id={id}")).unwrap_or_default();
        format!("{provider_url}/v1/streams/{stream}/records/{key}{query}")
    })
}
