//! What the rows of a page cost.
//!
//! Rows of one page repeat each other: the same names in the same order, the same connection, the same label, ids
//! that begin alike. What the row before had as well is not measured again.

use serde_json::{Map, Value};

use super::{Scale, estimate, estimate_json, estimate_written, write_json};
use crate::plain::{Member, members_of, same};

/// What stands between a member and the name of the next.
const NEXT: &[u8] = b",\"";
/// What the brackets around a row and the comma after it cost.
const AROUND: usize = 3;

/// About how many tokens each row costs as minified JSON in a list, rather more than fewer.
pub(crate) fn estimate_rows(rows: &[Value]) -> Vec<usize> {
    let empty = Map::new();
    let mut before: (&Map<String, Value>, Vec<usize>) = (&empty, Vec::new());
    let mut costs = Vec::with_capacity(rows.len());
    let mut writing = Writing::default();
    for row in rows {
        let Value::Object(members) = row else {
            costs.push(estimate_json(row) + 1);
            continue;
        };
        let mut earlier = before.0.iter().zip(&before.1);
        let cost = |(name, value): (&String, &Value)| match earlier.next() {
            Some(((known, same), cost)) if known == name && same == value => *cost,
            _ => writing.member(name, value),
        };
        let each: Vec<usize> = members.iter().map(cost).collect();
        costs.push(AROUND + each.iter().sum::<usize>());
        before = (members, each);
    }
    costs
}

/// The same for rows that are written already, each an object.
pub(crate) fn estimate_written_rows(rows: &[String]) -> Vec<usize> {
    let mut costs = RawRows::new(Scale::Close);
    let mut before = Vec::new();
    let cost = |row| {
        let members = members_of(row)?;
        let cost = costs.cost(row, &members, &before);
        before = members;
        Some(cost)
    };
    // What is not plain is measured as a tree.
    rows.iter().map(String::as_str).map(cost).collect::<Option<Vec<_>>>().unwrap_or_else(|| {
        let trees = rows.iter().map(|row| serde_json::from_str(row).unwrap_or_default());
        estimate_rows(&trees.collect::<Vec<Value>>())
    })
}

/// The same for rows as they stand in minified JSON, one after the other.
#[derive(Debug, Default)]
pub(crate) struct RawRows {
    /// What each member of the row before costs.
    costs: Vec<usize>,
    writing: Writing,
    scale: Scale,
}

impl RawRows {
    pub(crate) fn new(scale: Scale) -> Self {
        Self { scale, ..Self::default() }
    }

    /// About how many tokens the next row of `json` costs, which stands after the row `before`.
    pub(crate) fn cost(&mut self, json: &str, row: &[Member<'_>], before: &[Member<'_>]) -> usize {
        // What all rows share is a large part of each, so that the first one is always looked at closely.
        let by_bytes = self.scale == Scale::Rough && !self.costs.is_empty();
        let known = self.costs.len();
        self.costs.resize(row.len(), 0);
        for (place, member) in row.iter().enumerate() {
            let repeats = || {
                let other = before.get(place).filter(|_| place < known);
                other.is_some_and(|other| other.name == member.name && same(other.value, member.value))
            };
            if member.repeats || repeats() {
                continue;
            }
            self.costs[place] = if by_bytes {
                member.end - member.start + NEXT.len()
            } else {
                self.writing.raw_member(json, member)
            };
        }
        AROUND + self.costs.iter().sum::<usize>()
    }
}

/// What is written to be measured.
#[derive(Debug, Default)]
struct Writing {
    written: Vec<u8>,
    ids: IdCosts,
}

impl Writing {
    /// One member, from after its first quote to the first quote of the next.
    fn member(&mut self, name: &str, value: &Value) -> usize {
        self.written.clear();
        write_json(&mut self.written, &name);
        self.written.push(b':');
        let id = value.as_str().filter(|text| is_id(text));
        if let Some(id) = id {
            self.written.extend_from_slice(b"\"\",\"");
            return estimate_written(&self.written[1..]) + self.ids.cost(id);
        }
        write_json(&mut self.written, value);
        self.written.extend_from_slice(b",\"");
        estimate_written(&self.written[1..])
    }

    /// The same for a member that is written already.
    fn raw_member(&mut self, json: &str, member: &Member<'_>) -> usize {
        if let Some(id) = member.text().filter(|text| is_id(text)) {
            self.written.clear();
            self.written.extend_from_slice(member.name.as_bytes());
            self.written.extend_from_slice(b"\":\"\",\"");
            return estimate_written(&self.written) + self.ids.cost(id);
        }
        let (bytes, after) = (json.as_bytes(), member.end + NEXT.len());
        if bytes.get(member.end..after) == Some(NEXT) {
            return estimate_written(&bytes[member.start..after]);
        }
        self.written.clear();
        self.written.extend_from_slice(&bytes[member.start..member.end]);
        self.written.extend_from_slice(NEXT);
        estimate_written(&self.written)
    }
}

/// Whether a text is made like an id and needs no escapes.
fn is_id(text: &str) -> bool {
    text.contains('/') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/@+~".contains(&byte))
}

/// What ids cost that follow each other and begin alike, as `connection/stream:key` does.
#[derive(Debug, Default)]
pub(crate) struct IdCosts {
    beginning: String,
    cost: usize,
    /// Of what follows the beginning.
    scale: Scale,
}

impl IdCosts {
    pub(crate) fn new(scale: Scale) -> Self {
        Self { scale, ..Self::default() }
    }

    /// About how many tokens an id costs.
    pub(crate) fn cost(&mut self, id: &str) -> usize {
        let key =
            id.strip_prefix(self.beginning.as_str()).filter(|key| key.starts_with(':') && !key.contains('/'));
        if let Some(key) = key.filter(|_| !self.beginning.is_empty()) {
            return self.cost + self.scale.cost(key);
        }
        // The key starts with a mark, which ends whatever was before it.
        let end = id.rfind('/').and_then(|slash| Some(slash + id[slash..].find(':')?)).unwrap_or(0);
        let (beginning, key) = id.split_at(end);
        if self.beginning != beginning {
            beginning.clone_into(&mut self.beginning);
            self.cost = estimate(beginning);
        }
        self.cost + self.scale.cost(key)
    }
}
