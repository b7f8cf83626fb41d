//! One activity of the outbox: a post, a poll, or a boost.

use serde_json::{Map, Value, json};

use super::actor::{Actor, author_of};
use super::media::Waiting;
use crate::members::{flag, is_shallow, list, put, text, whole};
use crate::post_text::{decode_entities, html_to_text};
use crate::stamp;

const PUBLIC: [&str; 3] = ["https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"];

/// Members of a post that a record says in its own way, or that say nothing about it.
const TOLD: [&str; 35] = [
    "id",
    "type",
    "summary",
    "inReplyTo",
    "published",
    "updated",
    "url",
    "attributedTo",
    "to",
    "cc",
    "sensitive",
    "atomUri",
    "inReplyToAtomUri",
    "conversation",
    "content",
    "contentMap",
    "attachment",
    "tag",
    "replies",
    "oneOf",
    "anyOf",
    "endTime",
    "closed",
    "votersCount",
    "quote",
    "quoteUrl",
    "quoteUri",
    "_misskey_quote",
    "likes",
    "shares",
    "signature",
    "context",
    "summaryMap",
    "@context",
    "interactionPolicy",
];

/// A post and the media it names.
pub(super) struct Post {
    pub(super) key: String,
    pub(super) data: Map<String, Value>,
    pub(super) media: Vec<Waiting>,
}

/// Reads an activity; an error says what is missing.
pub(super) fn read(actor: &Actor, activity: &Value) -> Result<Post, &'static str> {
    match text(activity, "type") {
        Some("Create") => {
            let object = activity.get("object").ok_or("`object` is missing.")?;
            if !object.is_object() {
                return Err("`object` is not the post itself.");
            }
            created(actor, activity, object)
        }
        Some("Announce") => boosted(actor, activity),
        Some(_) => Err("`type` is neither Create nor Announce."),
        None => Err("`type` is missing."),
    }
}

fn created(actor: &Actor, activity: &Value, object: &Value) -> Result<Post, &'static str> {
    let address = text(object, "id").or_else(|| text(activity, "id")).ok_or("`id` is missing.")?;
    let key = actor.key_of(address);
    let published = text(object, "published").or_else(|| text(activity, "published"));
    let published = published.and_then(stamp::utc_of).ok_or("`published` is missing or no time.")?;
    let options: Vec<&Value> = list(object, "oneOf").iter().chain(list(object, "anyOf")).collect();
    let reply_to = text(object, "inReplyTo");
    let kind = match (options.is_empty(), reply_to) {
        (false, _) => "poll",
        (true, Some(_)) => "reply",
        (true, None) => "post",
    };
    let html = content(object);
    let mut data = Map::new();
    put(&mut data, "id", Some(key.clone()));
    put(&mut data, "kind", Some(kind));
    put(&mut data, "published_at", Some(published.clone()));
    put(&mut data, "updated_at", text(object, "updated").and_then(stamp::utc_of));
    put(&mut data, "uri", Some(address));
    put(&mut data, "url", text(object, "url"));
    put(&mut data, "title", text(object, "name"));
    put(&mut data, "content_warning", text(object, "summary").map(decode_entities).as_deref());
    put(&mut data, "sensitive", flag(object, "sensitive"));
    put(&mut data, "text", html.map(html_to_text));
    put(&mut data, "html", html);
    put(
        &mut data,
        "language",
        object
            .get("contentMap")
            .and_then(Value::as_object)
            .and_then(|map| map.keys().next())
            .map(String::as_str),
    );
    put(&mut data, "visibility", Some(visibility(actor, activity, object)));
    put(&mut data, "addressed_to", Some(addressees(activity, object)));
    put(&mut data, "in_reply_to", reply_to);
    put(&mut data, "in_reply_to_id", reply_to.and_then(|address| actor.own_key(address)));
    put(&mut data, "in_reply_to_author", reply_to.and_then(author_of));
    put(&mut data, "conversation", text(object, "conversation").or_else(|| text(object, "context")));
    let quote =
        ["quote", "quoteUrl", "quoteUri", "_misskey_quote"].iter().find_map(|name| text(object, name));
    put(&mut data, "quoted_url", quote);
    put(&mut data, "hashtags", Some(tags(object, "Hashtag")));
    put(&mut data, "mentions", Some(tags(object, "Mention")));
    poll(&mut data, object, &options);
    let media: Vec<Waiting> = list(object, "attachment")
        .iter()
        .enumerate()
        .map(|(number, attachment)| Waiting::of(attachment, &key, number, &published))
        .collect();
    put(&mut data, "media_count", Some(media.len()));
    put(&mut data, "extra", extra(object));
    Ok(Post { key, data, media })
}

fn boosted(actor: &Actor, activity: &Value) -> Result<Post, &'static str> {
    let address = text(activity, "id").ok_or("`id` is missing.")?;
    let object = activity.get("object").ok_or("`object` is missing.")?;
    let target = object.as_str().or_else(|| text(object, "id")).ok_or("`object` names no post.")?;
    let published = text(activity, "published").and_then(stamp::utc_of);
    let published = published.ok_or("`published` is missing or no time.")?;
    let key = actor.key_of(address);
    let mut data = Map::new();
    put(&mut data, "id", Some(key.clone()));
    put(&mut data, "kind", Some("boost"));
    put(&mut data, "published_at", Some(published));
    put(&mut data, "uri", Some(address));
    put(&mut data, "visibility", Some(visibility(actor, activity, activity)));
    put(&mut data, "addressed_to", Some(addressees(activity, activity)));
    put(&mut data, "boosted_url", Some(target));
    put(&mut data, "boosted_author", author_of(target));
    // A boost of one's own closed post carries the post.
    put(&mut data, "text", content(object).map(html_to_text));
    put(&mut data, "html", content(object));
    put(&mut data, "media_count", Some(0));
    Ok(Post { key, data, media: Vec::new() })
}

/// The post's HTML; a server that keeps only translations gives the first.
fn content(object: &Value) -> Option<&str> {
    let first = || object.get("contentMap")?.as_object()?.values().next()?.as_str();
    text(object, "content").or_else(first)
}

fn visibility(actor: &Actor, activity: &Value, object: &Value) -> &'static str {
    let public = |member: &str| {
        names(object, member).chain(names(activity, member)).any(|address| PUBLIC.contains(&address))
    };
    let followers = |address: &str| Some(address) == actor.followers() || address.ends_with("/followers");
    let mut all =
        ["to", "cc"].into_iter().flat_map(|member| names(object, member).chain(names(activity, member)));
    if public("to") {
        "public"
    } else if public("cc") {
        "unlisted"
    } else if all.any(followers) {
        "followers"
    } else {
        "direct"
    }
}

/// The people a post was sent to, beside everybody and the followers.
fn addressees(activity: &Value, object: &Value) -> Vec<String> {
    let mut people: Vec<String> = Vec::new();
    for address in ["to", "cc"].into_iter().flat_map(|m| names(object, m).chain(names(activity, m))) {
        let everybody = PUBLIC.contains(&address) || address.ends_with("/followers");
        if !everybody && people.len() < 1000 && !people.iter().any(|known| known == address) {
            people.push(address.to_owned());
        }
    }
    people
}

/// A member that is one text or a list of them.
fn names<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v str> {
    text(value, member).into_iter().chain(list(value, member).iter().filter_map(Value::as_str))
}

fn tags(object: &Value, kind: &str) -> Vec<String> {
    let of_kind = list(object, "tag").iter().filter(|tag| text(tag, "type") == Some(kind));
    of_kind.filter_map(|tag| text(tag, "name")).map(str::to_owned).collect()
}

fn poll(data: &mut Map<String, Value>, object: &Value, options: &[&Value]) {
    let counted = options.iter().filter_map(|option| {
        let votes = option.get("replies").and_then(|replies| whole(replies, "totalItems"));
        Some(json!({"name": text(option, "name")?, "votes": votes}))
    });
    put(data, "poll_options", Some(counted.collect::<Vec<_>>()));
    let words: Vec<&str> = options.iter().filter_map(|option| text(option, "name")).collect();
    put(data, "poll_text", Some(words.join("\n")));
    let ends = text(object, "closed").or_else(|| text(object, "endTime"));
    put(data, "poll_ends_at", ends.and_then(stamp::utc_of));
    put(data, "voters_count", whole(object, "votersCount"));
}

/// What the server says beyond what every record tells.
fn extra(object: &Value) -> Option<Map<String, Value>> {
    let said = |(name, value): &(&String, &Value)| {
        !TOLD.contains(&name.as_str()) && *name != "name" && !value.is_null() && is_shallow(value)
    };
    Some(
        object
            .as_object()?
            .iter()
            .filter(said)
            .take(64)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}
