//! The text of a PDF: the strings its pages show, with lines and words told by where they are put.
//!
//! A PDF places letters and knows no words. A move down is a new line, a wide gap a blank; that is enough to search
//! and to read, and says nothing about columns.

use std::collections::BTreeMap;

use lopdf::content::{Content, Operation};
use lopdf::{Document, Encoding, LoadOptions, Object, ObjectId};

use super::{MOST_TEXT, MOST_UNPACKED};

/// Most pages that are read.
const MOST_PAGES: usize = 5000;
/// A gap inside a string, in thousandths of the letter's size, that is a blank and no adjustment.
const GAP: f32 = -180.0;

pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let options = LoadOptions::with_max_decompressed_size(MOST_UNPACKED);
    let document = Document::load_mem_with_options(bytes, options).ok()?;
    if document.is_encrypted() {
        return None;
    }
    let mut page = Page::default();
    for id in document.page_iter().take(MOST_PAGES) {
        if page.text.len() >= MOST_TEXT {
            break;
        }
        // A page that cannot be read leaves the others.
        page.read(&document, id);
        page.gap = Gap::Paragraph;
    }
    Some(page.text)
}

#[derive(Default)]
struct Page {
    text: String,
    /// What lies between the last string and the next.
    gap: Gap,
    /// Where the current line begins.
    at: (f32, f32),
    /// How many letters the last string had.
    shown: usize,
    size: f32,
    leading: f32,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Blank,
    Line,
    Paragraph,
}

impl Page {
    fn read(&mut self, document: &Document, id: ObjectId) -> Option<()> {
        let fonts = document.get_page_fonts(id).ok()?;
        let encodings: BTreeMap<Vec<u8>, Encoding<'_>> = fonts
            .into_iter()
            .filter_map(|(name, font)| {
                Some((name, font.get_font_encoding_with_limit(document, MOST_UNPACKED).ok()?))
            })
            .collect();
        let content = document.get_page_content_with_limit(id, MOST_UNPACKED).ok()?;
        let content = Content::decode(&content).ok()?;
        let mut encoding = None;
        for Operation { operator, operands } in &content.operations {
            if self.text.len() >= MOST_TEXT {
                break;
            }
            if operator == "Tf" {
                encoding = operands.first().and_then(|name| encodings.get(name.as_name().ok()?));
                self.size = number(operands, 1).abs();
            } else {
                self.step(operator, operands, encoding);
            }
        }
        Some(())
    }

    fn step(&mut self, operator: &str, operands: &[Object], encoding: Option<&Encoding<'_>>) {
        match operator {
            "BT" => self.at = (0.0, 0.0),
            "Td" => self.move_by(number(operands, 0), number(operands, 1)),
            "TD" => {
                self.leading = -number(operands, 1);
                self.move_by(number(operands, 0), number(operands, 1));
            }
            "TL" => self.leading = number(operands, 0),
            "Tm" => {
                let (x, y) = (number(operands, 4), number(operands, 5));
                self.move_by(x - self.at.0, y - self.at.1);
            }
            "T*" => self.widen(Gap::Line),
            "cm" if number(operands, 5).abs() > 0.5 => self.widen(Gap::Line),
            "Tj" | "TJ" => self.show(operands, encoding),
            "'" => {
                self.widen(Gap::Line);
                self.show(operands, encoding);
            }
            "\"" => {
                self.widen(Gap::Line);
                self.show(operands.get(2..).unwrap_or_default(), encoding);
            }
            _ => {}
        }
    }

    fn move_by(&mut self, x: f32, y: f32) {
        self.at = (self.at.0 + x, self.at.1 + y);
        let size = self.size.max(1.0);
        if y.abs() > size * 0.3 {
            self.widen(Gap::Line);
        } else if x != 0.0 && (self.shown != 1 || x.abs() > size) {
            // Letters put one by one are no words; a longer string that is followed by a move is one.
            self.widen(Gap::Blank);
        }
        self.shown = 0;
    }

    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn show(&mut self, operands: &[Object], encoding: Option<&Encoding<'_>>) {
        let Some(encoding) = encoding else { return };
        for operand in operands {
            match operand {
                Object::Array(pieces) => {
                    for piece in pieces {
                        match piece {
                            Object::Integer(_) | Object::Real(_) if value(piece) < GAP => {
                                self.widen(Gap::Blank);
                            }
                            Object::String(bytes, _) => self.put(bytes, encoding),
                            _ => {}
                        }
                    }
                }
                Object::String(bytes, _) => self.put(bytes, encoding),
                _ => {}
            }
        }
    }

    fn put(&mut self, bytes: &[u8], encoding: &Encoding<'_>) {
        let Ok(letters) = Document::decode_text(encoding, bytes) else { return };
        if letters.is_empty() {
            return;
        }
        let gap = std::mem::take(&mut self.gap);
        if !self.text.is_empty() {
            match gap {
                Gap::Blank if !self.text.ends_with([' ', '\n']) && !letters.starts_with(' ') => {
                    self.text.push(' ');
                }
                Gap::Line if !self.text.ends_with('\n') => self.text.push('\n'),
                Gap::Paragraph => self.text.push_str("\n\n"),
                _ => {}
            }
        }
        self.shown += letters.chars().count();
        self.text.push_str(&letters);
    }
}

fn number(operands: &[Object], place: usize) -> f32 {
    operands.get(place).map_or(0.0, value)
}

fn value(operand: &Object) -> f32 {
    operand.as_float().unwrap_or(0.0)
}
