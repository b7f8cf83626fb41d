//! Names of people whom the archive mostly calls by number.

use std::collections::HashMap;

/// Most names that are remembered: about 20 MB.
const MOST: usize = 200_000;

/// What mentions teach: which number is which name. The first name met stays, so that reading is repeatable.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_id: HashMap<u64, Box<str>>,
}

impl Names {
    pub(super) fn learn(&mut self, id: &str, username: &str) {
        let Ok(id) = id.parse() else { return };
        if username.len() <= 64 && (self.by_id.len() < MOST || self.by_id.contains_key(&id)) {
            self.by_id.entry(id).or_insert_with(|| username.into());
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<String> {
        Some(format!("@{}", self.by_id.get(&id.parse().ok()?)?))
    }
}
