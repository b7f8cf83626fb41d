//! Notes, as a folder of Markdown files.

use std::collections::BTreeSet;

use super::random::Random;
use super::words::{Words, blocks};
use super::{File, planted};

const NOTES: &str = include_str!("notes.txt");
/// How many notes are tried; titles that come twice are left out.
const TRIES: usize = 420;

pub(super) fn write(words: &Words, random: &mut Random) -> Vec<File> {
    let templates = blocks(NOTES);
    let mut taken = BTreeSet::new();
    let mut files = Vec::new();
    for _ in 0..TRIES {
        let (head, body) = *random.pick(&templates);
        let mut piece = words.piece();
        let path = capital(&piece.fill(head, random));
        if taken.insert(path.clone()) {
            let text = piece.fill(body, random);
            files.push(note(
                &path,
                &super::moment(random, 8, 23).strftime("%Y-%m-%d %H:%M").to_string(),
                &text,
            ));
        }
    }
    files.extend(planted::NOTES.iter().map(|(path, at, text)| note(path, at, text.trim())));
    files
}

fn note(path: &str, at: &str, text: &str) -> File {
    let text = match text.strip_prefix("# ") {
        Some(rest) => format!("# {}", first_up(rest)),
        None => text.to_owned(),
    };
    File::new(format!("Notes/{path}.md"), format!("---\nupdated: {at}\n---\n{text}\n").into_bytes())
}

/// The title after the folder begins with a capital letter.
fn capital(path: &str) -> String {
    match path.split_once('/') {
        Some((folder, title)) => format!("{folder}/{}", first_up(title)),
        None => path.to_owned(),
    }
}

fn first_up(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
