//! One conversation: its own record, its messages, and the files they show.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::assets::{Asset, Assets};
use super::content::Content;
use super::message;
use super::message_tree::{MessageTree, Placed, arrange};
use crate::members::{Fields, flag, text, time};
use crate::{Complaint, Sink, Stop, hash_key, mint_key};

/// The conversations of one export.
#[derive(Debug)]
pub(super) struct Conversations {
    assets: Assets,
    shares: BTreeMap<String, String>,
    /// A short hash of each conversation by its key, to tell a repetition from a contradiction.
    seen: HashMap<String, String>,
}

impl Conversations {
    pub(super) fn new(assets: Assets, shares: BTreeMap<String, String>) -> Self {
        Self { assets, shares, seen: HashMap::new() }
    }

    pub(super) fn into_assets(self) -> Assets {
        self.assets
    }

    pub(super) fn take(&mut self, place: &str, value: &Value, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(mapping) = value.get("mapping").and_then(Value::as_object) else {
            return sink.complain(Complaint::damaged(place, "`mapping` is missing."));
        };
        let named = text(value, "conversation_id").or_else(|| text(value, "id"));
        // Neither the beginning nor the first node changes when a conversation goes on.
        let unnamed = || {
            let begun = time(value, "create_time").unwrap_or_default();
            hash_key(&["conversation", &begun, mapping.keys().next().map_or("", String::as_str)])
        };
        let key = named.map_or_else(unnamed, mint_key);
        let digest = hash_key(&[&value.to_string()]);
        match self.seen.insert(key.clone(), digest.clone()) {
            None => {}
            Some(earlier) if earlier == digest => return Ok(()),
            Some(earlier) => {
                self.seen.insert(key, earlier);
                let message = "Its `conversation_id` came before with other contents; the first was kept.";
                return sink.complain(Complaint::damaged(place, message));
            }
        }
        let tree = arrange(mapping, text(value, "current_node"), message::says_something);
        if tree.had_cycle {
            let message = "`mapping` leads back to itself; the link was cut and every message kept.";
            sink.complain(Complaint::damaged(place, message))?;
        }
        let share = named.and_then(|id| self.shares.get(id));
        let fields = fields(&key, value, &tree, share);
        sink.record(fields.into_draft("conversations", &key, place))?;
        tree.placed.iter().try_for_each(|placed| self.message(&key, placed, place, sink))
    }

    fn message(
        &mut self,
        conversation: &str,
        placed: &Placed<'_>,
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut content = Content::read(&placed.message["content"]);
        let place = format!("{place} message {}", placed.id);
        if content.too_deep {
            let message = "`content` is nested too deep; only its text was kept.";
            sink.complain(Complaint::damaged(&place, message))?;
        }
        let assets = Asset::of_message(placed.message, &content.shown);
        let (mut fields, created_at) = message::fields(conversation, placed, &mut content);
        if !assets.is_empty() {
            fields.put("attachment_count", assets.len());
        }
        let key = message::key(conversation, placed.id);
        sink.record(fields.into_draft("messages", &key, &place))?;
        for asset in assets {
            self.assets.take(asset, (conversation, &key), created_at.as_deref(), &place, sink)?;
        }
        Ok(())
    }
}

fn fields(key: &str, value: &Value, tree: &MessageTree<'_>, share: Option<&String>) -> Fields {
    let created_at = time(value, "create_time");
    let current = tree.placed.iter().rev().find(|placed| placed.on_current_path == Some(true));
    let mut fields = Fields::default();
    fields.put("id", key);
    fields.put_some("title", text(value, "title"));
    let last = || tree.placed.iter().filter_map(|placed| time(placed.message, "create_time")).max();
    fields.put_some("updated_at", time(value, "update_time").or_else(last).or_else(|| created_at.clone()));
    fields.put_some("created_at", created_at);
    fields.put_some("model", text(value, "default_model_slug"));
    fields.put_some("gizmo_id", text(value, "gizmo_id"));
    fields.put_some("gizmo_type", text(value, "gizmo_type"));
    fields.put_some("template_id", text(value, "conversation_template_id"));
    fields.put_some("origin", text(value, "conversation_origin"));
    fields.put_some("voice", text(value, "voice"));
    fields.put_some("is_archived", flag(value, "is_archived"));
    fields.put_some("is_starred", flag(value, "is_starred"));
    fields.put_some("is_do_not_remember", flag(value, "is_do_not_remember"));
    fields.put_some("share_id", share.map(String::as_str));
    fields.put_some("current_message_id", current.map(|placed| message::key(key, placed.id)));
    fields.put("message_count", tree.placed.len());
    fields
}
