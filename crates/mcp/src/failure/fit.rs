//! An error of a size to be read. A server's error may list thousands of things; what is left out is counted.

use serde_json::{Map, Value};

use crate::bounded::cut_strings;
use crate::tokens::Scale;

/// Characters of a string and items of a list, tried one after the other until the error fits.
const CAPS: [(usize, usize); 6] = [(2_000, 12), (500, 12), (200, 12), (100, 4), (60, 1), (30, 1)];
/// What is kept of an error that does not fit otherwise.
const KEPT: [&str; 8] =
    ["type", "code", "message", "param", "request_id", "retry_after_seconds", "next_step", "reconnect"];
/// Characters of a string of those. With the last, what is kept always fits.
const KEPT_CHARS: [usize; 2] = [100, 40];
/// What an error may cost, in tokens. It stands in both halves, and in the text as JSON inside of JSON.
const TOKENS: usize = 1_800;

/// Cuts an error until its JSON has at most `max_chars` characters and costs no more than an error may. Strings and
/// lists that are too long are cut even where the whole would fit.
pub(super) fn fit(error: Value, max_chars: usize) -> Value {
    for (chars, items) in CAPS {
        let mut shorter = error.clone();
        cut_lists(&mut shorter, items);
        cut_strings(&mut shorter, chars, None);
        if fits(&shorter, max_chars) {
            return shorter;
        }
    }
    let Value::Object(mut members) = error else { return Value::Null };
    let all = members.len();
    members.retain(|name, value| KEPT.contains(&name.as_str()) && !value.is_array() && !value.is_object());
    members.insert("members_omitted".to_owned(), (all - members.len()).into());
    let mut kept = Value::Object(members);
    for chars in KEPT_CHARS {
        cut_strings(&mut kept, chars, None);
        if fits(&kept, max_chars) {
            break;
        }
    }
    kept
}

fn fits(error: &Value, max_chars: usize) -> bool {
    let json = error.to_string();
    Scale::Close.cost(&json) <= TOKENS && json.chars().count() <= max_chars
}

/// Cuts every list at `items`. How many are left out of a member stands beside it; the answer is how many are left out
/// of a list that stands in no member.
fn cut_lists(value: &mut Value, items: usize) -> usize {
    match value {
        Value::Array(list) => {
            let more = list.len().saturating_sub(items);
            list.truncate(items);
            list.iter_mut().fold(more, |more, item| more + cut_lists(item, items))
        }
        Value::Object(members) => {
            let mut counts = Map::new();
            for (name, member) in members.iter_mut() {
                let more = cut_lists(member, items);
                if more > 0 {
                    counts.insert(format!("{name}_omitted"), more.into());
                }
            }
            members.extend(counts);
            0
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
