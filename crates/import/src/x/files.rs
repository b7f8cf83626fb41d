//! The files of one archive, and the media among them.

use crate::media_type::media_type_of;
use crate::members::put;
use crate::{Attachment, Claim, Complaint, Sink, Stop, Tree, file_name, mint_key};
use serde_json::{Map, Value};

/// What a folder of media belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Post,
    Message,
    Profile,
}

/// Folders of media. Each file is called after the number of its post or message.
pub(super) const MEDIA: [(&str, Owner); 9] = [
    ("tweets_media", Owner::Post),
    ("tweet_media", Owner::Post),
    ("deleted_tweets_media", Owner::Post),
    ("community_tweet_media", Owner::Post),
    ("direct_messages_media", Owner::Message),
    ("direct_messages_group_media", Owner::Message),
    ("direct_message_media", Owner::Message),
    ("direct_message_group_media", Owner::Message),
    ("profile_media", Owner::Profile),
];

/// The files of a claim by name. Paths stay in the tree: an archive may hold a million files.
#[derive(Debug)]
pub(super) struct Files {
    scripts: Vec<usize>,
    /// In the order of their names, and whether each was told of.
    media: Vec<(usize, bool)>,
}

impl Files {
    pub(super) fn new(tree: &dyn Tree, claim: &Claim) -> Self {
        let path = |index: &usize| tree.entries()[*index].path.as_str();
        let owned = |index: &usize| owner(path(index)).is_some();
        let mut media: Vec<(usize, bool)> =
            claim.entries.iter().filter(|index| owned(index)).map(|index| (*index, false)).collect();
        media.sort_by(|(a, _), (b, _)| (file_name(path(a)), path(a)).cmp(&(file_name(path(b)), path(b))));
        Self { scripts: claim.entries.iter().filter(|index| !owned(index)).copied().collect(), media }
    }

    /// All parts of a script, in their order.
    pub(super) fn scripts(&self, tree: &dyn Tree, name: &str) -> Vec<usize> {
        let named = |index: &&usize| base_name(file_name(&tree.entries()[**index].path)) == Some(name);
        let mut parts: Vec<usize> = self.scripts.iter().filter(named).copied().collect();
        parts.sort_by_key(|index| part_number(file_name(&tree.entries()[*index].path)));
        parts
    }

    /// The first of some names that is there.
    pub(super) fn find_media(&self, tree: &dyn Tree, owner_id: &str, names: &[String]) -> Option<usize> {
        names.iter().find_map(|name| {
            let wanted = format!("{owner_id}-{name}");
            let name_of = |index: usize| file_name(&tree.entries()[index].path);
            self.media.binary_search_by(|(index, _)| name_of(*index).cmp(&wanted)).ok()
        })
    }

    /// Takes the bytes of a file and puts what is then known of it.
    pub(super) fn attach(
        &mut self,
        tree: &mut dyn Tree,
        position: usize,
        key: &str,
        data: &mut Map<String, Value>,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        self.media[position].1 = true;
        let path = tree.entries()[self.media[position].0].path.clone();
        let name = file_name(&path);
        let media_type = media_type_of(name);
        put(data, "name", Some(name));
        put(data, "media_type", Some(media_type));
        let attachment = Attachment { stream: "media", key, name: Some(name), media_type };
        let attached = match tree.open(self.media[position].0) {
            Ok(mut bytes) => sink.attach(&attachment, &mut bytes)?,
            Err(error) => {
                sink.complain(Complaint::unreadable(&path, &error))?;
                None
            }
        };
        if let Some(attached) = attached {
            put(data, "size_bytes", Some(attached.size_bytes));
            put(data, "sha256", Some(attached.sha256.as_str()));
            put(data, "text", attached.text.as_deref());
            put(data, "blob_ref", Some(attached.blob_ref()));
        }
        Ok(())
    }

    /// Media that nothing named: their file name says which post or message they belong to.
    pub(super) fn tell_leftovers(&mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        for position in 0..self.media.len() {
            let (index, told) = self.media[position];
            if told {
                continue;
            }
            let path = tree.entries()[index].path.clone();
            let (name, owner) = (file_name(&path), owner(&path));
            let number = name.split_once('-').map(|(number, _)| number);
            let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
            let key = mint_key(name);
            let mut data = Map::new();
            put(&mut data, "id", Some(key.as_str()));
            put(&mut data, "post_id", number.filter(|_| owner == Some(Owner::Post)));
            put(&mut data, "message_id", number.filter(|_| owner == Some(Owner::Message)));
            let kind = match media_type_of(name).split('/').next() {
                _ if owner == Some(Owner::Profile) => "profile",
                Some("image") => "photo",
                Some("video") => "video",
                _ => "file",
            };
            put(&mut data, "kind", Some(kind));
            put(
                &mut data,
                "created_at",
                number.filter(|_| owner != Some(Owner::Profile)).and_then(super::stamps::of_number),
            );
            self.attach(tree, position, &key, &mut data, sink)?;
            super::tell(sink, "media", key, data, &path)?;
        }
        Ok(())
    }
}

fn owner(path: &str) -> Option<Owner> {
    let folder = path.rsplit('/').nth(1)?;
    MEDIA.iter().find(|(name, _)| *name == folder).map(|(_, owner)| *owner)
}

/// The name of a script without its number: `tweets-part1.js` is `tweets`.
pub(super) fn base_name(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".js")?;
    Some(match stem.rsplit_once("-part") {
        Some((base, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => stem,
    })
}

fn part_number(name: &str) -> u32 {
    let stem = name.strip_suffix(".js").unwrap_or(name);
    stem.rsplit_once("-part").and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}
