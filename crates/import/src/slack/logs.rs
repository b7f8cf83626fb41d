//! `integration_logs.json`: which apps were added to the workspace, changed and removed, and by whom.

use serde_json::Value;

use super::directory::Directory;
use crate::chat::{Fields, Flow, each_element, from_unix, integer, text};
use crate::{Sink, Stop, Tree, hash_key};

pub(super) fn read(
    tree: &mut dyn Tree,
    index: usize,
    path: &str,
    directory: &Directory,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each_element(tree, index, 0, sink, |number, log, sink| {
        if log.is_object() {
            let key = key(log);
            let place = format!("{path} entry {number}");
            sink.record(record(log, &key, directory).draft("integration_logs", &key, place))?;
        }
        Ok(Flow::On)
    })?;
    Ok(())
}

/// An entry has no id of its own; all that it says about what happened makes it this one.
fn key(log: &Value) -> String {
    const PARTS: [&str; 8] =
        ["date", "user_id", "change_type", "app_id", "service_id", "app_type", "service_type", "channel"];
    let date = integer(log, "date").map(|date| date.to_string()).unwrap_or_default();
    let mut parts = vec!["integration log", date.as_str()];
    parts.extend(PARTS[1..].iter().map(|member| text(log, member).unwrap_or_default()));
    hash_key(&parts)
}

fn record(log: &Value, key: &str, directory: &Directory) -> Fields {
    let mut fields = Fields::new(key);
    fields.maybe("changed_at", integer(log, "date").and_then(from_unix));
    let user = text(log, "user_id");
    fields.maybe("user_id", user);
    let known = user.and_then(|id| directory.person(id));
    fields.maybe("user_name", known.or_else(|| text(log, "user_name")));
    fields.maybe("change_type", text(log, "change_type"));
    fields.maybe("app_id", text(log, "app_id").or_else(|| text(log, "service_id")));
    fields.maybe("app_name", text(log, "app_type").or_else(|| text(log, "service_type")));
    fields.maybe("channel_id", text(log, "channel"));
    fields.maybe("scope", text(log, "scope"));
    fields.maybe("reason", text(log, "reason"));
    fields
}
