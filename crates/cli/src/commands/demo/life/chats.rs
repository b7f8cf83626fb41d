//! Chats, as a phone exports them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::ToSpan as _;
use jiff::civil::DateTime;

use super::random::Random;
use super::words::{Words, blocks};
use super::{File, planted};
use crate::commands::demo::life::picture;

const SCENES: &str = include_str!("scenes.txt");
/// How many conversations there are, the planted ones apart.
const CONVERSATIONS: usize = 590;

/// A chat: its name in the templates, its name on the phone, its people. In `family` the order is who speaks as A, B, C.
const CHATS: [(&str, &str, &[&str]); 6] = [
    ("jonas", "Jonas", &["Mira", "Jonas"]),
    ("family", "Castells", &["Ingrid", "Mira", "Theo"]),
    ("house", "Kanal Street 14", &["Mrs Okafor", "Mira", "Lund", "Hamid"]),
    ("boats", "Early Boats", &["Elin", "Tomasz", "Mira", "Sam"]),
    ("priya", "Priya", &["Mira", "Priya"]),
    ("tomasz", "Tomasz", &["Tomasz", "Mira"]),
];

/// One message.
struct Message {
    at: DateTime,
    author: String,
    text: String,
}

/// All chats, one export each, with the pictures that were sent.
pub(super) fn write(words: &Words, random: &mut Random) -> Vec<File> {
    let mut chats: BTreeMap<&str, Vec<Message>> = BTreeMap::new();
    let scenes = blocks(SCENES);
    for _ in 0..CONVERSATIONS {
        let (chat, scene) = *random.pick(&scenes);
        let at = super::moment(random, 7, 22);
        chats.entry(chat).or_default().extend(conversation(words, random, (chat, scene), at));
    }
    for (chat, at, author, text) in planted::MESSAGES {
        let (author, text) = ((*author).to_owned(), (*text).to_owned());
        chats.entry(chat).or_default().push(Message { at: super::at(at), author, text });
    }
    let mut files = Vec::new();
    for (chat, mut messages) in chats {
        messages.sort_by_key(|message| message.at);
        files.extend(export(chat, &messages, random));
    }
    files
}

fn conversation(
    words: &Words,
    random: &mut Random,
    (chat, scene): (&str, &str),
    mut at: DateTime,
) -> Vec<Message> {
    let people = CHATS.iter().find(|known| known.0 == chat).map(|known| known.2).unwrap_or_default();
    let cast: Vec<&&str> = if chat == "family" { people.iter().collect() } else { random.shuffled(people) };
    let mut piece = words.piece();
    let mut messages = Vec::new();
    for line in scene.lines() {
        let Some((speaker, template)) = line.split_once(": ") else { continue };
        let author = match speaker {
            "A" => cast[0],
            "B" => cast[1],
            "C" => cast[2],
            name => name,
        };
        let text = piece.fill(template, random);
        messages.push(Message { at, author: author.to_owned(), text });
        at = at.saturating_add(random.between(20, 1_300).seconds());
    }
    messages
}

fn export(chat: &str, messages: &[Message], random: &mut Random) -> Vec<File> {
    let name = CHATS.iter().find(|known| known.0 == chat).map_or(chat, |known| known.1);
    let folder = format!("WhatsApp Chat - {name}");
    let (mut text, mut files) = (String::new(), Vec::new());
    for (number, Message { at, author, text: said }) in messages.iter().enumerate() {
        let (date, time) = (at.strftime("%d/%m/%Y"), at.strftime("%H:%M:%S"));
        // Writing to a string does not fail.
        let _ = writeln!(text, "[{date}, {time}] {author}: {said}");
        if number % 97 == 40 {
            let picture = format!("{number:08}-PHOTO-{}.png", at.strftime("%Y-%m-%d-%H-%M-%S"));
            let _ = writeln!(text, "\u{200e}[{date}, {time}] {author}: \u{200e}<attached: {picture}>");
            files.push(File::new(format!("{folder}/{picture}"), picture::draw(random)));
        }
    }
    files.push(File::new(format!("{folder}/_chat.txt"), text.into_bytes()));
    files
}
