//! Who follows whom, and whom the owner blocked or muted.

use serde_json::Map;

use super::{Archive, script, tell};
use crate::members::{put, text};
use crate::{Complaint, Sink, Stop, Tree, mint_key};

/// Script, member, and the relation it tells.
const KINDS: [(&str, &str, &str); 4] = [
    ("follower", "follower", "follower"),
    ("following", "following", "following"),
    ("block", "blocking", "blocked"),
    ("mute", "muting", "muted"),
];

pub(super) fn read(tree: &mut dyn Tree, archive: &Archive, sink: &mut dyn Sink) -> Result<(), Stop> {
    for (name, member, relation) in KINDS {
        script::read(tree, &archive.files, name, true, sink, &mut |item, sink| {
            let other = item.value.get(member).unwrap_or(&item.value);
            let Some(id) = text(other, "accountId") else {
                return sink.complain(Complaint::damaged(item.place, "`accountId` is missing."));
            };
            let key = mint_key(&format!("{relation}:{id}"));
            let mut data = Map::new();
            put(&mut data, "id", Some(key.as_str()));
            put(&mut data, "relation", Some(relation));
            put(&mut data, "account_id", Some(id));
            put(&mut data, "username", archive.names.find(id));
            put(&mut data, "url", text(other, "userLink"));
            tell(sink, "connections", key, data, item.place)
        })?;
    }
    Ok(())
}
