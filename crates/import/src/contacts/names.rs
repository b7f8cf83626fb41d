//! Values that come in parts: names, addresses, organisations.

use serde_json::{Map, Value};

use crate::content_lines::{Property, split_list};

/// The parts of a value between semicolons, those within a part between commas joined by a space or comma.
fn parts(property: &Property) -> Vec<String> {
    split_list(&property.value, ';').into_iter().map(|part| part.trim().to_owned()).collect()
}

/// Puts the parts of a value under names, the empty ones left out.
fn put_parts(into: &mut Map<String, Value>, property: &Property, names: &[&str]) {
    for (name, part) in names.iter().zip(parts(property)) {
        if !part.is_empty() {
            into.insert((*name).to_owned(), part.into());
        }
    }
}

/// `N`: family, given, further, before and after the name.
pub(super) fn put_name(into: &mut Map<String, Value>, property: &Property) {
    let names = ["family_name", "given_name", "additional_names", "name_prefix", "name_suffix"];
    put_parts(into, property, &names);
}

/// `ADR`, without what says which one it is.
pub(super) fn address(property: &Property) -> Map<String, Value> {
    let mut address = Map::new();
    let names = ["po_box", "extended", "street", "locality", "region", "postal_code", "country"];
    put_parts(&mut address, property, &names);
    if let Some(label) = property.parameter("LABEL") {
        address.insert("formatted".to_owned(), label.replace("\\n", "\n").into());
    }
    address
}

/// `ORG`: the organisation and its parts.
pub(super) fn put_organisation(into: &mut Map<String, Value>, property: &Property) {
    let mut parts = parts(property).into_iter().filter(|part| !part.is_empty());
    if let Some(name) = parts.next() {
        into.insert("organisation".to_owned(), name.into());
    }
    let units: Vec<String> = parts.collect();
    if !units.is_empty() {
        into.insert("department".to_owned(), units.join(", ").into());
    }
}

/// The name a card without `FN` goes by.
pub(super) fn name_of_parts(data: &Map<String, Value>) -> Option<String> {
    let names = ["name_prefix", "given_name", "additional_names", "family_name", "name_suffix"];
    let joined: Vec<&str> = names.iter().filter_map(|name| data.get(*name).and_then(Value::as_str)).collect();
    let joined = joined.join(" ");
    if !joined.is_empty() {
        return Some(joined);
    }
    data.get("organisation").and_then(Value::as_str).map(str::to_owned)
}
