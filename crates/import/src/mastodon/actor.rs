//! Whose archive it is.

use serde_json::{Map, Value, json};

use crate::members::{flag, is_shallow, list, put, text};
use crate::post_text::{html_to_line, html_to_text};
use crate::{mint_key, stamp};

/// The person, or nobody where `actor.json` is missing.
#[derive(Debug, Default)]
pub(super) struct Actor {
    document: Value,
    /// The address of the account, which its posts begin with.
    id: String,
    name: String,
}

impl Actor {
    pub(super) fn parse(json: &[u8]) -> Option<Self> {
        let document: Value =
            serde_json::from_slice(json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json)).ok()?;
        let (id, name) =
            (text(&document, "id")?.to_owned(), text(&document, "preferredUsername")?.to_owned());
        Some(Self { document, id, name })
    }

    /// As people write it: `@ana@example.social`.
    pub(super) fn handle(&self) -> String {
        match host_of(&self.id) {
            Some(host) => format!("@{}@{host}", self.name),
            None => format!("@{}", self.name),
        }
    }

    /// The key of a post: its short number if it is this account's, otherwise a hash of its address.
    pub(super) fn key_of(&self, address: &str) -> String {
        self.own_key(address).unwrap_or_else(|| mint_key(address))
    }

    /// The key of one of this account's own posts.
    pub(super) fn own_key(&self, address: &str) -> Option<String> {
        if self.id.is_empty() {
            return None;
        }
        let number = address.strip_prefix(self.id.as_str())?.strip_prefix("/statuses/")?;
        Some(mint_key(number.strip_suffix("/activity").unwrap_or(number)))
    }

    pub(super) fn followers(&self) -> Option<&str> {
        text(&self.document, "followers")
    }

    /// The pictures of the account: what each is, and its path below the archive's root.
    pub(super) fn portraits(&self) -> Vec<(&'static str, &str)> {
        [("avatar", "icon"), ("header", "image")]
            .into_iter()
            .filter_map(|(kind, member)| Some((kind, text(self.document.get(member)?, "url")?)))
            .collect()
    }

    pub(super) fn profile(&self) -> (String, Map<String, Value>) {
        let key = mint_key(&self.handle());
        let mut data = Map::new();
        let actor = &self.document;
        put(&mut data, "id", Some(key.clone()));
        put(&mut data, "handle", Some(self.handle()));
        put(&mut data, "name", text(actor, "name"));
        put(&mut data, "bio", text(actor, "summary").map(html_to_text));
        put(&mut data, "url", text(actor, "url").or(Some(&self.id)));
        put(&mut data, "kind", text(actor, "type"));
        put(&mut data, "joined_at", text(actor, "published").and_then(stamp::utc_of));
        put(&mut data, "locked", flag(actor, "manuallyApprovesFollowers"));
        put(&mut data, "discoverable", flag(actor, "discoverable"));
        let fields = list(actor, "attachment").iter().filter_map(|field| {
            Some(json!({"name": text(field, "name")?, "value": html_to_line(text(field, "value")?)}))
        });
        put(&mut data, "fields", Some(fields.collect::<Vec<_>>()));
        let moved = actor.get("alsoKnownAs").filter(|value| value.is_array() && is_shallow(value));
        put(&mut data, "also_known_as", moved.cloned());
        put(&mut data, "moved_to", text(actor, "movedTo"));
        (key, data)
    }
}

/// The server in an address.
pub(super) fn host_of(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())
}

/// The writer of a post, as far as its address tells: `@ben@example.net`.
pub(super) fn author_of(address: &str) -> Option<String> {
    let host = host_of(address)?;
    let mut parts = address.split('/').skip(3);
    while let Some(part) = parts.next() {
        let name = match part {
            "users" => parts.next()?,
            part => part.strip_prefix('@').unwrap_or(""),
        };
        if !name.is_empty() {
            // A name with a server is a local page about somebody from elsewhere.
            return Some(if name.contains('@') { format!("@{name}") } else { format!("@{name}@{host}") });
        }
    }
    None
}
