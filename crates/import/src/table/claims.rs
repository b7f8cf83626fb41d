//! Which files are tables, and which belong together.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::decoding::decode_head;
use super::dialect::{Dialect, SAMPLE, is_text};
use super::names::slug;
use super::rows::Writing;
use crate::{Claim, Look, Tree, file_name, stem};

/// Most files of one folder that are taken; a manifest admits 512 streams.
const MOST_FILES: usize = 500;
/// Most files that are looked into, everything together.
const MOST_LOOKS: usize = 20_000;
/// How much of each file is looked at.
const HEAD: u64 = SAMPLE;

pub(super) fn claim(look: &mut Look<'_>, writing: Writing) -> Vec<Claim> {
    let mut folders: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    let candidates =
        look.find(|path| extensions(writing).contains(&extension(path).as_str()) && !is_hidden(path));
    for index in candidates.into_iter().take(MOST_LOOKS) {
        let folder = folder(look.path(index)).to_owned();
        if folders.get(&folder).is_some_and(|files| files.len() >= MOST_FILES) {
            continue;
        }
        let head = look.head(index, HEAD);
        let whole = (head.len() as u64) < HEAD;
        let name = file_name(look.path(index)).to_owned();
        let is_lines = writing == Writing::JsonLines && extension(&name) != "json";
        if let Some(found) = look_at(&decode_head(&head), whole, writing, is_lines) {
            folders.entry(folder).or_default().push((index, format!("{name}: {found}")));
        }
    }
    folders.into_iter().map(|(folder, files)| gather(look, &folder, files)).collect()
}

/// Files of one folder in the order of their names, so that streams keep their names.
fn gather(look: &Look<'_>, folder: &str, mut files: Vec<(usize, String)>) -> Claim {
    files.sort_by(|(a, _), (b, _)| look.path(*a).cmp(look.path(*b)));
    let found = match files.as_slice() {
        [(_, only)] => only.clone(),
        [(_, first), (_, second)] => format!("{first}; {second}"),
        [(_, first), rest @ ..] => {
            let place = if folder.is_empty() { String::new() } else { format!(" in {}", file_name(folder)) };
            format!("{first}; and {} more tables{place}", rest.len())
        }
        [] => String::new(),
    };
    Claim { entries: files.into_iter().map(|(index, _)| index).collect(), account: None, found }
}

/// What a file is, told from its beginning; `None` when it is no table of this writing. `is_lines` when its name says
/// that it holds lines.
fn look_at(head: &str, whole: bool, writing: Writing, is_lines: bool) -> Option<String> {
    if !is_text(head) {
        return None;
    }
    match writing {
        Writing::Separated => {
            let columns = Dialect::of(head, whole)?.names.len();
            Some(format!("{columns} column{}", if columns == 1 { "" } else { "s" }))
        }
        Writing::JsonLines => {
            let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
            let first = lines.next()?;
            if is_lines && !whole && head.trim_start().len() <= first.len() && first.starts_with("{\"") {
                return Some("one object per line".to_owned());
            }
            let first: Map<String, Value> = serde_json::from_str(first).ok()?;
            // One object on one line may as well be a JSON file; then its name decides.
            let is_more = lines.next().is_some_and(|line| line.starts_with('{'));
            let taken = (is_more || is_lines) && !is_envelope(&first);
            taken.then(|| format!("one object per line, {} members in the first", first.len()))
        }
        Writing::Json => {
            let text = head.trim_start();
            let after = text.get(1..)?.trim_start();
            match (text.as_bytes().first()?, after.as_bytes().first()) {
                (b'[', Some(b'{')) => Some("a list of objects".to_owned()),
                (b'{', Some(b'"')) => Some("an object".to_owned()),
                _ => None,
            }
        }
    }
}

/// Lines that are records already come with a manifest of their own.
fn is_envelope(first: &Map<String, Value>) -> bool {
    let known = |name: &String| matches!(name.as_str(), "stream" | "key" | "data" | "emitted_at" | "op");
    first.contains_key("key")
        && (first.contains_key("data") || first.contains_key("op"))
        && first.keys().all(known)
}

/// The key and the name of a claim's connector. A file alone is called after itself, several after their folder; the
/// whole path tells two of the same name apart.
pub(super) fn names(tree: &dyn Tree, claim: &Claim, format: &str) -> (String, String) {
    let path = |index: usize| tree.entries()[index].path.as_str();
    let Some(first) = claim.entries.first().map(|index| path(*index)) else {
        return ("files".to_owned(), "Files".to_owned());
    };
    let above = folder(first);
    let (short, long, display) = match claim.entries.len() {
        1 => (file_name(first).to_owned(), first.to_owned(), file_name(first).to_owned()),
        _ if above.is_empty() => {
            (format!("folder {format}"), format!("folder {format}"), format!("Tables ({format})"))
        }
        _ => (
            format!("{} {format}", file_name(above)),
            format!("{above} {format}"),
            format!("{} ({format})", file_name(above)),
        ),
    };
    let plain = slug(&short);
    let clashes = tree.entries().iter().enumerate().any(|(index, entry)| {
        let other = entry.path.as_str();
        let is_table = ALL_EXTENSIONS.contains(&extension(other).as_str());
        is_table
            && !claim.entries.contains(&index)
            && (slug(file_name(other)) == plain
                || folder(other) != above && slug(&format!("{} {format}", file_name(folder(other)))) == plain)
    });
    let key = if clashes { slug(&long) } else { plain };
    (format!("files-{key}"), display)
}

const ALL_EXTENSIONS: [&str; 7] = ["csv", "tsv", "tab", "json", "geojson", "jsonl", "ndjson"];

fn extensions(writing: Writing) -> &'static [&'static str] {
    match writing {
        Writing::Separated => &["csv", "tsv", "tab"],
        Writing::Json => &["json", "geojson"],
        Writing::JsonLines => &["jsonl", "ndjson", "json"],
    }
}

fn extension(path: &str) -> String {
    let name = file_name(path);
    name[stem(name).len()..].trim_start_matches('.').to_ascii_lowercase()
}

/// Files that programs keep for themselves.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') || part == "__MACOSX")
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
