//! Cuts a window to what a result may hold.
//!
//! The text that came is cut here and not asked for again, because only measuring a part tells what it costs, and
//! because a server may ignore the limit it is given. The offsets follow the cut, so that the next call goes on with
//! the character after the last one shown.

use std::ops::Range;

use pdpp_evidence::{DEFAULT_LIMIT_CHARS, neutralise};
use serde_json::Value;

use super::Window;
use crate::tokens::{CONTENT, RESULT, estimate, estimate_json};

/// What the text half may cost when the caller asked for a longer window than usual.
const LONG_CONTENT: usize = 4_500;
/// What is left to the text however long the names around it are: a window that shows next to nothing helps nobody.
const LEAST: usize = 200;
/// As long as any offset into a field.
const LONG_OFFSET: u64 = 4_294_967_295;

/// How much of a text may be shown.
#[derive(Clone, Copy, Debug)]
struct Room {
    chars: usize,
    /// Tokens, as it stands in the text half.
    plain: usize,
    /// Tokens, written as JSON.
    written: usize,
}

impl Window {
    /// This window, or the part of it that fits: from where it was to start, or from shortly before its match.
    pub(super) fn fitted(mut self, provider_url: &str) -> Self {
        let limit = self.selector.most_chars();
        let stated = self.number("limit_chars").unwrap_or(u64::MAX);
        self.members.insert("limit_chars".to_owned(), stated.min(count(limit)).into());
        let Some(Value::String(text)) = self.members.get_mut("text").map(Value::take) else { return self };
        let kept = self.kept(&text, self.room(limit, provider_url));
        if kept.len() < text.len() {
            self.narrow(&text, kept);
        } else {
            self.members.insert("text".to_owned(), text.into());
        }
        self
    }

    /// The room that the names, offsets and continuations around a text leave. Both halves hold the text as JSON.
    fn room(&self, chars: usize, provider_url: &str) -> Room {
        let mut frame = self.clone();
        for name in super::OFFSETS {
            frame.members.insert(name.to_owned(), LONG_OFFSET.into());
        }
        frame.members.insert("complete".to_owned(), false.into());
        let text = frame.rendered(chars);
        let content = if chars > DEFAULT_LIMIT_CHARS { LONG_CONTENT } else { CONTENT };
        let plain = content.saturating_sub(estimate(&text));
        let around = estimate_json(&text.into()) + estimate_json(&frame.structured(provider_url));
        Room { chars, plain: plain.max(LEAST), written: (RESULT.saturating_sub(around) / 2).max(LEAST) }
    }

    /// Which bytes of the text are shown.
    fn kept(&self, text: &str, room: Room) -> Range<usize> {
        let byte_of = |offset: u64| byte_of(text, offset.checked_sub(self.start())?);
        // A server that ignores the offset sends what was shown before, too.
        let asked = self.selector.offset_chars.and_then(byte_of).filter(|byte| *byte < text.len());
        let from = |start: usize| start..start + room.head(&text[start..]);
        let first = from(asked.unwrap_or(0));
        match self.number("match_start_chars").and_then(byte_of) {
            Some(matched) if first.end < text.len() && matched > first.start + first.len() / 2 => {
                from(matched - room.quarter().tail(&text[first.start..matched]))
            }
            _ => first,
        }
    }

    /// Keeps these bytes of the text, and makes the offsets those of what is kept.
    fn narrow(&mut self, text: &str, kept: Range<usize>) {
        let start = self.start() + count_of(&text[..kept.start]);
        let end = start + count_of(&text[kept.clone()]);
        let received = end + count_of(&text[kept.end..]);
        let total = self.number("total_chars").unwrap_or(0).max(received);
        let limit = self.number("limit_chars").unwrap_or(0);
        let mut set = |name: &str, value: Value| self.members.insert(name.to_owned(), value);
        set("text", text[kept.clone()].into());
        set("start_chars", start.into());
        set("end_chars", end.into());
        set("total_chars", total.into());
        set("complete", false.into());
        if kept.end < text.len() {
            set("has_more", true.into());
            set("next_offset_chars", end.into());
        }
        if kept.start > 0 {
            set("previous_offset_chars", start.saturating_sub(limit).into());
        }
        let matched = [self.number("match_start_chars"), self.number("match_end_chars")];
        if !matches!(matched, [Some(from), Some(to)] if start <= from && to <= end) {
            for name in ["match_start_chars", "match_end_chars"] {
                self.members.insert(name.to_owned(), Value::Null);
            }
        }
    }
}

impl Room {
    /// How many bytes from the start of a text fit: one character at least, because the next call must get further.
    fn head(self, text: &str) -> usize {
        let ends: Vec<usize> =
            text.char_indices().map(|(byte, c)| byte + c.len_utf8()).take(self.chars).collect();
        if ends.last().is_none_or(|end| self.holds(&text[..*end])) {
            return ends.last().copied().unwrap_or(0);
        }
        let fitting = ends.partition_point(|end| self.holds(&text[..*end]));
        ends[fitting.saturating_sub(1)]
    }

    /// How many bytes before the end of a text fit.
    fn tail(self, text: &str) -> usize {
        let starts: Vec<usize> = text.char_indices().rev().map(|(byte, _)| byte).take(self.chars).collect();
        let fitting = starts.partition_point(|start| self.holds(&text[*start..]));
        fitting.checked_sub(1).map_or(0, |last| text.len() - starts[last])
    }

    fn holds(self, part: &str) -> bool {
        let shown = neutralise(part).text;
        let plain = estimate(&shown);
        // Every escape is one more mark, and where there are many they break up the groups that are one token.
        let escapes = shown.bytes().filter(|byte| br#""\"#.contains(byte) || *byte < b' ').count();
        plain <= self.plain
            && plain + escapes <= self.written
            && estimate_json(&shown.as_ref().into()) <= self.written
    }

    fn quarter(self) -> Self {
        Self { chars: self.chars / 4, plain: self.plain / 4, written: self.written / 4 }
    }
}

/// Where the character with this number starts, or the text ends.
fn byte_of(text: &str, number: u64) -> Option<usize> {
    let number = usize::try_from(number).ok()?;
    text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(number)
}

fn count_of(text: &str) -> u64 {
    count(text.chars().count())
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
