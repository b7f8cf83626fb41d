//! One note as a record, and its links.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::attachments::Attachments;
use super::front_matter::{self, Split};
use super::markdown::{self, Found, Link, links_of_properties};
use super::paths::{is_markdown, name_of, shown_folder, split_notion_id};
use super::vault::{File, FileNumber, Vault};
use super::{dates, front_matter::split};
use crate::decoding::decode;
use crate::members::Fields;
use crate::tree::read_whole;
use crate::{Complaint, Sink, Stop, Tree, hash_key, stem};

/// Most bytes of one note. A text of bare control characters takes six times that as JSON, and must still fit.
const LONGEST: u64 = 8 << 20;

/// Gives the notes of a vault.
pub(super) struct Notes<'a> {
    pub(super) vault: &'a Vault,
    pub(super) attachments: &'a mut Attachments,
}

impl Notes<'_> {
    pub(super) fn give(mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        // Pages of Notion are known by an id that two files could have; other notes by their path, and equal paths
        // stand next to each other.
        let mut pages: HashSet<u128> = HashSet::new();
        let mut before: Option<&str> = None;
        for (number, file) in self.vault.files().iter().enumerate() {
            if !file.is_note {
                continue;
            }
            let place = tree.entries()[file.entry].path.clone();
            let page = split_notion_id(stem(&file.path)).1.and_then(|id| u128::from_str_radix(id, 16).ok());
            let is_new = page.is_none_or(|page| pages.insert(page)) && before != Some(file.path.as_str());
            before = Some(&file.path);
            if !is_new {
                sink.complain(Complaint::damaged(
                    place,
                    "A note of this name or id came before; the first was kept.",
                ))?;
                continue;
            }
            match read_whole(tree, file.entry, LONGEST) {
                Ok(bytes) => self.note(number, file, &bytes, &place, sink)?,
                Err(error) => sink.complain(Complaint::unreadable(place, &error))?,
            }
        }
        Ok(())
    }

    fn note(
        &mut self,
        number: FileNumber,
        file: &File,
        bytes: &[u8],
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let (text, assumed_encoding) = decode(bytes);
        let is_markdown = is_markdown(&file.path);
        let (split, mut found) = if is_markdown {
            let split = split(&text);
            let found = markdown::read(split.markdown);
            (split, found)
        } else {
            (Split { front_matter: None, body: &text, markdown: "", fault: None }, Found::default())
        };
        if let Some(fault) = split.fault {
            let message =
                format!("The front matter cannot be read: {}. The note was kept whole.", fault.problem);
            sink.complain(Complaint::damaged(format!("{place} line {}", fault.line), message))?;
        }
        let properties = split.front_matter.unwrap_or_default();
        properties.values().for_each(|value| links_of_properties(value, &mut found.links));
        let key = file.key();
        let mut fields = Fields::default();
        fields.put("id", key.as_str());
        fields.put("title", title(&properties, &found, &file.path));
        fields.put("body", split.body);
        fields.put("path", file.path.as_str());
        fields.put("folder", shown_folder(&file.path));
        fields.put("format", if is_markdown { "markdown" } else { "text" });
        let (created_at, updated_at) = dates::dates(&properties);
        fields.put_some("created_at", created_at);
        fields.put_some("updated_at", updated_at.as_deref());
        let tags = tags(&properties, &found);
        let aliases = front_matter::words(&properties, &["aliases", "alias"], &[',']);
        let labels: Vec<&str> = tags.iter().chain(&aliases).map(String::as_str).collect();
        fields.put_some("labels", (!labels.is_empty()).then(|| labels.join("\n")));
        fields.put_list("tags", tags.into_iter().map(Value::from).collect());
        fields.put_list("aliases", aliases.into_iter().map(Value::from).collect());
        let headings = found.headings.iter().map(|(level, text)| json!({"level": level, "text": text}));
        fields.put_list("headings", headings.collect());
        fields.put_list("links", targets(&found.links));
        fields.put("word_count", word_count(split.body));
        if found.open_tasks + found.done_tasks > 0 {
            fields.put("open_tasks", found.open_tasks);
            fields.put("done_tasks", found.done_tasks);
        }
        if !properties.is_empty() {
            fields.put("front_matter", properties);
        }
        fields.put_some("notion_id", split_notion_id(stem(&file.path)).1);
        fields.put_some("assumed_encoding", assumed_encoding);
        sink.record(fields.into_draft("notes", &key, place))?;
        self.links(number, &key, &found.links, updated_at.as_deref(), place, sink)
    }

    fn links(
        &mut self,
        from: FileNumber,
        note: &str,
        links: &[Link],
        updated_at: Option<&str>,
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut alike: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
        for link in links {
            let nth = alike.entry((link.kind, &link.target, link.anchor.as_deref())).or_default();
            *nth += 1;
            let anchor = link.anchor.as_deref().unwrap_or_default();
            let key = hash_key(&[note, link.kind, &link.target, anchor, &nth.to_string()]);
            let found = if link.is_external { None } else { self.vault.find(&link.target, from) };
            let mut fields = Fields::default();
            fields.put("id", key.as_str());
            fields.put("from_note_id", note);
            fields.put("kind", link.kind);
            fields.put("target", link.target.as_str());
            fields.put_some("anchor", link.anchor.as_deref());
            fields.put_some("text", Some(link.text.trim()).filter(|text| !text.is_empty()));
            fields.put("is_external", link.is_external);
            if let Some(number) = found {
                let file = &self.vault.files()[number];
                fields.put("to_path", file.path.as_str());
                fields.put(if file.is_note { "to_note_id" } else { "to_attachment_id" }, file.key());
                if !file.is_note {
                    self.attachments.shown(number, note, updated_at);
                }
            }
            fields.put_some("updated_at", updated_at);
            sink.record(fields.into_draft("links", &key, place))?;
        }
        Ok(())
    }
}

/// What a note is called: by its front matter, by its first heading of the first level, or by its file.
fn title(properties: &Map<String, Value>, found: &Found, path: &str) -> String {
    let heading = || found.headings.iter().find(|(level, _)| *level == 1).map(|(_, text)| text.clone());
    front_matter::text(properties, "title").or_else(heading).unwrap_or_else(|| name_of(path).to_owned())
}

/// The tags of the front matter and of the text, each once.
fn tags(properties: &Map<String, Value>, found: &Found) -> Vec<String> {
    let declared = front_matter::words(properties, &["tags", "tag"], &[',', ' ']);
    let declared = declared.iter().map(|tag| tag.trim_start_matches('#'));
    let mut known = HashSet::new();
    let all = declared.chain(found.tags.iter().map(String::as_str));
    all.filter(|tag| !tag.is_empty() && known.insert(*tag)).map(str::to_owned).collect()
}

/// Where the links lead, each target once.
fn targets(links: &[Link]) -> Vec<Value> {
    let mut known = HashSet::new();
    let targets = links.iter().map(|link| link.target.as_str());
    targets.filter(|target| known.insert(*target)).map(Value::from).collect()
}

fn word_count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}
