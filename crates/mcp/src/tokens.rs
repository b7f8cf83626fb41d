//! How many tokens a text costs, without a tokenizer.
//!
//! Results are cut to a budget that is counted in o200k tokens. A tokenizer's vocabulary takes megabytes and
//! longer to load than the program takes to start, so a count is estimated from above by the kinds of characters;
//! tests compare the estimate with the real tokenizer. Characters of no listed kind cost one token per byte, which
//! no tokenizer of this family exceeds.

mod class;
#[cfg(test)]
mod tests;

use std::io;

use serde_json::Value;

use class::Class;

/// The most tokens one result may cost in all.
pub(crate) const RESULT: usize = 9_000;
/// The most tokens the text of one result may cost.
pub(crate) const CONTENT: usize = 2_500;

/// About how many tokens `text` costs, rather more than fewer.
pub(crate) fn estimate(text: &str) -> usize {
    let mut counter = Counter::default();
    text.chars().for_each(|c| counter.push(c));
    counter.finish()
}

/// The same for a value written as minified JSON, without writing it.
pub(crate) fn estimate_json(value: &Value) -> usize {
    let mut counter = Counter::default();
    // The counter refuses nothing, and a value has no keys that JSON cannot write.
    let written = serde_json::to_writer(&mut counter, value);
    debug_assert!(written.is_ok(), "a value is always JSON");
    counter.finish()
}

/// Costs in hundredths of a token, run by run.
#[derive(Default)]
struct Counter {
    hundredths: usize,
    class: Option<Class>,
    /// The kind of the run before.
    before: Option<Class>,
    /// Characters of the run so far.
    length: usize,
    /// What the run costs beside its length.
    extra: usize,
    /// Consonants since the last vowel.
    consonants: usize,
    last: char,
}

impl Counter {
    fn push(&mut self, c: char) {
        let class = Class::of(c);
        let camel = c.is_ascii_uppercase() && self.last.is_ascii_lowercase();
        if self.class != Some(class) || camel {
            self.flush(class);
        }
        self.length += 1;
        match class {
            Class::Latin => self.letter(c),
            Class::Bytes => self.extra += c.len_utf8() * 100,
            _ => {}
        }
        self.last = c;
    }

    /// Words of nature alternate vowels and consonants; what does not is rarely in a vocabulary.
    fn letter(&mut self, c: char) {
        match c.to_ascii_lowercase() {
            'a' | 'e' | 'i' | 'o' | 'u' | 'y' => self.consonants = 0,
            'a'..='z' => {
                self.consonants += 1;
                if self.consonants > 2 {
                    self.extra += 95;
                }
                if matches!(c, 'q' | 'x' | 'z' | 'j' | 'Q' | 'X' | 'Z' | 'J') {
                    self.extra += 55;
                }
            }
            _ => {
                self.consonants = 0;
                self.extra += 60;
            }
        }
        if c.is_ascii_uppercase() && self.length > 1 {
            self.extra += 30;
        }
    }

    fn flush(&mut self, next: Class) {
        if let Some(class) = self.class {
            self.hundredths += class.cost(self.length, next) + self.extra;
            // Letters among digits are a code, not a word.
            if class == Class::Latin && (next == Class::Digit || self.before == Some(Class::Digit)) {
                self.hundredths += (self.length - 1) * 25;
            }
        }
        self.before = self.class;
        self.class = Some(next);
        (self.length, self.extra, self.consonants) = (0, 0, 0);
    }

    fn finish(mut self) -> usize {
        self.flush(Class::Bytes);
        self.hundredths.div_ceil(100)
    }
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The writer above writes whole characters.
        String::from_utf8_lossy(bytes).chars().for_each(|c| self.push(c));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
