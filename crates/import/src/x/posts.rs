//! All posts: the owner's, those in communities, those deleted, and the long ones.

use super::media::{self, Waiting};
use super::notes::Notes;
use super::post::{self, Shelf};
use super::{Archive, script, tell};
use crate::batch::Batch;
use crate::members::put;
use crate::{Complaint, Sink, Stop, Tree};

const SHELVES: [(&str, Shelf); 4] = [
    ("tweet", Shelf::Posts),
    ("tweets", Shelf::Posts),
    ("community-tweet", Shelf::Community),
    ("deleted-tweets", Shelf::Deleted),
];

pub(super) fn read(tree: &mut dyn Tree, archive: &mut Archive, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut notes = Notes::read(tree, &archive.files, &archive.me, sink)?;
    for (name, shelf) in SHELVES {
        let mut next = Some(Batch::first());
        let mut first = true;
        while let Some(mut batch) = next.take() {
            read_shelf(tree, archive, (name, shelf), first.then_some(&mut notes), &mut batch, sink)?;
            first = false;
            let (waiting, more) = batch.finish();
            next = more;
            for one in waiting {
                media::attach(tree, &mut archive.files, one, sink)?;
            }
        }
    }
    notes.tell_unused(&archive.me, sink)
}

/// Reads one script of posts. Without notes it is a second reading, for media alone.
fn read_shelf(
    tree: &mut dyn Tree,
    archive: &mut Archive,
    (name, shelf): (&str, Shelf),
    mut notes: Option<&mut Notes>,
    batch: &mut Batch<Waiting>,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let Archive { files, names, me } = archive;
    script::read(tree, files, name, notes.is_some(), sink, &mut |item, sink| {
        let mut post = match post::read(&item.value, shelf, me) {
            Ok(post) => post,
            Err(_) if notes.is_none() => return Ok(()),
            Err(message) => return sink.complain(Complaint::damaged(item.place, message)),
        };
        let tweet = item.value.get("tweet").unwrap_or(&item.value);
        for entity in post::media(tweet) {
            let waiting = Waiting::of_post(entity, &post.id, post.created.as_deref(), item.place);
            batch.offer(waiting.weight(), || waiting);
        }
        let Some(notes) = notes.as_deref_mut() else { return Ok(()) };
        for (id, username) in post::people(&item.value) {
            names.learn(id, username);
        }
        if let Some(whole) = notes.whole_text(&post.text, post.second) {
            put(&mut post.data, "text", Some(whole));
            put(&mut post.data, "long", Some(true));
        }
        tell(sink, "posts", post.key, post.data, item.place)
    })
}
