//! The address book that Telegram has of the account.

use std::collections::HashSet;

use serde_json::Value;

use crate::chat::{Fields, LONGEST_ELEMENT, from_unix, integer, text};
use crate::json_elements::{Elements, Found};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree, hash_key, mint_key};

/// Most contacts that are remembered; no address book is larger.
const MOST: usize = 100_000;

pub(super) fn read(tree: &mut dyn Tree, index: usize, path: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
    // What cannot be opened is told by the walk of the chats.
    let Ok(reader) = open_buffered(tree, index) else {
        return Ok(());
    };
    let mut elements = Elements::new(reader, &["contacts", "list"], LONGEST_ELEMENT);
    let mut inside = false;
    let mut known = HashSet::new();
    while let Ok(Some(found)) = elements.next() {
        match found {
            Found::Enter { depth: 1 } => inside = true,
            Found::Element { number, json } => {
                let place = format!("{path} contact {number}");
                match serde_json::from_slice::<Value>(json).ok().as_ref().and_then(record) {
                    // Someone with two entries under one number is one contact.
                    Some((key, _)) if known.contains(&key) => {}
                    Some((key, fields)) => {
                        if known.len() < MOST {
                            known.insert(key.clone());
                        }
                        sink.record(fields.draft("contacts", &key, place))?;
                    }
                    None => {
                        sink.complain(Complaint::damaged(place, "It names neither a person nor a number."))?;
                    }
                }
            }
            // The list is over, and the chats behind it are long.
            Found::Beside { depth: 0, .. } if inside => break,
            _ => {}
        }
    }
    Ok(())
}

fn record(contact: &Value) -> Option<(String, Fields)> {
    let names = [text(contact, "first_name"), text(contact, "last_name")];
    let name = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let phone = text(contact, "phone_number");
    // Zero stands for people who have no account.
    let user = integer(contact, "user_id").filter(|id| *id > 0);
    let key = match (user, phone) {
        (Some(id), _) => mint_key(&format!("user{id}")),
        (None, Some(phone)) => hash_key(&["telegram contact", phone]),
        (None, None) if !name.is_empty() => hash_key(&["telegram contact", "", &name]),
        (None, None) => return None,
    };
    let mut fields = Fields::new(&key);
    fields.maybe("name", Some(name).filter(|name| !name.is_empty()));
    fields.maybe("first_name", names[0]);
    fields.maybe("last_name", names[1]);
    fields.maybe("phone_number", phone);
    fields.maybe("telegram_id", user);
    fields.maybe("added_at", integer(contact, "date_unixtime").and_then(from_unix));
    Some((key, fields))
}
