//! The lists of conversations: public and private channels, direct messages of two and of several.

use serde_json::{Value, json};

use super::directory::Directory;
use crate::chat::{Fields, Flow, each_element, flag, from_unix, integer, list, text, texts};
use crate::{Complaint, Sink, Stop, Tree, mint_key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelKind {
    Public,
    Private,
    GroupDirect,
    Direct,
    /// A folder that no list names, such as the comments on a canvas.
    Unlisted,
}

impl ChannelKind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public_channel",
            Self::Private => "private_channel",
            Self::GroupDirect => "group_direct_message",
            Self::Direct => "direct_message",
            Self::Unlisted => "unlisted",
        }
    }
}

/// What messages need to know of their conversation.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) id: String,
    pub(super) name: Option<String>,
    /// What people call it: its name, or who is in it.
    pub(super) title: String,
    pub(super) kind: ChannelKind,
}

pub(super) fn read(
    tree: &mut dyn Tree,
    (index, path): (usize, &str),
    kind: ChannelKind,
    directory: &mut Directory,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each_element(tree, index, 0, sink, |number, value, sink| {
        let place = format!("{path} conversation {number}");
        let Some(id) = text(value, "id") else {
            sink.complain(Complaint::damaged(place, "`id` is missing."))?;
            return Ok(Flow::On);
        };
        let name = text(value, "name").map(str::to_owned);
        let title = title(value, kind, directory).unwrap_or_else(|| id.to_owned());
        let key = mint_key(id);
        let channel = Channel { id: key.clone(), name, title, kind };
        let folder = channel.name.as_deref().unwrap_or(id).to_owned();
        if directory.folder(&folder).is_some_and(|known| known.id == channel.id) {
            sink.complain(Complaint::damaged(place, "`id` was used before in this list."))?;
            return Ok(Flow::On);
        }
        sink.record(record(value, &key, &channel, directory).draft("channels", &key, place))?;
        directory.add_channel(id, channel.clone());
        directory.add_channel(&folder, channel);
        Ok(Flow::On)
    })?;
    Ok(())
}

/// A conversation that is only known by its folder.
pub(super) fn unlisted(
    folder: &str,
    path: &str,
    directory: &mut Directory,
    sink: &mut dyn Sink,
) -> Result<Channel, Stop> {
    let key = mint_key(folder);
    let name = Some(folder.to_owned());
    let channel = Channel { id: key.clone(), name, title: folder.to_owned(), kind: ChannelKind::Unlisted };
    let mut fields = Fields::new(&key);
    fields.maybe("workspace_id", directory.workspace());
    fields.put("name", folder);
    fields.put("title", folder);
    fields.put("kind", channel.kind.as_str());
    sink.record(fields.draft("channels", &key, path.to_owned()))?;
    directory.add_channel(folder, channel.clone());
    Ok(channel)
}

fn title(value: &Value, kind: ChannelKind, directory: &Directory) -> Option<String> {
    match kind {
        ChannelKind::Direct | ChannelKind::GroupDirect => {
            let names: Vec<&str> = members(value, directory).collect();
            if names.is_empty() { text(value, "name").map(str::to_owned) } else { Some(names.join(", ")) }
        }
        _ => text(value, "name").map(str::to_owned),
    }
}

fn members<'v>(value: &'v Value, directory: &'v Directory) -> impl Iterator<Item = &'v str> {
    texts(value, "members").map(|id| directory.person(id).unwrap_or(id))
}

fn record(value: &Value, key: &str, channel: &Channel, directory: &Directory) -> Fields {
    let mut fields = Fields::new(key);
    fields.maybe("workspace_id", directory.workspace());
    fields.maybe("name", channel.name.as_deref());
    fields.put("title", channel.title.as_str());
    fields.put("kind", channel.kind.as_str());
    for member in ["topic", "purpose"] {
        fields.maybe(member, value.get(member).and_then(|said| text(said, "value")));
    }
    let creator = text(value, "creator");
    fields.maybe("creator_id", creator);
    fields.maybe("creator_name", creator.and_then(|id| directory.person(id)));
    fields.maybe("created_at", integer(value, "created").and_then(from_unix));
    fields.maybe("is_archived", flag(value, "is_archived"));
    fields.maybe("is_general", flag(value, "is_general"));
    let ids: Vec<Value> = texts(value, "members").map(Value::from).collect();
    fields.put("member_count", ids.len());
    fields.list("member_ids", ids);
    if matches!(channel.kind, ChannelKind::Direct | ChannelKind::GroupDirect) {
        fields.list("member_names", members(value, directory).map(Value::from).collect());
    }
    fields.list("previous_names", texts(value, "previous_names").map(Value::from).collect());
    fields.list("pins", list(value, "pins").iter().filter_map(|pin| pinned(pin, &channel.id)).collect());
    fields
}

fn pinned(pin: &Value, channel: &str) -> Option<Value> {
    let id = text(pin, "id")?;
    // Pinned messages are named by their `ts`, pinned files by their id.
    let id = if id.starts_with('F') { id.to_owned() } else { mint_key(&format!("{channel}:{id}")) };
    Some(json!({"id": id, "pinned_by_id": text(pin, "user"),
                "pinned_at": integer(pin, "created").and_then(from_unix)}))
}
