//! What a reader must know about an answer besides its hits: how much was found, what was left out, what was
//! understood differently. Only what the server states; nothing is inferred from counts.

use serde_json::Value;

use super::value::label;
use crate::text::quoted;

/// The most entries of one kind that are told.
const MAX_ENTRIES: usize = 3;

/// Hits of a page that did not match themselves, and whether the page is all there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbours {
    pub(super) on_page: u64,
    pub(super) all_seen: bool,
}

/// The notes, as sentences of one line.
pub(super) fn notes(meta: &Value, neighbours: Neighbours) -> Vec<String> {
    let mut notes: Vec<String> = matches(meta, neighbours).into_iter().collect();
    notes.extend(recall(meta));
    if at(meta, &["index", "state"]).and_then(Value::as_str) == Some("behind") {
        notes.push("Index behind: the newest records may be missing; repeat shortly.".to_owned());
    }
    notes.extend(entries(meta, "corrected").filter_map(|entry| {
        let [typed, used] = [text(entry, "typed")?, text(entry, "used")?];
        Some(format!("Nothing matched {typed}; looked for {used}."))
    }));
    notes.extend(entries(meta, "ignored").filter_map(|entry| {
        let reason = text(entry, "reason").map(|reason| format!(" ({reason})")).unwrap_or_default();
        Some(format!("Ignored {}{reason}.", text(entry, "text")?))
    }));
    notes.extend(entries(meta, "warnings").filter_map(|entry| {
        let code = label(entry, &["code"], 60).unwrap_or_default();
        Some(format!("Warning {}: {}.", crate::text::flag(&code, 60), text(entry, "message")?))
    }));
    notes
}

/// How many records match, as far as the server knows. It counts those found through their conversation too; they
/// are taken off as far as they are seen.
fn matches(meta: &Value, neighbours: Neighbours) -> Option<String> {
    let count = meta.get("count")?.as_u64()?.saturating_sub(neighbours.on_page);
    let exact = neighbours.on_page == 0 || neighbours.all_seen;
    match meta.get("count_accuracy").and_then(Value::as_str) {
        Some("exact") if exact => Some(format!("matches={count}.")),
        Some("exact") => Some(format!("matches<={count}.")),
        Some("estimated") => Some(format!("matches=about {count}.")),
        Some("lower_bound") if exact => Some(format!("matches>={count}.")),
        _ => None,
    }
}

/// The warning that the ranking did not see everything.
fn recall(meta: &Value) -> Option<String> {
    let recall = meta.get("recall")?;
    let windowed = recall.get("ranking_scope").and_then(Value::as_str) == Some("candidate_window");
    let incomplete = recall.get("complete").and_then(Value::as_bool) == Some(false);
    if !windowed && !incomplete {
        return None;
    }
    let facts: Vec<String> = ["ranked_candidate_count", "candidate_window_limit", "truncated_source_count"]
        .iter()
        .filter_map(|name| Some(format!("{name}={}", recall.get(*name)?.as_u64()?)))
        .collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(" ")) };
    Some(format!(
        "Recall: bounded candidate window{facts}; more matches may exist, do not treat this page as exhaustive."
    ))
}

fn entries<'m>(meta: &'m Value, name: &str) -> impl Iterator<Item = &'m Value> {
    meta.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter().take(MAX_ENTRIES)
}

fn text(entry: &Value, name: &str) -> Option<String> {
    label(entry, &[name], 160).map(|text| quoted(&text, 160))
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(*name))
}
