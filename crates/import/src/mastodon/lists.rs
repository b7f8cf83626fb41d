//! Likes and bookmarks: lists of addresses of other people's posts.

use serde_json::{Map, Value};

use super::actor::{author_of, host_of};
use crate::json_elements::{Elements, Found};
use crate::members::{put, text};
use crate::tree::open_buffered;
use crate::{Complaint, Draft, Sink, Stop, Tree, mint_key};

/// Longest entry of a list: an address, or a post in full.
const LONGEST: usize = 1024 * 1024;

pub(super) fn read(tree: &mut dyn Tree, index: usize, stream: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
    let path = tree.entries()[index].path.clone();
    let reader = match open_buffered(tree, index) {
        Ok(reader) => reader,
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let mut elements = Elements::new(reader, &["orderedItems"], LONGEST);
    loop {
        let complaint = match elements.next() {
            Ok(None) => return Ok(()),
            Ok(Some(Found::Element { number, json })) => {
                let place = format!("{path} item {number}");
                match serde_json::from_slice(json).ok().and_then(|item: Value| liked(&item)) {
                    Some((key, data)) => {
                        sink.record(Draft { stream: stream.to_owned(), key, data, place })?;
                        continue;
                    }
                    None => Complaint::damaged(place, "Is no address of a post."),
                }
            }
            Ok(Some(Found::TooLong { number })) => {
                Complaint::damaged(format!("{path} item {number}"), "Is too long.")
            }
            Ok(Some(Found::Broken { at })) => {
                let message = "The file breaks off here, or is no JSON from here on.";
                return sink.complain(Complaint::damaged(format!("{path} byte {at}"), message));
            }
            Ok(Some(_)) => continue,
            Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
        };
        sink.complain(complaint)?;
    }
}

fn liked(item: &Value) -> Option<(String, Map<String, Value>)> {
    let address = item.as_str().or_else(|| text(item, "id")).filter(|address| !address.is_empty())?;
    let key = mint_key(address);
    let mut data = Map::new();
    put(&mut data, "id", Some(key.clone()));
    put(&mut data, "url", Some(address));
    put(&mut data, "author", author_of(address));
    put(&mut data, "server", host_of(address));
    Some((key, data))
}
