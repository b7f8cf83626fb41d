//! One card as a record.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::dates::{day, moment};
use super::names::{address, name_of_parts, put_name, put_organisation};
use crate::content_lines::{Component, Property, split_list, unescape};

/// Messengers that had a property of their own before there was one for all.
const MESSENGERS: [(&str, &str); 11] = [
    ("X-AIM", "aim"),
    ("X-GADUGADU", "gadugadu"),
    ("X-GOOGLE-TALK", "google talk"),
    ("X-GROUPWISE", "groupwise"),
    ("X-ICQ", "icq"),
    ("X-JABBER", "jabber"),
    ("X-MSN", "msn"),
    ("X-QQ", "qq"),
    ("X-SKYPE", "skype"),
    ("X-SKYPE-USERNAME", "skype"),
    ("X-YAHOO", "yahoo"),
];
/// Most values of one kind on one card.
const MOST_LISTED: usize = 5000;

/// The record of a card; only its id when it says nothing.
pub(super) fn describe(card: &Component, key: &str) -> Map<String, Value> {
    let labels = labels(card);
    let mut data = Map::new();
    data.insert("id".to_owned(), key.into());
    for property in &card.properties {
        take(&mut data, property, &labels);
    }
    if !data.contains_key("full_name")
        && let Some(name) = name_of_parts(&data)
    {
        data.insert("full_name".to_owned(), name.into());
    }
    let agents: Vec<Value> = card.children.iter().filter_map(|agent| agent.find("FN")).map(agent).collect();
    for agent in agents {
        push(&mut data, "related", agent);
    }
    flatten(&mut data);
    if !data.contains_key("full_name")
        && let Some(name) = data.get("email").or(data.get("phone")).cloned()
    {
        data.insert("full_name".to_owned(), name);
    }
    data
}

/// The preferred address and number on their own, and lists as text: filters and search read single values.
fn flatten(data: &mut Map<String, Value>) {
    for (list, one) in [("emails", "email"), ("phones", "phone")] {
        let Some(Value::Array(entries)) = data.get(list) else { continue };
        let preferred = entries.iter().find(|entry| entry.get("preferred").is_some()).or(entries.first());
        if let Some(value) = preferred.and_then(|entry| entry.get("value")).cloned() {
            data.insert(one.to_owned(), value);
        }
    }
    let lines = |data: &Map<String, Value>, lists: &[&str], separator: &str| {
        let entries = lists.iter().filter_map(|list| data.get(*list).and_then(Value::as_array)).flatten();
        entries.map(words).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(separator)
    };
    let reach = lines(data, &["emails", "phones", "im", "urls", "social_profiles"], "\n");
    let places = lines(data, &["addresses", "address_labels"], "\n");
    let labels = lines(data, &["nicknames", "categories", "related"], ", ");
    for (name, text) in [("reach_text", reach), ("places_text", places), ("labels_text", labels)] {
        if !text.is_empty() {
            data.insert(name.to_owned(), text.into());
        }
    }
}

/// What an entry of a list says, without what kind it is of.
fn words(entry: &Value) -> String {
    const KINDS: [&str; 5] = ["types", "preferred", "service", "url", "kind"];
    match entry {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let said = members.iter().filter(|(name, _)| !KINDS.contains(&name.as_str()));
            said.filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

fn agent(name: &Property) -> Value {
    json!({"name": unescape(&name.value), "kind": "agent"})
}

/// What Apple calls the properties of a group: `item1.X-ABLabel`.
fn labels(card: &Component) -> HashMap<&str, String> {
    let labels = card.all("X-ABLABEL").filter_map(|property| {
        let name = unescape(property.value.trim());
        let name = name.strip_prefix("_$!<").and_then(|name| name.strip_suffix(">!$_")).unwrap_or(&name);
        Some((property.group.as_deref()?, name.to_owned()))
    });
    labels.collect()
}

fn take(data: &mut Map<String, Value>, property: &Property, labels: &HashMap<&str, String>) {
    let text = unescape(&property.value).trim().to_owned();
    if text.is_empty() || text.chars().all(|letter| letter == ';') {
        return;
    }
    let once = |data: &mut Map<String, Value>, name: &str, value: Value| {
        data.entry(name).or_insert(value);
    };
    let with_kind = |members: Map<String, Value>| with_kind(members, property, labels);
    match property.name.as_str() {
        "UID" => once(data, "uid", text.into()),
        "FN" => once(data, "full_name", text.into()),
        "N" => put_name(data, property),
        "ORG" => put_organisation(data, property),
        "TITLE" => once(data, "title", text.into()),
        "ROLE" => once(data, "role", text.into()),
        "NOTE" => append(data, "note", &text),
        "KIND" | "X-ADDRESSBOOKSERVER-KIND" => once(data, "kind", text.to_ascii_lowercase().into()),
        "GENDER" => once(data, "gender", text.into()),
        "TZ" => once(data, "time_zone", text.into()),
        "REV" => {
            if let Some(at) = moment(&property.value) {
                once(data, "revised_at", at.to_string().into());
            }
        }
        "BDAY" => put_day(data, "birthday", property, &text),
        "ANNIVERSARY" | "X-ANNIVERSARY" => put_day(data, "anniversary", property, &text),
        "GEO" => put_place(data, &text),
        "NICKNAME" => push_list(data, "nicknames", property),
        "CATEGORIES" => push_list(data, "categories", property),
        "LANG" => push(data, "languages", text.into()),
        "EMAIL" => push(data, "emails", with_kind(value_of(text))),
        "TEL" => push(data, "phones", with_kind(value_of(text.trim_start_matches("tel:").to_owned()))),
        "URL" => push(data, "urls", with_kind(value_of(text))),
        "ADR" => push(data, "addresses", with_kind(address(property))),
        "LABEL" => push(data, "address_labels", with_kind(value_of(text))),
        "IMPP" => push(data, "im", with_kind(messenger(property, &text))),
        "X-SOCIALPROFILE" | "SOCIALPROFILE" => {
            push(data, "social_profiles", with_kind(profile(property, &text)));
        }
        "X-ABRELATEDNAMES" | "RELATED" | "X-SPOUSE" | "X-MANAGER" | "X-ASSISTANT" => {
            push(data, "related", related(property, &text, labels));
        }
        "X-ABDATE" => push(data, "dates", with_kind(value_of(text))),
        "MEMBER" | "X-ADDRESSBOOKSERVER-MEMBER" => push(data, "members", text.into()),
        // Read elsewhere, or about the file and not the person.
        "PHOTO"
        | "LOGO"
        | "SOUND"
        | "X-ABLABEL"
        | "X-ABADR"
        | "VERSION"
        | "PRODID"
        | "X-ABSHOWAS"
        | "AGENT"
        | "X-IMAGEHASH"
        | "X-IMAGETYPE"
        | "X-SHARED-PHOTO-DISPLAY-PREF"
        | "CLIENTPIDMAP"
        | "X-ABUID" => {}
        other => match MESSENGERS.iter().find(|(name, _)| *name == other) {
            Some((_, service)) => {
                let mut members = value_of(text);
                members.insert("service".to_owned(), (*service).into());
                push(data, "im", with_kind(members));
            }
            None => extra(data, other, text),
        },
    }
}

fn push(data: &mut Map<String, Value>, name: &str, value: Value) {
    let list = data.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list
        && list.len() < MOST_LISTED
    {
        list.push(value);
    }
}

fn push_list(data: &mut Map<String, Value>, name: &str, property: &Property) {
    for one in split_list(&property.value, ',') {
        if !one.trim().is_empty() {
            push(data, name, one.trim().into());
        }
    }
}

fn append(data: &mut Map<String, Value>, name: &str, text: &str) {
    match data.get_mut(name) {
        Some(Value::String(known)) => known.extend(["\n\n", text]),
        _ => drop(data.insert(name.to_owned(), text.into())),
    }
}

fn extra(data: &mut Map<String, Value>, name: &str, text: String) {
    let extra = data.entry("extra").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(extra) = extra else { return };
    match extra.get_mut(name) {
        None => drop(extra.insert(name.to_owned(), text.into())),
        Some(Value::Array(values)) => values.push(text.into()),
        Some(one) => *one = Value::Array(vec![one.take(), text.into()]),
    }
}

fn value_of(text: String) -> Map<String, Value> {
    Map::from_iter([("value".to_owned(), text.into())])
}

/// Adds which one it is: its types, its own label, whether it is the preferred one.
fn with_kind(mut members: Map<String, Value>, property: &Property, labels: &HashMap<&str, String>) -> Value {
    let mut types = property.words("TYPE");
    let preferred = types.iter().any(|word| word == "pref") || property.parameter("PREF") == Some("1");
    types.retain(|word| word != "pref" && word != "internet");
    if !types.is_empty() {
        members.insert("types".to_owned(), types.into());
    }
    if let Some(label) = property.group.as_deref().and_then(|group| labels.get(group)) {
        members.insert("label".to_owned(), label.as_str().into());
    }
    if preferred {
        members.insert("preferred".to_owned(), true.into());
    }
    Value::Object(members)
}

fn put_day(data: &mut Map<String, Value>, name: &str, property: &Property, text: &str) {
    match day(property) {
        Some(day) => {
            data.insert(format!("{name}_day"), day.month_day.into());
            if let Some(date) = day.date {
                data.insert(name.to_owned(), date.into());
            }
        }
        // In words, such as `circa 1800`.
        None => drop(data.insert(format!("{name}_text"), text.into())),
    }
}

fn put_place(data: &mut Map<String, Value>, text: &str) {
    let text = text.trim_start_matches("geo:");
    let Some((latitude, longitude)) = text.split_once([';', ',']) else { return };
    let number =
        |text: &str, most: f64| text.trim().parse::<f64>().ok().filter(|number| number.abs() <= most);
    if let (Some(latitude), Some(longitude)) = (number(latitude, 90.0), number(longitude, 180.0)) {
        data.insert("latitude".to_owned(), latitude.into());
        data.insert("longitude".to_owned(), longitude.into());
    }
}

/// `IMPP;X-SERVICE-TYPE=Jabber:xmpp:ann@example.org`.
fn messenger(property: &Property, text: &str) -> Map<String, Value> {
    let (scheme, handle) = text.split_once(':').unwrap_or(("", text));
    let mut members = value_of(handle.to_owned());
    let service = property.parameter("X-SERVICE-TYPE").unwrap_or(scheme);
    if !service.is_empty() {
        members.insert("service".to_owned(), service.to_ascii_lowercase().into());
    }
    members
}

fn profile(property: &Property, text: &str) -> Map<String, Value> {
    let user = property.parameter("X-USER").or(property.parameter("USERNAME"));
    let mut members = value_of(user.unwrap_or(text).to_owned());
    members.insert("url".to_owned(), text.into());
    if let Some(service) = property.parameter("SERVICE-TYPE") {
        members.insert("service".to_owned(), service.to_ascii_lowercase().into());
    }
    members
}

fn related(property: &Property, text: &str, labels: &HashMap<&str, String>) -> Value {
    let label = property.group.as_deref().and_then(|group| labels.get(group)).cloned();
    let own = property.name.strip_prefix("X-").filter(|name| *name != "ABRELATEDNAMES");
    let kind = label.or_else(|| property.words("TYPE").into_iter().next());
    let kind = kind.or_else(|| own.map(str::to_ascii_lowercase));
    json!({"name": text, "kind": kind})
}
