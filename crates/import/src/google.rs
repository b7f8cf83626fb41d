//! Google Takeout: notes, places, activity and chats.
//!
//! Folders and files have translated names, so what a file is follows from how it begins. Mail, calendars and
//! contacts in the same archive belong to the formats of those names and are left to them.

mod activity;
mod attached;
mod chat;
mod dates;
mod each;
mod hangouts;
mod keep;
mod kind;
mod places;
mod points;
mod seen;
mod semantic;
mod timeline;
mod values;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use pdpp_wire::manifest::Manifest;
use serde_json::Value;

use self::attached::Files;
use self::kind::Kind;
use self::seen::Seen;
use crate::{Claim, Complaint, Format, Look, Sink, Stop, Tree, file_name};

/// Archives from Google Takeout.
#[derive(Debug)]
pub(crate) struct Takeout;

/// How many JSON files of one folder are looked at before the folder is given up.
const LOOKS: usize = 16;

impl Format for Takeout {
    fn name(&self) -> &'static str {
        "google"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        let mut kinds: BTreeSet<Kind> = BTreeSet::new();
        let mut entries = Vec::new();
        // A folder of notes or of a chat belongs to the export with everything in it.
        let mut whole: HashSet<String> = HashSet::new();
        let mut looked: HashMap<String, usize> = HashMap::new();
        let mut candidates = look.find(kind::could_be);
        candidates.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
        for index in candidates {
            let path = look.path(index).to_owned();
            let folder = folder(&path).to_owned();
            let missed = looked.entry(folder.clone()).or_default();
            if whole.contains(&folder) || *missed >= LOOKS {
                continue;
            }
            let Some(kind) = Kind::of(&path, &look.head(index, kind::HEAD)) else {
                *missed += 1;
                continue;
            };
            kinds.insert(kind);
            if kind.has_folder() {
                whole.insert(folder);
            } else {
                entries.push(index);
            }
        }
        if !whole.is_empty() {
            let others = |path: &str| whole.contains(folder(path)) && !left_to_others(path);
            entries.extend(look.find(others));
        }
        entries.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
        entries.dedup();
        if entries.is_empty() {
            return Vec::new();
        }
        let account = account(look);
        entries.extend(look.find(|path| file_name(path) == "archive_browser.html"));
        let mut found: Vec<&str> = Vec::new();
        for words in kinds.iter().map(|kind| kind.words()) {
            if !found.contains(&words) {
                found.push(words);
            }
        }
        vec![Claim { entries, account, found: found.join(", ") }]
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/google.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let files = Files::new(tree, &claim.entries);
        let mut seen = Seen::default();
        for entry in &claim.entries {
            let path = tree.entries()[*entry].path.clone();
            if !kind::could_be(&path) {
                continue;
            }
            let head = match head(tree, *entry) {
                Ok(head) => head,
                Err(error) => {
                    sink.complain(Complaint::unreadable(path, &error))?;
                    continue;
                }
            };
            match Kind::of(&path, &head) {
                Some(Kind::Note) => keep::read(tree, *entry, &files, &mut seen, sink)?,
                Some(Kind::Records) => points::read(tree, *entry, sink)?,
                Some(Kind::Semantic) => semantic::read(tree, *entry, &mut seen, sink)?,
                Some(Kind::Timeline) => timeline::read_android(tree, *entry, &mut seen, sink)?,
                Some(Kind::PhoneTimeline) => timeline::read_iphone(tree, *entry, &mut seen, sink)?,
                Some(Kind::Activity) => activity::read(tree, *entry, &mut seen, sink)?,
                Some(Kind::ChatGroup) => chat::read_group(tree, *entry, sink)?,
                Some(Kind::ChatMessages) => chat::read_messages(tree, *entry, &files, &mut seen, sink)?,
                Some(Kind::Hangouts) => hangouts::read(tree, *entry, &mut seen, sink)?,
                Some(Kind::Page) => {
                    let message = "Activity as a web page is not read: in Takeout, choose JSON for it.";
                    sink.complain(Complaint::damaged(path, message))?;
                }
                None if path.to_ascii_lowercase().ends_with(".json") => {
                    sink.complain(Complaint::damaged(path, "It is not what the files beside it are."))?;
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn left_to_others(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(end.as_str(), "mbox" | "ics" | "vcf" | "eml")
}

fn head(tree: &mut dyn Tree, entry: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(tree.open(entry)?, kind::HEAD), &mut head)?;
    Ok(head)
}

/// Whose archive it is, if its profile says so.
fn account(look: &mut Look<'_>) -> Option<String> {
    let named = |path: &str| file_name(path) == "Profile.json" || file_name(path) == "user_info.json";
    let mut candidates = look.find(named);
    candidates
        .sort_by_key(|index| (file_name(look.path(*index)) != "Profile.json", look.path(*index).to_owned()));
    candidates.into_iter().take(4).find_map(|index| {
        let profile: Value = serde_json::from_slice(&look.whole(index, 1 << 20)?).ok()?;
        let address = profile.pointer("/emails/0/value").or(profile.pointer("/user/email"))?;
        address.as_str().map(str::trim).filter(|address| address.contains('@')).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests;
