//! The small files beside the conversations: what was shared by a link, and what was rated.

use std::collections::BTreeMap;

use serde_json::Value;

use super::claim::named;
use crate::json_list::parse;
use crate::members::{Fields, text, time};
use crate::tree::read_whole;
use crate::{Claim, Sink, Stop, Tree, hash_key, mint_key};

/// Most bytes of the list of shared conversations; one link takes about 150.
const LONGEST_SHARES: u64 = 8 << 20;

/// The link ids of conversations that were shared, by conversation. A list that cannot be read names none.
pub(super) fn shares(tree: &mut dyn Tree, claim: &Claim) -> BTreeMap<String, String> {
    let mut shares = BTreeMap::new();
    for index in named(tree, claim, |name| name == "shared_conversations.json") {
        let list = read_whole(tree, index, LONGEST_SHARES).ok().and_then(|bytes| parse(&bytes));
        for share in list.as_ref().and_then(Value::as_array).into_iter().flatten() {
            if let (Some(conversation), Some(id)) = (text(share, "conversation_id"), text(share, "id")) {
                shares.entry(conversation.to_owned()).or_insert_with(|| id.to_owned());
            }
        }
    }
    shares
}

/// One rating of an answer.
pub(super) fn feedback(place: &str, value: &Value, sink: &mut dyn Sink) -> Result<(), Stop> {
    let conversation = text(value, "conversation_id");
    let created_at = time(value, "create_time");
    let key = match text(value, "id") {
        Some(id) => mint_key(id),
        None => hash_key(&[
            "feedback",
            conversation.unwrap_or_default(),
            created_at.as_deref().unwrap_or_default(),
        ]),
    };
    let mut fields = Fields::default();
    fields.put("id", key.as_str());
    fields.put_some("conversation_id", conversation.map(mint_key));
    fields.put_some("rating", text(value, "rating"));
    fields.put_some("text", text(value, "content").filter(|content| *content != "{}"));
    fields.put_some("created_at", created_at);
    sink.record(fields.into_draft("feedback", &key, place))
}
