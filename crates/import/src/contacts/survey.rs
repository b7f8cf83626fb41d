//! Which card is whose, and which of several copies counts.
//!
//! Most cards carry a `UID`. Google's do not: there a card is told by its name and its first address or number, and
//! two that share these but differ otherwise are told by all they say. Kept are hashes only, some fifty bytes a card.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::dates::moment;
use crate::content_lines::{Component, unescape};
use crate::{hash_key, mint_key};

/// Most cards that are told apart; beyond, copies are no longer recognised.
const MOST: usize = 2_000_000;

/// What the first look found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// By key: the revision of the copy that counts, and its number.
    named: HashMap<String, (Option<Timestamp>, u64)>,
    /// By what identifies a card without a name of its own: all it says.
    nameless: HashMap<String, String>,
    given: HashSet<String>,
    count: u64,
}

impl Survey {
    /// Takes a card of the first pass.
    pub(super) fn look(&mut self, card: &Component) {
        self.count += 1;
        if self.named.len() + self.nameless.len() >= MOST {
            return;
        }
        match uid(card) {
            Some(key) => {
                let revised = card.find("REV").and_then(|property| moment(&property.value));
                let known = self.named.entry(key).or_insert((revised, self.count));
                if revised > known.0 {
                    *known = (revised, self.count);
                }
            }
            None => drop(self.nameless.entry(identity(card)).or_insert_with(|| content(card))),
        }
    }

    /// The second pass begins.
    pub(super) fn rewind(&mut self) {
        self.count = 0;
    }

    /// The key of a card of the second pass; `None` when another copy counts.
    pub(super) fn key(&mut self, card: &Component) -> Option<String> {
        self.count += 1;
        if let Some(key) = uid(card) {
            let counts = self.named.get(&key).is_none_or(|(_, number)| *number == self.count);
            return counts.then_some(key);
        }
        let (identity, content) = (identity(card), content(card));
        let first = self.nameless.get(&identity).is_none_or(|known| *known == content);
        let key = if first { identity } else { hash_key(&[&identity, &content]) };
        self.given.insert(key.clone()).then_some(key)
    }
}

fn uid(card: &Component) -> Option<String> {
    let uid = card.find("UID").or(card.find("X-ABUID")).map(|property| property.value.trim());
    let uid = uid.map(|uid| uid.strip_prefix("urn:uuid:").unwrap_or(uid));
    uid.filter(|uid| !uid.is_empty()).map(mint_key)
}

fn identity(card: &Component) -> String {
    let said =
        |name: &str| card.find(name).map(|property| unescape(property.value.trim())).unwrap_or_default();
    let first = ["EMAIL", "TEL"].iter().map(|name| said(name)).find(|value| !value.is_empty());
    hash_key(&["vcard", &said("FN"), &said("N"), &first.unwrap_or_default()])
}

/// Everything a card says, whatever the order; its revision aside.
fn content(card: &Component) -> String {
    let mut lines: Vec<String> = card
        .properties
        .iter()
        .filter(|property| !matches!(property.name.as_str(), "REV" | "PRODID" | "VERSION"))
        .map(|property| {
            format!("{:?}{}{:?}{}", property.group, property.name, property.parameters, property.value)
        })
        .collect();
    lines.sort_unstable();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    hash_key(&lines)
}
