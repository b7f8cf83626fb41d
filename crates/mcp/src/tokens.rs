//! How many tokens a text costs, without a tokenizer.
//!
//! Results are cut to a budget that is counted in o200k tokens. A tokenizer's vocabulary takes megabytes and
//! longer to load than the program takes to start, so a count is estimated from above. The text is taken apart
//! where the tokenizer takes it apart; common words and the marks of JSON are known to be one token, other runs
//! are judged by their kind and length. Tests compare the estimate with the real tokenizer. Characters of no
//! listed kind cost one token per byte, which no tokenizer of this family exceeds.

mod class;
mod ideograph;
mod latin;
mod rows;
#[cfg(test)]
mod tests;
mod whole;

use serde::Serialize;
use serde_json::Value;

use class::Class;

pub(crate) use rows::{IdCosts, RawRows, estimate_rows, estimate_written_rows};

/// The most tokens one result may cost in all.
pub(crate) const RESULT: usize = 9_000;
/// The most tokens the text of one result may cost.
pub(crate) const CONTENT: usize = 2_500;
/// Nothing this long fits anywhere, so it need not be measured to its end.
const HOPELESS_BYTES: usize = RESULT * 40;

/// How closely a cost is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By the bytes, which tokens never outnumber. What fits by this measure fits, and need not be looked at again.
    Rough,
    /// By the estimate.
    #[default]
    Close,
}

impl Scale {
    /// About how many tokens `text` costs, rather more than fewer. What could not fit anywhere costs its length.
    pub(crate) fn cost(self, text: &str) -> usize {
        match self {
            Self::Close if text.len() <= HOPELESS_BYTES => estimate(text),
            Self::Rough | Self::Close => text.len(),
        }
    }
}

/// About how many tokens `text` costs, rather more than fewer.
pub(crate) fn estimate(text: &str) -> usize {
    let mut counter = Counter::default();
    let mut start = 0;
    let mut current = Class::at(text, 0);
    while let Some((class, after)) = current {
        let end = class.run_end(text, after);
        current = Class::at(text, end);
        let run = Run { class, start, end };
        counter.hundredths += counter.cost(text, run, current.map(|(next, _)| next));
        (counter.earlier, counter.before) = (counter.before, Some(run));
        start = end;
    }
    counter.hundredths.div_ceil(100)
}

/// The same for a value written as minified JSON. What could not fit anywhere costs its length, which is more.
pub(crate) fn estimate_json(value: &Value) -> usize {
    let mut written = Vec::with_capacity(1_024);
    write_json(&mut written, value);
    estimate_written(&written)
}

fn write_json(written: &mut Vec<u8>, value: &impl Serialize) {
    // Memory takes every byte, and neither a value nor a text is anything JSON cannot write.
    let done = serde_json::to_writer(written, value);
    debug_assert!(done.is_ok(), "a value is always JSON");
}

/// The same for what is already written.
pub(crate) fn estimate_written(json: &[u8]) -> usize {
    str::from_utf8(json).map_or(json.len(), |json| Scale::Close.cost(json))
}

/// Characters of one kind that stand together, as bytes of the text.
#[derive(Clone, Copy, Debug)]
struct Run {
    class: Class,
    start: usize,
    end: usize,
}

impl Run {
    fn bytes(self) -> usize {
        self.end - self.start
    }

    fn text(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// Costs in hundredths of a token.
#[derive(Debug, Default)]
struct Counter {
    hundredths: usize,
    /// The run before this one, and the one before that.
    before: Option<Run>,
    earlier: Option<Run>,
}

impl Counter {
    fn cost(&self, text: &str, run: Run, next: Option<Class>) -> usize {
        match run.class {
            Class::Latin => self.word(text, run, next),
            Class::Mark => marks(run.text(text)),
            // One byte each.
            class @ (Class::Space | Class::Newline | Class::Digit) => {
                class.cost(run.bytes(), run.bytes(), next)
            }
            class @ Class::Ideograph => {
                let tokens = run.text(text).chars().map(ideograph::tokens).sum();
                class.cost(tokens, run.bytes(), next)
            }
            class => {
                let chars = run.text(text).chars().count();
                class.cost(chars, run.bytes(), next)
            }
        }
    }

    /// One mark right before a word belongs to it, as one space does.
    fn word(&self, text: &str, run: Run, next: Option<Class>) -> usize {
        let before = self.before.map(|before| before.class);
        let spaced = self.earlier.is_some_and(|earlier| earlier.class == Class::Space);
        let mark = self.before.filter(|mark| mark.class == Class::Mark && mark.bytes() == 1 && !spaced);
        if let Some(mark) = mark {
            if run.bytes() == 1 {
                return 35;
            }
            if whole::contains(&text[mark.start..run.end]) {
                return 0;
            }
        }
        // Letters among digits are a code, not a word.
        let code = next == Some(Class::Digit) || before == Some(Class::Digit);
        let word = run.text(text);
        if !code && word.len() > 2 && whole::contains(word) {
            return 100;
        }
        latin::cost(word, code)
    }
}

/// Several marks: those of JSON come in well-known groups.
fn marks(run: &str) -> usize {
    let count = run.len();
    if count == 1 || whole::contains(run) {
        return 100;
    }
    if run.bytes().all(|byte| br#""{}[],:\"#.contains(&byte)) {
        return 200 + count.saturating_sub(4) * 60;
    }
    100 + (count - 1) * 70
}
