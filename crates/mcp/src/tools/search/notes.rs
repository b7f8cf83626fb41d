//! What a reader must know about an answer besides its hits: how much was found, what was left out, what was
//! understood differently. Only what the server states; nothing is inferred from counts.

use serde_json::Value;

use super::value::label;
use crate::text::quoted;

/// The most entries of one kind that are told.
const MAX_ENTRIES: usize = 3;

/// The notes, as sentences of one line.
pub(super) fn notes(meta: &Value) -> Vec<String> {
    let mut notes: Vec<String> = matches(meta).into_iter().collect();
    notes.extend(recall(meta));
    if is_behind(meta) {
        notes.push("Index behind: records may be missing, the newest or, while it is built anew, any; repeat shortly.".to_owned());
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

/// Whether the index has not seen everything yet.
pub(super) fn is_behind(meta: &Value) -> bool {
    at(meta, &["index", "state"]).and_then(Value::as_str) == Some("behind")
}

/// How many records match, as far as the server knows. It counts those with a word of the query, copies that are folded
/// into a hit too, and none that is shown only for its conversation.
fn matches(meta: &Value) -> Option<String> {
    let count = meta.get("count")?.as_u64()?;
    match meta.get("count_accuracy").and_then(Value::as_str) {
        Some("exact") => Some(format!("matches={count}.")),
        Some("estimated") => Some(format!("matches=about {count}.")),
        Some("lower_bound") => Some(format!("matches>={count}.")),
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
