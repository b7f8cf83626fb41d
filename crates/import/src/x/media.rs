//! Pictures and films of posts and messages, until their bytes can be read.

use serde_json::{Map, Value};

use super::files::Files;
use super::tell;
use crate::media_type::media_type_of;
use crate::members::{list, put, text, whole};
use crate::{Sink, Stop, Tree, file_name, mint_key};

#[derive(Debug)]
pub(super) struct Waiting {
    place: String,
    key: String,
    post_id: Option<String>,
    message_id: Option<String>,
    kind: String,
    alt_text: Option<String>,
    url: Option<String>,
    created: Option<String>,
    /// What the file may be called behind the number of its post, the best first.
    names: Vec<String>,
}

impl Waiting {
    pub(super) fn of_post(entity: &Value, post: &str, created: Option<&str>, place: &str) -> Self {
        let url = text(entity, "media_url_https").or_else(|| text(entity, "media_url"));
        let mut names = film_names(entity);
        names.extend(url.map(last_part));
        let id = text(entity, "id_str").or_else(|| text(entity, "id"));
        let natural = id.map(str::to_owned).or_else(|| names.first().cloned()).unwrap_or_default();
        Self {
            place: place.to_owned(),
            key: mint_key(&format!("{post}-{natural}")),
            post_id: Some(mint_key(post)),
            message_id: None,
            kind: text(entity, "type").unwrap_or("photo").to_owned(),
            alt_text: text(entity, "ext_alt_text").map(str::to_owned),
            url: url.map(str::to_owned),
            created: created.map(str::to_owned),
            names,
        }
    }

    pub(super) fn of_message(url: &str, message: &str, created: Option<&str>, place: &str) -> Self {
        let name = last_part(url);
        let kind = match media_type_of(&name).split('/').next() {
            Some("video") => "video",
            _ => "photo",
        };
        Self {
            place: place.to_owned(),
            key: mint_key(&format!("{message}-{name}")),
            post_id: None,
            message_id: Some(mint_key(message)),
            kind: kind.to_owned(),
            alt_text: None,
            url: Some(url.to_owned()),
            created: created.map(str::to_owned),
            names: vec![name],
        }
    }

    /// Roughly how many bytes this holds.
    pub(super) fn weight(&self) -> usize {
        let long = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        256 + self.place.len()
            + long(&self.alt_text)
            + long(&self.url)
            + self.names.iter().map(String::len).sum::<usize>()
    }
}

/// Takes the bytes if the archive holds them, and tells of the picture or film.
pub(super) fn attach(
    tree: &mut dyn Tree,
    files: &mut Files,
    one: Waiting,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let mut data = Map::new();
    put(&mut data, "id", Some(one.key.as_str()));
    put(&mut data, "post_id", one.post_id.as_deref());
    put(&mut data, "message_id", one.message_id.as_deref());
    put(&mut data, "kind", Some(one.kind));
    put(&mut data, "alt_text", one.alt_text);
    put(&mut data, "created_at", one.created);
    put(&mut data, "url", one.url);
    put(&mut data, "name", one.names.first().map(String::as_str));
    put(&mut data, "media_type", one.names.first().map(|name| media_type_of(name)));
    let owner = one.post_id.as_deref().or(one.message_id.as_deref()).unwrap_or("");
    if let Some(position) = files.find_media(tree, owner, &one.names) {
        files.attach(tree, position, &one.key, &mut data, sink)?;
    }
    tell(sink, "media", one.key, data, &one.place)
}

/// Names a film may have: one per quality, the best first.
fn film_names(entity: &Value) -> Vec<String> {
    let Some(info) = entity.get("video_info") else { return Vec::new() };
    let film =
        |variant: &Value| Some((whole(variant, "bitrate").unwrap_or(-1), last_part(text(variant, "url")?)));
    let mut films: Vec<(i64, String)> = list(info, "variants").iter().filter_map(film).take(16).collect();
    films.sort_by_key(|(bitrate, _)| std::cmp::Reverse(*bitrate));
    films.into_iter().map(|(_, name)| name).filter(|name| !is_playlist(name)).collect()
}

/// A list of pieces of a film is not the film.
fn is_playlist(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("m3u8"))
}

fn last_part(url: &str) -> String {
    file_name(url.split(['?', '#']).next().unwrap_or(url)).to_owned()
}
