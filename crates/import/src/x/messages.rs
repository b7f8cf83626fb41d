//! Direct messages and the conversations they belong to.
//!
//! A conversation may hold a hundred thousand messages, so they are read one by one, and only a summary of the
//! conversation is kept until its end.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::media::{self, Waiting};
use super::{Archive, script, stamps, tell};
use crate::batch::Batch;
use crate::json_elements::Found;
use crate::members::{is_shallow, list, put, text};
use crate::post_text::decode_entities;
use crate::{Complaint, Sink, Stop, Tree, hash_key, mint_key};

/// Most people of a conversation that are remembered.
const MOST_PEOPLE: usize = 1000;

pub(super) fn read(tree: &mut dyn Tree, archive: &mut Archive, sink: &mut dyn Sink) -> Result<(), Stop> {
    for (name, kind) in [("direct-messages", "direct"), ("direct-messages-group", "group")] {
        for index in archive.files.scripts(tree, name) {
            let mut next = Some(Batch::first());
            let mut first = true;
            while let Some(batch) = next.take() {
                let mut reading = Reading { archive, kind, tell: first, batch, talk: None };
                reading.script(tree, index, sink)?;
                first = false;
                let (waiting, more) = reading.batch.finish();
                next = more;
                for one in waiting {
                    media::attach(tree, &mut archive.files, one, sink)?;
                }
            }
        }
    }
    Ok(())
}

struct Reading<'a> {
    archive: &'a Archive,
    kind: &'static str,
    /// Whether messages and complaints are told; a second reading looks for media only.
    tell: bool,
    batch: Batch<Waiting>,
    talk: Option<Talk>,
}

/// What is known of the conversation that is being read.
#[derive(Debug, Default)]
struct Talk {
    id: Option<String>,
    people: BTreeSet<String>,
    /// The name with the time it was given.
    name: Option<(String, String)>,
    count: u64,
    first: Option<String>,
    last: Option<String>,
    place: String,
}

impl Reading<'_> {
    fn script(&mut self, tree: &mut dyn Tree, index: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        let path = tree.entries()[index].path.clone();
        let walked =
            script::walk(tree, index, &["*", "dmConversation", "messages"], &mut |found| match found {
                Found::Enter { depth: 1 } => self.finish(sink),
                Found::Enter { .. } => {
                    self.talk.get_or_insert_default();
                    Ok(())
                }
                Found::Beside { name, json, .. } => {
                    let talk = self.talk.get_or_insert_default();
                    match (name.as_str(), serde_json::from_slice(json)) {
                        ("conversationId", Ok(Value::String(id))) => talk.id = Some(id),
                        ("name", Ok(Value::String(name))) => talk.name = Some((String::new(), name)),
                        _ => {}
                    }
                    Ok(())
                }
                Found::Element { number, json } => {
                    let place = format!("{path} message {number}");
                    match serde_json::from_slice(json) {
                        Ok(event) => self.event(&event, &place, sink),
                        Err(_) => self.complain(sink, Complaint::damaged(place, "Is no JSON.")),
                    }
                }
                other => match script::complaint_of(&path, &other) {
                    Some(complaint) => self.complain(sink, complaint),
                    None => Ok(()),
                },
            })?;
        self.finish(sink)?;
        walked.or_else(|error| self.complain(sink, Complaint::unreadable(&path, &error)))
    }

    /// One event of a conversation: an object with one member that says what happened.
    fn event(&mut self, event: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some((what, event)) = event.as_object().and_then(|event| event.iter().next()) else {
            return self.complain(sink, Complaint::damaged(place, "Is no event."));
        };
        let Some(created) = text(event, "createdAt").and_then(stamps::parse) else {
            return self.complain(sink, Complaint::damaged(place, "`createdAt` is missing or no time."));
        };
        let kind = match what.as_str() {
            "messageCreate" | "welcomeMessageCreate" => "message",
            "joinConversation" => "joined",
            "participantsJoin" => "people_joined",
            "participantsLeave" => "people_left",
            "conversationNameUpdate" => "renamed",
            _ => "event",
        };
        let (sender, recipient) =
            (text(event, "senderId").or(text(event, "initiatingUserId")), text(event, "recipientId"));
        let others: Vec<&str> = ["userIds", "participantsSnapshot"]
            .into_iter()
            .flat_map(|member| list(event, member).iter().filter_map(Value::as_str))
            .collect();
        let talk = self.talk.get_or_insert_default();
        talk.note(&created, place, [sender, recipient].into_iter().flatten().chain(others.iter().copied()));
        if kind == "renamed" {
            talk.rename(&created, text(event, "name").unwrap_or(""));
        }
        let conversation = talk.id.clone().or_else(|| pair(sender?, recipient?));
        if talk.id.is_none() {
            talk.id.clone_from(&conversation);
        }
        let key = match text(event, "id") {
            Some(id) => mint_key(id),
            None => hash_key(&[
                conversation.as_deref().unwrap_or(""),
                what,
                &created,
                sender.unwrap_or(""),
                &others.join(","),
            ]),
        };
        for url in list(event, "mediaUrls").iter().filter_map(Value::as_str) {
            let waiting = Waiting::of_message(url, &key, Some(&created), place);
            self.batch.offer(waiting.weight(), || waiting);
        }
        if !self.tell {
            return Ok(());
        }
        let mut data = Map::new();
        put(&mut data, "id", Some(key.as_str()));
        put(&mut data, "conversation_id", conversation.as_deref().map(mint_key));
        put(&mut data, "kind", Some(kind));
        put(&mut data, "sent_at", Some(created));
        self.people(&mut data, sender, recipient);
        put(&mut data, "text", text(event, "text").or(text(event, "name")).map(decode_entities).as_deref());
        put(&mut data, "people", Some(others.iter().map(|id| self.called(id)).collect::<Vec<_>>()));
        put(&mut data, "reactions", Some(self.reactions(event)));
        links(event, &mut data);
        put(&mut data, "edited", (!list(event, "editHistory").is_empty()).then_some(true));
        let before = event.get("editHistory").filter(|before| before.is_array() && is_shallow(before));
        put(&mut data, "edit_history", before.cloned());
        put(&mut data, "media_count", Some(list(event, "mediaUrls").len()));
        tell(sink, "messages", key, data, place)
    }

    fn people(&self, data: &mut Map<String, Value>, sender: Option<&str>, recipient: Option<&str>) {
        let me = self.archive.me.id.as_deref();
        put(data, "sender_id", sender);
        put(data, "sender", sender.map(|id| self.called(id)));
        put(data, "recipient_id", recipient);
        put(data, "recipient", recipient.map(|id| self.called(id)));
        put(data, "from_me", sender.zip(me).map(|(sender, me)| sender == me));
    }

    /// The name behind a number, or the number.
    fn called(&self, id: &str) -> String {
        let me = &self.archive.me;
        match &me.username {
            Some(name) if me.id.as_deref() == Some(id) => format!("@{name}"),
            _ => self.archive.names.find(id).unwrap_or_else(|| id.to_owned()),
        }
    }

    fn reactions(&self, event: &Value) -> Vec<Value> {
        let one = |reaction: &Value| {
            let sender = text(reaction, "senderId")?;
            let at = text(reaction, "createdAt").and_then(stamps::parse);
            Some(json!({"reaction": text(reaction, "reactionKey"), "sender_id": sender,
                        "sender": self.called(sender), "created_at": at}))
        };
        list(event, "reactions").iter().filter_map(one).collect()
    }

    /// Tells of the conversation that ends here.
    fn finish(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(talk) = self.talk.take() else { return Ok(()) };
        let (true, Some(id)) = (self.tell, talk.id) else { return Ok(()) };
        let key = mint_key(&id);
        let mut data = Map::new();
        put(&mut data, "id", Some(key.as_str()));
        put(&mut data, "kind", Some(self.kind));
        put(&mut data, "name", talk.name.map(|(_, name)| name));
        let others = talk.people.iter().filter(|id| self.archive.me.id.as_ref() != Some(id));
        put(&mut data, "with", Some(others.map(|id| self.called(id)).collect::<Vec<_>>().join(", ")));
        put(&mut data, "participant_ids", Some(talk.people.into_iter().collect::<Vec<_>>()));
        put(&mut data, "message_count", Some(talk.count));
        put(&mut data, "first_message_at", talk.first);
        put(&mut data, "last_message_at", talk.last);
        let place = if talk.place.is_empty() { id } else { talk.place };
        tell(sink, "conversations", key, data, &place)
    }

    fn complain(&self, sink: &mut dyn Sink, complaint: Complaint) -> Result<(), Stop> {
        if self.tell { sink.complain(complaint) } else { Ok(()) }
    }
}

impl Talk {
    fn note<'p>(&mut self, at: &str, place: &str, people: impl Iterator<Item = &'p str>) {
        self.count += 1;
        if self.place.is_empty() {
            place.clone_into(&mut self.place);
        }
        // Text in this form sorts as time does, but for fractions of the same second.
        if self.first.as_deref().is_none_or(|first| at < first) {
            self.first = Some(at.to_owned());
        }
        if self.last.as_deref().is_none_or(|last| at > last) {
            self.last = Some(at.to_owned());
        }
        for id in people {
            if self.people.len() < MOST_PEOPLE && !self.people.contains(id) {
                self.people.insert(id.to_owned());
            }
        }
    }

    /// Events come newest first, or oldest first: the latest name is the name.
    fn rename(&mut self, at: &str, name: &str) {
        if self.name.as_ref().is_none_or(|(known, _)| at > known.as_str()) {
            self.name = Some((at.to_owned(), name.to_owned()));
        }
    }
}

/// A conversation of two is called after both, the smaller number first.
fn pair(one: &str, other: &str) -> Option<String> {
    let (one, other): (u64, u64) = (one.parse().ok()?, other.parse().ok()?);
    Some(format!("{}-{}", one.min(other), one.max(other)))
}

fn links(event: &Value, data: &mut Map<String, Value>) {
    let link = |url: &Value| {
        Some(
            json!({"url": text(url, "url"), "expanded_url": text(url, "expanded")?, "display_url": text(url, "display")}),
        )
    };
    let found: Vec<Value> = list(event, "urls").iter().filter_map(link).collect();
    let words: Vec<&str> = found.iter().filter_map(|link| text(link, "expanded_url")).collect();
    put(data, "links_text", Some(words.join(" ")));
    put(data, "links", Some(found));
}
