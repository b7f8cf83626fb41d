//! The archive a Mastodon server hands out: `actor.json`, `outbox.json`, lists of likes and bookmarks, and media.
//!
//! The outbox is read one activity at a time. Posts lie in it as their server published them, in HTML, which is kept;
//! the words are read out of it. Media wait until the outbox has been read, a bounded number at a time.

mod actor;
mod lists;
mod media;
mod post;

use std::collections::BTreeMap;
use std::io;

use pdpp_wire::manifest::Manifest;
use serde_json::Value;

use self::actor::Actor;
use self::media::{Files, Waiting};
use crate::batch::Batch;
use crate::json_elements::{Elements, Found};
use crate::tree::{open_buffered, read_whole};
use crate::{Claim, Complaint, Draft, Format, Look, Sink, Stop, Tree, file_name};

/// Longest activity that is looked at; servers allow posts of some thousand characters.
const LONGEST: usize = 16 * 1024 * 1024;
/// Largest `actor.json`.
const ACTOR: u64 = 4 * 1024 * 1024;

/// A Mastodon archive, and those of servers that speak the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mastodon;

impl Format for Mastodon {
    fn name(&self) -> &'static str {
        "mastodon"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        let mut roots: BTreeMap<String, Claim> = BTreeMap::new();
        for index in look.find(|path| file_name(path) == "outbox.json") {
            let root = folder(look.path(index)).to_owned();
            if is_outbox(&look.head(index, 4096)) {
                roots.insert(root, Claim { entries: vec![index], account: None, found: String::new() });
            }
        }
        if roots.is_empty() {
            return Vec::new();
        }
        let mut media: BTreeMap<String, usize> = BTreeMap::new();
        let others: Vec<usize> = look.find(|path| file_name(path) != "outbox.json");
        for index in others {
            let path = look.path(index);
            let Some((root, below)) = nearest(path, |root| roots.contains_key(root)) else { continue };
            if !belongs(below) {
                continue;
            }
            let (root, is_media) = (root.to_owned(), below.contains('/'));
            let account = if below == "actor.json" { look.whole(index, ACTOR) } else { None };
            let Some(claim) = roots.get_mut(&root) else { continue };
            claim.entries.push(index);
            claim.account = account
                .and_then(|json| Actor::parse(&json))
                .map(|actor| actor.handle())
                .or(claim.account.take());
            *media.entry(root).or_default() += usize::from(is_media);
        }
        roots
            .into_iter()
            .map(|(root, mut claim)| {
                let whose = claim.account.as_deref().map_or(String::new(), |handle| format!(" of {handle}"));
                let count = media.get(&root).copied().unwrap_or(0);
                claim.found = format!("a Mastodon archive{whose}, {count} media files");
                claim
            })
            .collect()
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/mastodon.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut files = Files::new(tree, claim);
        let actor = read_actor(tree, &files, sink)?;
        let outbox = files.find(tree, "outbox.json");
        let mut next = Some(Batch::first());
        let mut first = true;
        while let (Some(mut batch), Some(index)) = (next.take(), outbox) {
            let mut outbox = Outbox { actor: &actor, batch: &mut batch, tell: first };
            outbox.read(tree, index, sink)?;
            first = false;
            let (waiting, more) = batch.finish();
            next = more;
            for one in waiting {
                files.attach(tree, one, sink)?;
            }
        }
        files.attach_portraits(tree, &actor, sink)?;
        files.tell_leftovers(tree, sink)?;
        for (name, stream) in [("likes.json", "likes"), ("bookmarks.json", "bookmarks")] {
            if let Some(index) = files.find(tree, name) {
                lists::read(tree, index, stream, sink)?;
            }
        }
        Ok(())
    }
}

/// Reads activities in the order of the outbox.
struct Outbox<'a> {
    actor: &'a Actor,
    batch: &'a mut Batch<Waiting>,
    /// Whether posts and complaints are told; a second reading looks for media only.
    tell: bool,
}

impl Outbox<'_> {
    fn read(&mut self, tree: &mut dyn Tree, index: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        let path = tree.entries()[index].path.clone();
        let reader = match open_buffered(tree, index) {
            Ok(reader) => reader,
            Err(error) => return self.complain(sink, Complaint::unreadable(path, &error)),
        };
        let mut elements = Elements::new(reader, &["orderedItems"], LONGEST);
        loop {
            match elements.next() {
                Ok(None) => return Ok(()),
                Ok(Some(Found::Element { number, json })) => {
                    let place = format!("{path} item {number}");
                    match serde_json::from_slice(json) {
                        Ok(activity) => self.activity(&activity, place, sink)?,
                        Err(_) => self.complain(sink, Complaint::damaged(place, "Is no JSON."))?,
                    }
                }
                Ok(Some(Found::TooLong { number })) => {
                    self.complain(sink, Complaint::damaged(format!("{path} item {number}"), "Is too long."))?;
                }
                Ok(Some(Found::Broken { at })) => {
                    let message = "The file breaks off here, or is no JSON from here on.";
                    return self.complain(sink, Complaint::damaged(format!("{path} byte {at}"), message));
                }
                Ok(Some(_)) => {}
                Err(error) => return self.complain(sink, Complaint::unreadable(path, &error)),
            }
        }
    }

    fn activity(&mut self, activity: &Value, place: String, sink: &mut dyn Sink) -> Result<(), Stop> {
        match post::read(self.actor, activity) {
            Err(message) => self.complain(sink, Complaint::damaged(place, message)),
            Ok(post) => {
                for media in post.media {
                    self.batch.offer(media.weight(), || media.at(&place));
                }
                if !self.tell {
                    return Ok(());
                }
                sink.record(Draft { stream: "posts".to_owned(), key: post.key, data: post.data, place })
            }
        }
    }

    fn complain(&self, sink: &mut dyn Sink, complaint: Complaint) -> Result<(), Stop> {
        if self.tell { sink.complain(complaint) } else { Ok(()) }
    }
}

fn read_actor(tree: &mut dyn Tree, files: &Files, sink: &mut dyn Sink) -> Result<Actor, Stop> {
    let Some(index) = files.find(tree, "actor.json") else { return Ok(Actor::default()) };
    let place = tree.entries()[index].path.clone();
    let json = match read_whole(tree, index, ACTOR) {
        Ok(json) => json,
        Err(error) => {
            sink.complain(Complaint::unreadable(place, &error))?;
            return Ok(Actor::default());
        }
    };
    let Some(actor) = Actor::parse(&json) else {
        sink.complain(Complaint::damaged(place, "Is no actor: `id` or `preferredUsername` is missing."))?;
        return Ok(Actor::default());
    };
    let (key, data) = actor.profile();
    sink.record(Draft { stream: "profile".to_owned(), key, data, place })?;
    Ok(actor)
}

fn is_outbox(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    head.trim_start_matches('\u{feff}').trim_start().starts_with('{')
        && head.contains("\"OrderedCollection\"")
        && (head.contains("activitystreams") || head.contains("\"orderedItems\""))
}

/// What of a folder with an outbox is part of the archive.
fn belongs(below: &str) -> bool {
    matches!(below, "actor.json" | "likes.json" | "bookmarks.json")
        || below.starts_with("media_attachments/")
        || !below.contains('/') && (below.starts_with("avatar.") || below.starts_with("header."))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The nearest folder above a path that passes a test, and the path below it.
fn nearest(path: &str, test: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let mut above = folder(path);
    loop {
        if test(above) {
            let below = if above.is_empty() { path } else { &path[above.len() + 1..] };
            return Some((above, below));
        }
        if above.is_empty() {
            return None;
        }
        above = folder(above);
    }
}

#[cfg(test)]
mod tests;
