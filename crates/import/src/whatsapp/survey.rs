//! The first look at a chat, through all of its lines: how its dates are written, and whose it is.

use std::io;

use super::header::{Header, Phone};
use super::marks::{clean, is_mark};
use super::order::Evidence;
use super::read::LONGEST;
use crate::Tree;
use crate::lines::{Line, Lines};
use crate::tree::open_buffered;

/// What a first look at all lines tells.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) evidence: Evidence,
    pub(super) phone: Phone,
    /// The name over the first notice, which on iPhones is the chat's.
    pub(super) noticed: Option<String>,
}

impl Survey {
    /// `None` when the text does not begin as a chat.
    pub(super) fn of(tree: &mut dyn Tree, index: usize) -> io::Result<Option<Self>> {
        let mut lines = Lines::new(open_buffered(tree, index)?, LONGEST);
        let mut survey: Option<Self> = None;
        while let Some(line) = lines.next_line()? {
            let Line::Whole(bytes) = line else { continue };
            let line = String::from_utf8_lossy(bytes);
            let header = Header::parse(&line);
            match (&mut survey, header) {
                (Some(survey), Some(header)) => survey.evidence.add(&header),
                (None, Some(header)) => {
                    let notice = header.rest.split_once(": ").filter(|(_, text)| text.starts_with(is_mark));
                    let noticed =
                        notice.map(|(name, _)| clean(name)).filter(|_| header.phone == Phone::Iphone);
                    let mut evidence = Evidence::default();
                    evidence.add(&header);
                    survey = Some(Self { evidence, phone: header.phone, noticed });
                }
                (None, None) if !line.trim().is_empty() => return Ok(None),
                _ => {}
            }
        }
        Ok(survey.filter(|survey| survey.evidence.headers() > 0))
    }
}
