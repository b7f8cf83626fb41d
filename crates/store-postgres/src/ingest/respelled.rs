//! New data, written as the old was wherever it says the same.

use serde::Serializer as _;
use serde_json::{Map, Value};

use crate::fault::{Fault, Outcome};

/// A reader who sees only members that did not change must not notice, by their order or spelling, that another
/// one did.
pub(super) fn respelled(old: &Map<String, Value>, new: &Map<String, Value>) -> Outcome<String> {
    let kept = old.iter().filter_map(|(name, value)| {
        new.get(name).map(|given| (name, if given == value { value } else { given }))
    });
    let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
    let mut text = Vec::new();
    serde_json::Serializer::new(&mut text).collect_map(kept.chain(added))?;
    String::from_utf8(text).map_err(|_| Fault::damaged("a record's data is not text"))
}
