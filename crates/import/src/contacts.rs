//! Contacts in the vCard format (`.vcf`), versions 2.1 to 4.0, from any program.
//!
//! Two passes: one person often lies in several files of an export (all contacts, and again each group), so the
//! first learns which copy counts and the second gives records. Neither holds more than one card.

mod card;
mod dates;
mod names;
mod photos;
mod survey;

use std::collections::HashMap;
use std::io;

use pdpp_wire::manifest::Manifest;

use self::card::describe;
use self::photos::{Loose, attach_loose, photos};
use self::survey::Survey;
use crate::calendar::begins_with;
use crate::content_lines::{Components, Found};
use crate::tree::open_buffered;
use crate::{Claim, Complaint, Draft, Format, Look, Sink, Stop, Tree, file_name, stem};

/// vCard files.
#[derive(Debug)]
pub(crate) struct Vcf;

impl Format for Vcf {
    fn name(&self) -> &'static str {
        "contacts"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        let alone = look.unclaimed().count() == 1;
        let named = |path: &str| {
            let end = path.rsplit('.').next().unwrap_or_default();
            ["vcf", "vcard"].iter().any(|known| end.eq_ignore_ascii_case(known))
        };
        let mut cards = look.find(|path| alone || named(path));
        cards.retain(|index| begins_with(&look.head(*index, 512), b"BEGIN:VCARD"));
        cards.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
        let found = match cards.len() {
            0 => return Vec::new(),
            1 => "1 address book".to_owned(),
            count => format!("{count} address books"),
        };
        // Google lays pictures beside the file of a group, in a folder of the group's own name.
        let folders: Vec<String> =
            cards.iter().filter_map(|index| picture_folder(look.path(*index))).collect();
        let pictures = |path: &str| {
            is_picture(path)
                && folders.iter().any(|folder| path.rsplit_once('/').is_some_and(|(f, _)| f == folder))
        };
        let mut pictures = if folders.is_empty() { Vec::new() } else { look.find(pictures) };
        pictures.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
        cards.extend(pictures);
        vec![Claim { entries: cards, account: None, found }]
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/contacts.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut survey = Survey::default();
        let (pictures, cards): (Vec<usize>, Vec<usize>) =
            claim.entries.iter().partition(|entry| is_picture(&tree.entries()[**entry].path));
        for entry in &cards {
            // What cannot be read is told by the second pass.
            let Ok(bytes) = open_buffered(tree, *entry) else { continue };
            let mut components = Components::new(bytes, None);
            while let Ok(Some(found)) = components.next() {
                if let Found::Component(card) = found {
                    survey.look(&card);
                }
            }
        }
        survey.rewind();
        for entry in &cards {
            let loose = file(tree, *entry, &pictures, &mut survey, sink)?;
            loose.into_iter().try_for_each(|picture| attach_loose(tree, &picture, sink))?;
        }
        Ok(())
    }
}

fn is_picture(path: &str) -> bool {
    photos::media_type_of_name(path).is_some()
}

/// The folder of a file that bears the folder's name.
fn picture_folder(path: &str) -> Option<String> {
    let (folder, _) = path.rsplit_once('/')?;
    (file_name(folder) == stem(path)).then(|| folder.to_owned())
}

/// Reads one file; gives back the pictures that lie beside it.
fn file(
    tree: &mut dyn Tree,
    entry: usize,
    pictures: &[usize],
    survey: &mut Survey,
    sink: &mut dyn Sink,
) -> Result<Vec<Loose>, Stop> {
    let path = tree.entries()[entry].path.clone();
    let mut beside: HashMap<String, usize> = HashMap::new();
    if let Some(folder) = picture_folder(&path) {
        let here = pictures.iter().map(|index| (*index, tree.entries()[*index].path.as_str()));
        let here = here.filter(|(_, path)| path.rsplit_once('/').is_some_and(|(f, _)| f == folder));
        beside.extend(here.map(|(index, path)| (stem(path).to_owned(), index)));
    }
    let mut loose = Vec::new();
    let bytes = match open_buffered(tree, entry) {
        Ok(bytes) => bytes,
        Err(error) => {
            sink.complain(Complaint::unreadable(path, &error))?;
            return Ok(loose);
        }
    };
    let mut components = Components::new(bytes, None);
    loop {
        let card = match components.next() {
            Ok(Some(Found::Component(card))) => card,
            Ok(Some(Found::Fault(line, fault))) => {
                sink.complain(Complaint::damaged(format!("{path} line {line}"), fault.message()))?;
                continue;
            }
            Ok(Some(_)) => continue,
            Ok(None) => return Ok(loose),
            Err(error) => {
                sink.complain(Complaint::unreadable(path, &error))?;
                return Ok(loose);
            }
        };
        let place = format!("{path} line {}", card.line);
        if card.name != "VCARD" {
            sink.complain(Complaint::damaged(place, "An entry that is no contact was left out."))?;
            continue;
        }
        let Some(key) = survey.key(&card) else { continue };
        let mut data = describe(&card, &key);
        if data.len() <= 1 {
            sink.complain(Complaint::damaged(place, "The contact says nothing; it was left out."))?;
            continue;
        }
        let mut outcome = photos(&card, &key, &data, &place, sink)?;
        let name = data.get("full_name").and_then(serde_json::Value::as_str);
        // The first of two people of one name has the picture.
        let picture = if outcome.kept { None } else { name.and_then(|name| beside.remove(name)) };
        data.insert("has_photo".to_owned(), (outcome.kept || picture.is_some()).into());
        if let Some(entry) = picture {
            loose.push(Loose { entry, photo: outcome.take_link(&key, &data) });
        }
        sink.record(Draft { stream: "contacts".to_owned(), key, data, place })?;
        outcome.drafts.into_iter().try_for_each(|draft| sink.record(draft))?;
    }
}

#[cfg(test)]
mod tests;
