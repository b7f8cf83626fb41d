//! The export of a Slack workspace, as a zip or unpacked: lists of people and conversations at its root, and a folder
//! for each conversation with one file per day.
//!
//! The export names files by links only. Tools that fetch them put them into `__uploads/` or `attachments/`, where
//! they are found again by the file's id.

mod blocks;
mod channels;
mod directory;
mod files;
mod layout;
mod logs;
mod message;
mod people;
mod text;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use pdpp_wire::manifest::Manifest;

use crate::chat::{Fields, Flow, Seen, Waiting, each_element};
use crate::slack::channels::Channel;
use crate::slack::directory::Directory;
use crate::slack::layout::Part;
use crate::{Claim, Complaint, Draft, Format, Look, Sink, Stop, Tree, mint_key};

/// Reads Slack exports.
#[derive(Debug)]
pub(crate) struct Slack;

impl Format for Slack {
    fn name(&self) -> &'static str {
        "slack"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        let roots = layout::roots(look);
        if roots.is_empty() {
            return Vec::new();
        }
        // Sorted by part and path, so that people are known before their messages and days follow each other.
        let mut parts: BTreeMap<String, Vec<(u8, String, usize)>> = BTreeMap::new();
        for (index, entry) in look.unclaimed() {
            if let Some((root, part)) = layout::place(&entry.path, &roots) {
                parts.entry(root.to_owned()).or_default().push((part.rank(), entry.path.clone(), index));
            }
        }
        parts
            .into_iter()
            .map(|(root, mut parts)| {
                parts.sort();
                let folders: HashSet<&str> =
                    parts.iter().filter_map(|(_, path, _)| layout::day_folder(&path[root.len()..])).collect();
                let found = match folders.len() {
                    1 => "1 conversation".to_owned(),
                    many => format!("{many} conversations"),
                };
                Claim {
                    found,
                    account: None,
                    entries: parts.into_iter().map(|(_, _, index)| index).collect(),
                }
            })
            .collect()
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/slack.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        Reading::new(tree, claim).run(tree, sink)
    }
}

struct Reading {
    parts: Vec<(usize, String, Part)>,
    /// Which entry holds the bytes of a file. Only what was fetched beside the export stands here.
    uploads: HashMap<String, usize>,
    waiting: Waiting,
    directory: Directory,
    seen: Seen,
}

impl Reading {
    fn new(tree: &dyn Tree, claim: &Claim) -> Self {
        let entries = tree.entries();
        // A claim begins with a list, and lists stand at the root.
        let first = claim.entries.first().map_or("", |first| entries[*first].path.as_str());
        let root = first.rfind('/').map_or(0, |slash| slash + 1);
        let (mut parts, mut uploads) = (Vec::new(), HashMap::new());
        for index in &claim.entries {
            let path = &entries[*index].path;
            match path.get(root..).and_then(layout::part_of) {
                Some(Part::Upload { file_id }) => {
                    uploads.entry(file_id).or_insert(*index);
                }
                Some(part) => parts.push((*index, path.clone(), part)),
                None => {}
            }
        }
        let waiting = Waiting::new(tree, &[]);
        Self { parts, uploads, waiting, directory: Directory::default(), seen: Seen::default() }
    }

    fn run(mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut folder_before = String::new();
        for (index, path, part) in std::mem::take(&mut self.parts) {
            match part {
                Part::People => people::read(tree, index, &path, &mut self.directory, sink)?,
                Part::Conversations(kind) => {
                    channels::read(tree, (index, &path), kind, &mut self.directory, sink)?;
                }
                Part::Logs => logs::read(tree, index, &path, &self.directory, sink)?,
                Part::Documents => self.documents(tree, index, &path, sink)?,
                Part::Day { folder } => {
                    let channel = match self.directory.folder(&folder) {
                        Some(channel) => channel.clone(),
                        None => channels::unlisted(&folder, &path, &mut self.directory, sink)?,
                    };
                    if folder != folder_before {
                        self.seen.clear();
                        folder_before = folder;
                    }
                    self.day(tree, (index, &path), &channel, sink)?;
                }
                Part::Upload { .. } => {}
            }
        }
        self.workspace(sink)
    }

    /// Canvases and lists: files that belong to no message.
    fn documents(
        &mut self,
        tree: &mut dyn Tree,
        index: usize,
        path: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut after = 0;
        loop {
            let Self { uploads, waiting, directory, .. } = self;
            let paused = each_element(tree, index, after, sink, |number, file, sink| {
                let place = format!("{path} element {number}");
                match files::draft(file, None, directory, place.clone()) {
                    Some(draft) => files::give(draft, uploads, waiting, sink)?,
                    None => sink.complain(Complaint::damaged(place, "`id` is missing."))?,
                }
                Ok(if waiting.full() { Flow::Pause } else { Flow::On })
            })?;
            self.waiting.flush(tree, sink)?;
            match paused {
                Some(number) => after = number,
                None => return Ok(()),
            }
        }
    }

    fn day(
        &mut self,
        tree: &mut dyn Tree,
        (index, path): (usize, &str),
        channel: &Channel,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut after = 0;
        loop {
            let Self { uploads, waiting, directory, seen, .. } = self;
            let paused = each_element(tree, index, after, sink, |number, value, sink| {
                let place = format!("{path} message {number}");
                let message = match message::read(value, channel, directory) {
                    Ok(message) => message,
                    Err(problem) => {
                        sink.complain(Complaint::damaged(place, problem))?;
                        return Ok(Flow::On);
                    }
                };
                if !seen.first_time(message.micros) {
                    sink.complain(Complaint::damaged(place, "`ts` was used before in this conversation."))?;
                    return Ok(Flow::On);
                }
                let drafts: Vec<Draft> = files::of_message(value, &message.key, channel, directory, &place);
                sink.record(message.fields.draft("messages", &message.key, place))?;
                for draft in drafts {
                    files::give(draft, uploads, waiting, sink)?;
                }
                Ok(if waiting.full() { Flow::Pause } else { Flow::On })
            })?;
            self.waiting.flush(tree, sink)?;
            match paused {
                Some(number) => after = number,
                None => return Ok(()),
            }
        }
    }

    fn workspace(&self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(team) = self.directory.workspace() else {
            return Ok(());
        };
        let key = mint_key(team);
        let mut fields = Fields::new(&key);
        let domain = self.directory.domain.as_deref();
        fields.put("name", domain.unwrap_or(team));
        fields.maybe("domain", domain);
        fields.maybe("url", domain.map(|domain| format!("https://{domain}.slack.com")));
        sink.record(fields.draft("workspaces", &key, "users.json".into()))
    }
}

#[cfg(test)]
mod tests;
