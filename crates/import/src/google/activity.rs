//! My Activity: searches, videos, pages, and whatever else Google writes down.
//!
//! Titles are in the owner's language, so what an entry is follows from the address it leads to.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::each::{Each, each};
use super::places::extra;
use super::seen::Seen;
use super::values::{Fields, text, time};
use crate::{Complaint, Draft, Sink, Stop, Tree, hash_key};

const TOLD: [&str; 11] = [
    "header",
    "title",
    "titleUrl",
    "subtitles",
    "time",
    "products",
    "details",
    "activityControls",
    "description",
    "locationInfos",
    "imageFile",
];
/// What one does to a video besides watching it, in the language of most exports.
const NOT_WATCHING: [&str; 9] =
    ["Liked", "Disliked", "Saved", "Subscribed", "Commented", "Voted", "Answered", "Shared", "Dismissed"];

/// Reads one file of activity.
pub(super) fn read(
    tree: &mut dyn Tree,
    entry: usize,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each(tree, entry, &[], sink, &mut Activities { seen })
}

struct Activities<'s> {
    seen: &'s mut Seen,
}

impl Each for Activities<'_> {
    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(at) = time(element, "/time") else {
            return sink.complain(Complaint::damaged(place, "time is missing or no time."));
        };
        let title = text(element, "/title").unwrap_or_default();
        let url = text(element, "/titleUrl").unwrap_or_default();
        let key = hash_key(&["activity", &at.to_string(), title, url]);
        // One thing stands in My Activity and in the history of its product.
        if !self.seen.first("activities", &key) {
            return Ok(());
        }
        let video = video(url).filter(|_| !NOT_WATCHING.iter().any(|verb| title.starts_with(verb)));
        let (stream, mut fields) = match video {
            Some(video) => ("watch_history", watched(element, &key, video)),
            None => ("activities", did(element, &key, url)),
        };
        fields.text("title", Some(title));
        fields.text("url", Some(url));
        fields.time("time", Some(at));
        fields.text("product", text(element, "/header"));
        fields.list("products", element.get("products"));
        let details = names(element.get("details"));
        // Told by the name of the service, which is not translated.
        fields.put("from_ads", details.iter().any(|name| name.contains("Google Ads")));
        if !details.is_empty() {
            fields.put("details", details);
        }
        fields.list("activity_controls", element.get("activityControls"));
        fields.text("description", text(element, "/description"));
        fields.list("locations", element.get("locationInfos"));
        fields.text("image_file", text(element, "/imageFile"));
        extra(element, &TOLD, &mut fields);
        sink.record(Draft { stream: stream.to_owned(), key, data: fields.0, place: place.to_owned() })
    }
}

fn watched(element: &Value, key: &str, video: &str) -> Fields {
    let mut fields = Fields::with_id(key);
    fields.put("video_id", video);
    fields.text("channel", text(element, "/subtitles/0/name"));
    fields.text("channel_url", text(element, "/subtitles/0/url"));
    fields
}

fn did(element: &Value, key: &str, url: &str) -> Fields {
    let mut fields = Fields::with_id(key);
    let query = query(url);
    fields.put("kind", if query.is_some() { "search" } else { "other" });
    fields.text("query", query.as_deref());
    fields.text("subtitle", Some(&names(element.get("subtitles")).join("\n")));
    fields.list("subtitles", element.get("subtitles"));
    fields
}

fn names(list: Option<&Value>) -> Vec<&str> {
    let list = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|one| text(one, "/name")).collect()
}

/// The video an address leads to.
fn video(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let (host, path) = rest.split_once('/')?;
    if !matches!(host, "www.youtube.com" | "youtube.com" | "m.youtube.com" | "music.youtube.com" | "youtu.be")
    {
        return None;
    }
    let id = match path.split_once("watch?v=") {
        Some((_, id)) => id,
        None => path.strip_prefix("shorts/")?,
    };
    id.split(['&', '?', '/', '#']).next().filter(|id| !id.is_empty())
}

/// What was searched for, by the address of the answer.
fn query(url: &str) -> Option<String> {
    let (page, parameters) = url.split_once('?')?;
    let searching = ["/search", "/results", "/maps", "/maps/search", "/shopping", "/webhp"];
    if !searching.iter().any(|end| page.trim_end_matches('/').ends_with(end)) {
        return None;
    }
    let value =
        |name: &str| parameters.split(['&', '#']).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let value = value("q").or(value("search_query"))?.replace('+', " ");
    let text = percent_decode_str(&value).decode_utf8_lossy().replace('\0', "");
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_was_watched_and_searched() {
        assert_eq!(video("https://www.youtube.com/watch?v=abc_1&t=5"), Some("abc_1"));
        assert_eq!(video("https://music.youtube.com/watch?v=m"), Some("m"));
        assert_eq!(video("https://www.youtube.com/shorts/s1?x"), Some("s1"));
        for other in [
            "",
            "https://www.youtube.com/",
            "https://youtube.example/watch?v=x",
            "https://www.youtube.com/watch?v=",
        ] {
            assert_eq!(video(other), None, "{other}");
        }
        assert_eq!(query("https://www.google.com/search?hl=en&q=sea+fog%3F").as_deref(), Some("sea fog?"));
        assert_eq!(query("https://www.youtube.com/results?search_query=knots%20").as_deref(), Some("knots "));
        assert_eq!(query("https://www.google.com/search?q="), None);
        assert_eq!(query("https://example.org/page?q=x"), None);
    }
}
