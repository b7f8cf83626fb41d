//! Whose archive it is: `account.js` and `profile.js`, together one record.

use serde_json::{Map, Value};

use super::files::Files;
use super::{Me, script, stamps, tell};
use crate::members::{put, text};
use crate::{Sink, Stop, Tree, mint_key};

pub(super) fn read(tree: &mut dyn Tree, files: &Files, sink: &mut dyn Sink) -> Result<Me, Stop> {
    let mut me = Me::default();
    let mut data = Map::new();
    let mut place = String::new();
    for (name, member) in [("account", "account"), ("profile", "profile")] {
        script::read(tree, files, name, true, sink, &mut |item, _| {
            let about = item.value.get(member).unwrap_or(&item.value);
            if place.is_empty() {
                item.place.clone_into(&mut place);
            }
            if member == "account" {
                account(about, &mut data);
                me.id = text(about, "accountId").map(str::to_owned);
                me.username = text(about, "username").map(str::to_owned);
            } else {
                profile(about, &mut data);
            }
            Ok(())
        })?;
    }
    if !data.is_empty() {
        let key = me.id.as_deref().or(me.username.as_deref()).map_or_else(|| "me".to_owned(), mint_key);
        put(&mut data, "id", Some(key.as_str()));
        tell(sink, "profile", key, data, &place)?;
    }
    Ok(me)
}

fn account(about: &Value, data: &mut Map<String, Value>) {
    put(data, "username", text(about, "username").map(|name| format!("@{name}")));
    put(data, "name", text(about, "accountDisplayName"));
    put(data, "email", text(about, "email"));
    put(data, "created_at", text(about, "createdAt").and_then(stamps::parse));
    put(data, "created_via", text(about, "createdVia"));
}

fn profile(about: &Value, data: &mut Map<String, Value>) {
    if let Some(description) = about.get("description") {
        put(data, "bio", text(description, "bio"));
        put(data, "website", text(description, "website"));
        put(data, "location", text(description, "location"));
    }
    put(data, "avatar_url", text(about, "avatarMediaUrl"));
    put(data, "header_url", text(about, "headerMediaUrl"));
}
