//! The groups of an answer in words: their keys whole where they can be, and as many of them as fit.

use serde_json::Value;

use super::scalar;
use crate::tokens::estimate;

/// The longest key that is shown whole, in characters. A longer one is a text, and no filter repeats it.
const WHOLE: usize = 120;
/// How much is shown of a longer one.
const HEAD: usize = 40;

/// What a text shows of the groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) list: String,
    /// How many are shown.
    pub(super) shown: usize,
    /// How many of those have a key that is cut.
    pub(super) cut: usize,
}

impl Groups {
    /// The first groups, in the order of the server, that cost no more than `room`.
    pub(super) fn within(room: usize, groups: &[Value]) -> Self {
        let mut shown = Self::default();
        let mut left = room;
        for group in groups {
            let (piece, cut) = one(group);
            let Some(rest) = left.checked_sub(estimate(&piece) + 1) else { break };
            left = rest;
            if shown.shown > 0 {
                shown.list.push_str(", ");
            }
            shown.list.push_str(&piece);
            shown.shown += 1;
            shown.cut += usize::from(cut);
        }
        shown
    }
}

/// `"key"=count`, and whether the key is cut.
fn one(group: &Value) -> (String, bool) {
    let key = group.get("key").unwrap_or(&Value::Null);
    let size = group.get("value").or_else(|| group.get("count")).unwrap_or(&Value::Null);
    let cut = key.as_str().is_some_and(|key| key.chars().nth(WHOLE).is_some());
    let key = scalar(key, if cut { HEAD } else { WHOLE });
    (format!("{key}={}", scalar(size, 20)), cut)
}
