//! Posts of others that the owner liked.

use serde_json::Map;

use super::files::Files;
use super::{script, stamps, tell};
use crate::members::{put, text};
use crate::post_text::decode_entities;
use crate::{Complaint, Sink, Stop, Tree, mint_key};

pub(super) fn read(tree: &mut dyn Tree, files: &Files, sink: &mut dyn Sink) -> Result<(), Stop> {
    script::read(tree, files, "like", true, sink, &mut |item, sink| {
        let like = item.value.get("like").unwrap_or(&item.value);
        let Some(id) = text(like, "tweetId") else {
            return sink.complain(Complaint::damaged(item.place, "`tweetId` is missing."));
        };
        let key = mint_key(id);
        let mut data = Map::new();
        put(&mut data, "id", Some(key.as_str()));
        put(&mut data, "text", text(like, "fullText").map(decode_entities).as_deref());
        put(&mut data, "url", text(like, "expandedUrl"));
        put(&mut data, "posted_at", stamps::of_number(id));
        tell(sink, "likes", key, data, item.place)
    })
}
