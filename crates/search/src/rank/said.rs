//! What a record says, and whether another says the same, so that one hit is enough for both.
//!
//! A subject in common is not enough: what counts is all that the reader may search but who wrote it. The text has to
//! be alike. Its title and what else stands beside it (where it was filed, to whom it went) may differ, if that is
//! little against the text and no number is another. Records of two streams are two things whatever they say.

use super::View;
use super::credit::PassageCredit;
use super::scopes::FieldScope;
use crate::index::Sketch;

/// Beside one word that differs stand so many that are alike, at least.
const ALIKE: u64 = 3;
/// A word of a title says as much as so many others.
const TITLE_WORD: u64 = 16;
/// A record of more texts than these, which only long lists have, is like no other.
const MAX_TEXTS: usize = 64;

/// The texts of a record, in order of their places.
#[derive(Debug)]
pub(crate) struct Said {
    /// The part of the plan that stands for the stream.
    stream: usize,
    texts: Vec<Text>,
}

#[derive(Debug)]
struct Text {
    /// The field of the stream, and which of its texts.
    place: (usize, usize),
    kind: Kind,
    sketch: Sketch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Body,
    Title,
    Beside,
}

impl Said {
    /// `None` where no text is long enough to tell.
    pub(crate) fn by(view: &View<'_>, part: usize, passages: &[PassageCredit]) -> Option<Self> {
        let mut texts: Vec<Text> = Vec::new();
        let mut before = None;
        for PassageCredit { at, field } in passages {
            let scope = &view.scopes.fields[*field];
            let segment = view.segments.segment(*at);
            let Some(sketch) = segment.sketch(at.doc).filter(|_| !scope.is_actor) else { continue };
            // All passages of a text know the whole of it.
            let is_first = segment.stretch(at.doc).0 == 0;
            if before.replace((*field, sketch)) == Some((*field, sketch)) && !is_first {
                continue;
            }
            // The texts of a field stand together.
            let last = texts.last().filter(|last| last.place.0 == scope.field);
            let number = last.map_or(0, |last| last.place.1 + 1);
            if texts.len() == MAX_TEXTS {
                return None;
            }
            texts.push(Text { place: (scope.field, number), kind: Kind::of(scope), sketch });
        }
        texts.sort_unstable_by_key(|text| text.place);
        let stream = view.scopes.parts[part].like;
        texts.iter().any(|text| text.sketch.is_telling()).then_some(Self { stream, texts })
    }

    pub(crate) fn is_like(&self, other: &Self) -> bool {
        if self.stream != other.stream {
            return false;
        }
        let mut has_like_body = false;
        let (mut one, mut another) = (Shares::default(), Shares::default());
        for pair in pairs(&self.texts, &other.texts) {
            match pair {
                (Some(text), Some(counterpart)) if text.sketch.is_like(&counterpart.sketch) => {
                    has_like_body |= text.kind == Kind::Body && text.sketch.is_telling();
                    one.alike += text.sketch.words();
                    another.alike += counterpart.sketch.words();
                }
                (text, counterpart) => {
                    if [text, counterpart].into_iter().flatten().any(|text| text.kind == Kind::Body) {
                        return false;
                    }
                    one.add(text);
                    another.add(counterpart);
                }
            }
        }
        let is_same = one.others == 0 && another.others == 0;
        is_same
            || (has_like_body
                && one.is_mostly_alike()
                && another.is_mostly_alike()
                && one.has_numbers_of(&another))
    }
}

/// The texts of two records by their places, of which one record may have some alone.
fn pairs<'t>(
    one: &'t [Text],
    other: &'t [Text],
) -> impl Iterator<Item = (Option<&'t Text>, Option<&'t Text>)> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    std::iter::from_fn(move || {
        let place = one.peek().into_iter().chain(other.peek()).map(|text| text.place).min()?;
        Some((one.next_if(|text| text.place == place), other.next_if(|text| text.place == place)))
    })
}

/// How many words of a record are in texts that are alike and how many in others, and the numbers of those.
#[derive(Default)]
struct Shares {
    alike: u64,
    others: u64,
    numbers: u64,
}

impl Shares {
    fn add(&mut self, text: Option<&Text>) {
        if let Some(Text { sketch, kind, .. }) = text {
            let worth = if *kind == Kind::Title { TITLE_WORD } else { 1 };
            self.others += sketch.words().max(1) * worth;
            self.numbers |= sketch.numbers();
        }
    }

    fn is_mostly_alike(&self) -> bool {
        self.others * ALIKE <= self.alike
    }

    /// As of two texts, no number of the shorter may be missing from the longer.
    fn has_numbers_of(&self, other: &Self) -> bool {
        let lacks =
            |short: &Self, long: &Self| short.others <= long.others && short.numbers & !long.numbers != 0;
        !lacks(self, other) && !lacks(other, self)
    }
}

impl Kind {
    fn of(scope: &FieldScope) -> Self {
        match (scope.is_body, scope.is_title) {
            (true, _) => Self::Body,
            (_, true) => Self::Title,
            _ => Self::Beside,
        }
    }
}
