//! One post: what its element says, as a record.

use serde_json::{Map, Value, json};

use super::{Me, stamps};
use crate::members::{flag, is_shallow, list, put, text, whole};
use crate::mint_key;
use crate::post_text::{decode_entities, html_to_line};

/// A post before its long text is known.
pub(super) struct Post {
    pub(super) key: String,
    pub(super) id: String,
    pub(super) text: String,
    pub(super) created: Option<String>,
    pub(super) second: Option<i64>,
    pub(super) data: Map<String, Value>,
}

/// Where a post stood, which tells what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shelf {
    Posts,
    Community,
    Deleted,
}

pub(super) fn read(element: &Value, shelf: Shelf, me: &Me) -> Result<Post, &'static str> {
    let tweet = element.get("tweet").unwrap_or(element);
    let id = text(tweet, "id_str").or_else(|| text(tweet, "id")).ok_or("`id_str` is missing.")?;
    let words = text(tweet, "full_text").or_else(|| text(tweet, "text")).unwrap_or("");
    let words = decode_entities(words).into_owned();
    let said = text(tweet, "created_at");
    let created = said.and_then(stamps::parse).or_else(|| stamps::of_number(id));
    let created = created.ok_or("`created_at` is missing or no time.")?;
    let key = mint_key(id);
    let entities = tweet.get("entities").unwrap_or(&Value::Null);
    let quoted = quoted(entities);
    let reply = text(tweet, "in_reply_to_status_id_str").or_else(|| text(tweet, "in_reply_to_status_id"));
    let reposted = reposted(&words);
    let kind = match (reposted, reply, &quoted) {
        (Some(_), ..) => "repost",
        (None, Some(_), _) => "reply",
        (None, None, Some(_)) => "quote",
        _ => "post",
    };
    let mut data = Map::new();
    put(&mut data, "id", Some(key.as_str()));
    put(&mut data, "kind", Some(kind));
    put(&mut data, "created_at", Some(created.as_str()));
    put(&mut data, "author", me.username.as_deref().map(|name| format!("@{name}")));
    put(&mut data, "text", Some(words.as_str()));
    let page = me.username.as_deref().map(|name| format!("https://x.com/{name}/status/{id}"));
    put(&mut data, "url", page);
    put(&mut data, "language", text(tweet, "lang").filter(|lang| *lang != "und"));
    put(&mut data, "source", text(tweet, "source").map(source));
    put(&mut data, "in_reply_to_id", reply);
    let user = text(tweet, "in_reply_to_user_id_str").or_else(|| text(tweet, "in_reply_to_user_id"));
    put(&mut data, "in_reply_to_user_id", user);
    put(
        &mut data,
        "in_reply_to_username",
        text(tweet, "in_reply_to_screen_name").map(|name| format!("@{name}")),
    );
    put(&mut data, "reposted_username", reposted.map(|name| format!("@{name}")));
    put(&mut data, "quoted_id", quoted.as_ref().map(|(id, _)| id.as_str()));
    put(&mut data, "quoted_url", quoted.as_ref().map(|(_, url)| url.as_str()));
    let tags =
        list(entities, "hashtags").iter().filter_map(|tag| text(tag, "text")).map(|tag| format!("#{tag}"));
    put(&mut data, "hashtags", Some(tags.collect::<Vec<_>>()));
    let names = list(entities, "user_mentions").iter().filter_map(|user| text(user, "screen_name"));
    put(&mut data, "mentions", Some(names.map(|name| format!("@{name}")).collect::<Vec<_>>()));
    links(entities, &mut data);
    put(&mut data, "like_count", whole(tweet, "favorite_count").or(Some(0)));
    put(&mut data, "repost_count", whole(tweet, "retweet_count").or(Some(0)));
    put(&mut data, "sensitive", flag(tweet, "possibly_sensitive"));
    put(&mut data, "deleted", Some(shelf == Shelf::Deleted));
    put(&mut data, "deleted_at", text(tweet, "deleted_at").and_then(stamps::parse));
    put(&mut data, "in_community", (shelf == Shelf::Community).then_some(true));
    put(&mut data, "community_id", text(tweet, "community_id_str").or_else(|| text(tweet, "community_id")));
    edits(tweet, &mut data);
    for name in ["place", "coordinates"] {
        put(&mut data, name, tweet.get(name).filter(|value| value.is_object() && is_shallow(value)).cloned());
    }
    put(&mut data, "media_count", Some(media(tweet).len()));
    let second = said.and_then(stamps::seconds);
    Ok(Post { key, id: id.to_owned(), text: words, created: Some(created), second, data })
}

/// The media of a post; the older member knows only the first.
pub(super) fn media(tweet: &Value) -> &[Value] {
    let of = |member: &str| tweet.get(member).map_or(&[][..], |entities| list(entities, "media"));
    let extended = of("extended_entities");
    if extended.is_empty() { of("entities") } else { extended }
}

/// Numbers and names of the people a post mentions or answers.
pub(super) fn people(element: &Value) -> Vec<(&str, &str)> {
    let tweet = element.get("tweet").unwrap_or(element);
    let entities = tweet.get("entities").unwrap_or(&Value::Null);
    let mentioned = list(entities, "user_mentions").iter().filter_map(|user| {
        Some((text(user, "id_str").or_else(|| text(user, "id"))?, text(user, "screen_name")?))
    });
    let answered = text(tweet, "in_reply_to_user_id_str").zip(text(tweet, "in_reply_to_screen_name"));
    mentioned.chain(answered).collect()
}

/// The program a post was written with, without the link around its name.
fn source(html: &str) -> String {
    let words = html.split_once('>').map_or(html, |(_, rest)| rest.split('<').next().unwrap_or(rest));
    if html.starts_with('<') { decode_entities(words).into_owned() } else { html_to_line(html) }
}

/// A repost is told by its first words only.
fn reposted(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("RT @")?.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    ((1..=20).contains(&name.len()) && name.bytes().all(plain)).then_some(name)
}

/// A quoted post is a link to it, the last of the post.
fn quoted(entities: &Value) -> Option<(String, String)> {
    let url = text(list(entities, "urls").last()?, "expanded_url")?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let mut parts = rest.split(['/', '?']);
    let host = parts.next()?.trim_start_matches("www.").trim_start_matches("mobile.");
    let (_, status, id) = (parts.next()?, parts.next()?, parts.next()?);
    let is_post = matches!(host, "twitter.com" | "x.com") && status == "status" && id.parse::<u64>().is_ok();
    is_post.then(|| (id.to_owned(), url.to_owned()))
}

fn links(entities: &Value, data: &mut Map<String, Value>) {
    let link = |url: &Value| {
        let whole = text(url, "expanded_url")?;
        Some(json!({"url": text(url, "url"), "expanded_url": whole, "display_url": text(url, "display_url")}))
    };
    let found: Vec<Value> = list(entities, "urls").iter().filter_map(link).collect();
    let words: Vec<&str> = found.iter().filter_map(|link| text(link, "expanded_url")).collect();
    put(data, "links_text", Some(words.join(" ")));
    put(data, "links", Some(found));
}

/// An edited post is a new post that knows the ones before it.
fn edits(tweet: &Value, data: &mut Map<String, Value>) {
    let Some(info) = tweet.get("edit_info") else { return };
    let first = info.get("edit").and_then(|edit| text(edit, "initialTweetId"));
    put(data, "edit_of", first);
    let initial = info.get("initial").unwrap_or(&Value::Null);
    let all: Vec<Value> = list(initial, "editTweetIds").iter().filter(|id| id.is_string()).cloned().collect();
    // Every post lists itself; only more than that is an edit.
    put(data, "edit_ids", (all.len() > 1).then_some(all));
}
