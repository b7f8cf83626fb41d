//! The text of a Word document: a zip of XML, of which the letters are read and nothing else.
//!
//! Entities that a document declares are never replaced, so none can grow; unpacking stops at a bound.

use std::io::{BufReader, Cursor, Read};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use zip::ZipArchive;

use super::{MOST_TEXT, MOST_UNPACKED};

/// Where text lies, in the order it is read.
const PIECES: [&str; 4] =
    ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml", "word/comments.xml"];

pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut text = String::new();
    for piece in PIECES {
        let Ok(packed) = archive.by_name(piece) else { continue };
        read(packed.take(MOST_UNPACKED as u64), &mut text);
        if text.len() >= MOST_TEXT {
            break;
        }
    }
    Some(text)
}

/// Reads letters until the end, the bound, or the first thing that is no XML; what was read stays.
fn read(xml: impl Read, text: &mut String) {
    let mut reader = Reader::from_reader(BufReader::new(xml));
    reader.config_mut().check_end_names = false;
    let (mut buffer, mut in_text) = (Vec::new(), false);
    while text.len() < MOST_TEXT {
        buffer.clear();
        let Ok(event) = reader.read_event_into(&mut buffer) else { return };
        match event {
            Event::Start(tag) if tag.local_name().as_ref() == "t" => in_text = true,
            Event::End(tag) => match tag.local_name().as_ref() {
                "t" => in_text = false,
                "p" => end_line(text),
                "tc" => {
                    // A cell ends with a paragraph; the row stays one line.
                    text.truncate(text.trim_end_matches('\n').len());
                    text.push('\t');
                }
                "tr" => {
                    text.truncate(text.trim_end_matches('\t').len());
                    end_line(text);
                }
                _ => {}
            },
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                "tab" => text.push('\t'),
                "br" | "cr" => text.push('\n'),
                "noBreakHyphen" => text.push('-'),
                _ => {}
            },
            Event::Text(letters) if in_text => text.push_str(&letters.xml10_content()),
            Event::CData(letters) if in_text => text.push_str(&letters.xml10_content()),
            Event::GeneralRef(name) if in_text => {
                let letter = name.resolve_char_ref().ok().flatten();
                text.extend(letter);
                if letter.is_none() {
                    text.push_str(resolve_predefined_entity(&name).unwrap_or_default());
                }
            }
            Event::Eof => return,
            _ => {}
        }
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}
