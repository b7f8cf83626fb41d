//! Media of posts, the portrait and the header, and files of the archive that no post names.

use serde_json::{Map, Value};

use super::actor::Actor;
use crate::media_type::{media_type_of, plausible};
use crate::members::{put, text, whole};
use crate::{Attachment, Claim, Complaint, Draft, Sink, Stop, Tree, file_name, hash_key};

/// One attachment until its bytes can be read.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    place: String,
    key: String,
    post_id: Option<String>,
    kind: Option<&'static str>,
    /// As the post says it: a path below the archive's root, or an address elsewhere.
    url: Option<String>,
    alt_text: Option<String>,
    media_type: Option<String>,
    size: Option<(i64, i64)>,
    published: Option<String>,
}

impl Waiting {
    pub(super) fn of(attachment: &Value, post: &str, number: usize, published: &str) -> Self {
        let url = text(attachment, "url").map(str::to_owned);
        let said = text(attachment, "mediaType").filter(|kind| plausible(kind)).map(str::to_owned);
        Self {
            place: String::new(),
            // The file's own path is what stays when a post is edited.
            key: url
                .as_deref()
                .map_or_else(|| hash_key(&[post, &number.to_string()]), |url| hash_key(&[below(url)])),
            post_id: Some(post.to_owned()),
            kind: None,
            alt_text: text(attachment, "name").or_else(|| text(attachment, "summary")).map(str::to_owned),
            media_type: said,
            size: whole(attachment, "width").zip(whole(attachment, "height")),
            published: Some(published.to_owned()),
            url,
        }
    }

    pub(super) fn at(self, place: &str) -> Self {
        Self { place: place.to_owned(), ..self }
    }

    /// Roughly how many bytes this holds.
    pub(super) fn weight(&self) -> usize {
        let long = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        256 + long(&self.url) + long(&self.alt_text) + long(&self.media_type)
    }
}

/// The files of a claim, found by their path below the root.
#[derive(Debug)]
pub(super) struct Files {
    /// Entry numbers in the order of their paths below the root, and whether each was told of. Paths stay in the
    /// tree: an archive may hold a million files.
    entries: Vec<(usize, bool)>,
    /// How much of each path leads to the root.
    root: usize,
}

impl Files {
    pub(super) fn new(tree: &dyn Tree, claim: &Claim) -> Self {
        let path = |index: usize| tree.entries()[index].path.as_str();
        let root =
            claim.entries.first().map_or(0, |index| path(*index).len() - file_name(path(*index)).len());
        let mut entries: Vec<_> = claim.entries.iter().map(|index| (*index, false)).collect();
        entries.sort_by_key(|(index, _)| path(*index).get(root..));
        Self { entries, root }
    }

    pub(super) fn find(&self, tree: &dyn Tree, path: &str) -> Option<usize> {
        Some(self.entries[self.position(tree, path)?].0)
    }

    fn position(&self, tree: &dyn Tree, path: &str) -> Option<usize> {
        self.entries.binary_search_by(|(index, _)| self.below_root(tree, *index).cmp(path)).ok()
    }

    fn below_root<'t>(&self, tree: &'t dyn Tree, index: usize) -> &'t str {
        tree.entries()[index].path.get(self.root..).unwrap_or("")
    }

    /// Takes the bytes if they are here, and tells of the attachment.
    pub(super) fn attach(
        &mut self,
        tree: &mut dyn Tree,
        one: Waiting,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let here = one.url.as_deref().and_then(|url| self.position(tree, below(url)));
        let name = one.url.as_deref().map(|url| file_name(below(url)).to_owned());
        let guessed = name.as_deref().map(media_type_of);
        let media_type = one.media_type.clone().or(guessed.map(str::to_owned));
        let mut data = Map::new();
        put(&mut data, "id", Some(one.key.as_str()));
        put(&mut data, "post_id", one.post_id);
        put(&mut data, "kind", one.kind.or_else(|| media_type.as_deref().map(kind_of)));
        put(&mut data, "name", name.as_deref());
        put(&mut data, "alt_text", one.alt_text);
        put(&mut data, "media_type", media_type.as_deref());
        put(&mut data, "width", one.size.map(|(width, _)| width));
        put(&mut data, "height", one.size.map(|(_, height)| height));
        put(&mut data, "published_at", one.published);
        // What lies on a server only can still be looked up there.
        put(&mut data, "url", one.url.filter(|url| url.contains("://")));
        if let Some(position) = here {
            self.entries[position].1 = true;
            let index = self.entries[position].0;
            let attachment = Attachment {
                stream: "media",
                key: &one.key,
                name: name.as_deref(),
                media_type: media_type.as_deref().unwrap_or("application/octet-stream"),
            };
            let path = tree.entries()[index].path.clone();
            let attached = match tree.open(index) {
                Ok(mut bytes) => sink.attach(&attachment, &mut bytes)?,
                Err(error) => {
                    sink.complain(Complaint::unreadable(&path, &error))?;
                    None
                }
            };
            if let Some(attached) = attached {
                put(&mut data, "size_bytes", Some(attached.size_bytes));
                put(&mut data, "sha256", Some(attached.sha256.as_str()));
                put(&mut data, "text", attached.text.as_deref());
                put(&mut data, "blob_ref", Some(attached.blob_ref()));
            }
        }
        sink.record(Draft { stream: "media".to_owned(), key: one.key, data, place: one.place })
    }

    pub(super) fn attach_portraits(
        &mut self,
        tree: &mut dyn Tree,
        actor: &Actor,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        for (kind, url) in actor.portraits() {
            let waiting = Waiting {
                place: "actor.json".to_owned(),
                key: hash_key(&[kind]),
                kind: Some(kind),
                url: Some(url.to_owned()),
                ..Waiting::default()
            };
            self.attach(tree, waiting, sink)?;
        }
        Ok(())
    }

    /// Media of the archive that nothing names: kept all the same.
    pub(super) fn tell_leftovers(&mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        for position in 0..self.entries.len() {
            let (index, told) = self.entries[position];
            let path = self.below_root(tree, index).to_owned();
            if told || ["actor", "outbox", "likes", "bookmarks"].contains(&path.trim_end_matches(".json")) {
                continue;
            }
            let place = tree.entries()[index].path.clone();
            let waiting = Waiting { place, key: hash_key(&[&path]), url: Some(path), ..Waiting::default() };
            self.attach(tree, waiting, sink)?;
        }
        Ok(())
    }
}

/// A path as the archive lays it out: servers write it with their own folders in front, and with a signature behind.
fn below(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.find("media_attachments/") {
        Some(start) => &url[start..],
        None => url.trim_start_matches('/'),
    }
}

fn kind_of(media_type: &str) -> &'static str {
    match media_type.split('/').next() {
        Some("image") => "image",
        Some("video") => "video",
        Some("audio") => "audio",
        _ => "file",
    }
}
