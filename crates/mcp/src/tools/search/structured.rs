//! The data of a page: the server's envelope, one lean entry for each hit, and the ladder of what can be read next.

use serde_json::{Map, Value, json};

use super::hit::Hit;
use super::page::Page;
use super::read::of_window;
use super::window::Window;
use crate::ResultDetail;
use crate::shown::neutralised;

/// The most records in a ladder.
pub(super) const MAX_RUNGS: usize = 5;

/// How much evidence each entry repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataSize {
    pub(super) chars: usize,
    pub(super) windows: usize,
    /// Whether each entry repeats its id inside a callable argument object, or only the ladder does.
    pub(super) every_call: bool,
}

/// The least that an entry says.
pub(super) const LEANEST: DataSize = DataSize { chars: 96, windows: 1, every_call: false };

/// The sizes above the leanest, from the richest.
pub(super) const DATA_SIZES: [DataSize; 3] = [
    DataSize { chars: 240, windows: 3, every_call: true },
    DataSize { chars: 160, windows: 2, every_call: true },
    DataSize { chars: 96, windows: 1, every_call: true },
];

/// One entry for each hit.
pub(super) fn results(page: &Page, size: DataSize, detail: ResultDetail) -> Value {
    neutralised(page.hits.iter().map(|hit| result(hit, size, detail)).collect())
}

fn result(hit: &Hit, size: DataSize, detail: ResultDetail) -> Value {
    let mut entry = Map::with_capacity(16);
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            entry.insert(name.to_owned(), value);
        }
    };
    put("id", Some(hit.minted.id.as_str().into()));
    put("title", Some(hit.title.as_str().into()));
    put("url", Some(hit.url.as_str().into()));
    put("stream", hit.stream.as_deref().map(Value::from));
    put("record_key", hit.record_key.as_deref().map(Value::from));
    put("connection_id", hit.connection_id.as_deref().map(Value::from));
    put("display_name", hit.display_name.as_deref().map(Value::from));
    put("connector_key", hit.connector_key.as_deref().map(Value::from));
    put("evidence", hit.evidence.as_deref().map(Value::from));
    put("duplicates", (hit.duplicates > 0).then(|| hit.duplicates.into()));
    let windows = || hit.windows.iter().take(size.windows);
    let compact = detail == ResultDetail::Compact;
    if compact || hit.windows.is_empty() {
        let text = hit.snippet.as_ref().map(|snippet| snippet.text.piece(size.chars).text);
        put("snippet", text.map(Value::from));
    }
    if !hit.windows.is_empty() {
        if compact {
            let all: Vec<Value> = windows().map(|window| reference(hit, window, size, true)).collect();
            put("match_windows", Some(all.into()));
            let all: Vec<Value> = windows().map(|window| reference(hit, window, size, false)).collect();
            put("evidence_excerpts", Some(all.into()));
        } else {
            let all: Vec<Value> =
                windows().map(|window| excerpt(hit, window, size, size.every_call)).collect();
            put("evidence_excerpts", Some(all.into()));
        }
    }
    entry.into()
}

/// A window in the older shape, whose arguments name the field and nothing more.
fn reference(hit: &Hit, window: &Window, size: DataSize, with_text: bool) -> Value {
    let piece = window.text.piece(size.chars);
    let mut shown = json!({"field_path": window.field_path});
    if with_text {
        shown["text"] = piece.text.as_str().into();
    }
    shown["preview_text"] = window.text.piece(96).text.into();
    shown["complete"] = (window.complete && !piece.cut).into();
    if let Some(read) = super::read::of_field(hit, &window.field_path) {
        shown["read"] = read.value();
    }
    shown
}

/// A window with the call that reads on from it, or with what that call adds to the id and the path.
fn excerpt(hit: &Hit, window: &Window, size: DataSize, call: bool) -> Value {
    let piece = window.text.piece(size.chars);
    let complete = window.complete && !piece.cut;
    let mut shown = json!({
        "field_path": window.field_path,
        "preview_text": piece.text,
        "preview_status": if complete { "complete" } else { "truncated" },
    });
    if let Some(provenance) = &window.provenance {
        shown["provenance"] = provenance.as_str().into();
    }
    match of_window(hit, window) {
        Some(read) if call => shown["read"] = read.value(),
        Some(read) => {
            for name in ["offset_chars", "q"] {
                if let Some(value) = read.args.get(name) {
                    shown[name] = value.clone();
                }
            }
        }
        None => {}
    }
    shown
}

/// What can be read next, from the hits themselves; nothing that only this adapter made up.
pub(super) fn ladder(page: &Page, size: DataSize) -> Option<Value> {
    let records: Vec<Value> = page.hits.iter().filter_map(|hit| rung(hit, size)).take(MAX_RUNGS).collect();
    (!records.is_empty()).then(|| {
        // The macro would make every record again.
        let mut ladder = json!({"kind": "search_results", "read_tool": "read_record_field", "records": []});
        ladder["records"] = records.into();
        neutralised(ladder)
    })
}

fn rung(hit: &Hit, size: DataSize) -> Option<Value> {
    let record = hit.minted.record.as_ref()?;
    let mut entry = json!({
        "id": hit.handle().unwrap_or(&hit.minted.id),
        "connection_id": record.connection_id,
        "stream": record.stream,
        "record_id": record.record_id,
        "handle_semantics": "live_lookup",
    });
    if !hit.windows.is_empty() {
        let shown = hit.windows.iter().take(size.windows);
        entry["evidence_excerpts"] = shown.map(|window| excerpt(hit, window, size, true)).collect();
    }
    Some(entry)
}
