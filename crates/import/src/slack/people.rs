//! `users.json`: everyone in the workspace, bots and people who left included.

use serde_json::{Value, json};

use super::directory::Directory;
use crate::chat::{Fields, Flow, each_element, flag, from_unix, integer, text};
use crate::{Complaint, Sink, Stop, Tree, mint_key};

pub(super) fn read(
    tree: &mut dyn Tree,
    index: usize,
    path: &str,
    directory: &mut Directory,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each_element(tree, index, 0, sink, |number, user, sink| {
        let place = format!("{path} user {number}");
        let Some(id) = text(user, "id") else {
            sink.complain(Complaint::damaged(place, "`id` is missing."))?;
            return Ok(Flow::On);
        };
        if directory.person(id).is_some() {
            sink.complain(Complaint::damaged(place, "`id` was used before in this list."))?;
            return Ok(Flow::On);
        }
        directory.add_person(id, best_name(user).unwrap_or(id));
        if let Some(team) = text(user, "team_id") {
            directory.add_team(team);
        }
        let key = mint_key(id);
        sink.record(record(user, &key).draft("users", &key, place))?;
        Ok(Flow::On)
    })?;
    Ok(())
}

/// What people see beside a message: the display name, else the full name, else the handle.
pub(super) fn best_name(user: &Value) -> Option<&str> {
    let profile = user.get("profile").unwrap_or(user);
    text(profile, "display_name")
        .or_else(|| text(profile, "real_name"))
        .or_else(|| text(user, "real_name"))
        .or_else(|| text(user, "name"))
}

fn record(user: &Value, key: &str) -> Fields {
    let nothing = Value::Null;
    let profile = user.get("profile").unwrap_or(&nothing);
    let mut fields = Fields::new(key);
    fields.maybe("workspace_id", text(user, "team_id"));
    fields.maybe("name", best_name(user));
    fields.maybe("handle", text(user, "name"));
    fields.maybe("real_name", text(profile, "real_name").or_else(|| text(user, "real_name")));
    for (field, member) in [
        ("display_name", "display_name"),
        ("title", "title"),
        ("email", "email"),
        ("phone", "phone"),
        ("pronouns", "pronouns"),
        ("status_text", "status_text"),
        ("status_emoji", "status_emoji"),
    ] {
        fields.maybe(field, text(profile, member));
    }
    fields.maybe("time_zone", text(user, "tz"));
    let guest = flag(user, "is_restricted") == Some(true) || flag(user, "is_ultra_restricted") == Some(true);
    for (field, so) in [
        ("is_bot", flag(user, "is_bot")),
        ("is_admin", flag(user, "is_admin")),
        ("is_owner", flag(user, "is_owner")),
        ("is_guest", guest.then_some(true)),
        ("is_deleted", flag(user, "deleted")),
    ] {
        fields.maybe(field, so);
    }
    fields.list("profile_fields", profile_fields(profile));
    fields.maybe("updated_at", integer(user, "updated").and_then(from_unix));
    fields
}

/// The fields a workspace adds to profiles, as far as they say something.
fn profile_fields(profile: &Value) -> Vec<Value> {
    let Some(members) = profile.get("fields").and_then(Value::as_object) else {
        return Vec::new();
    };
    let told = |(id, field): (&String, &Value)| {
        let value = text(field, "value")?;
        Some(json!({"id": id, "value": value, "label": text(field, "label").or_else(|| text(field, "alt"))}))
    };
    members.iter().filter_map(told).collect()
}
