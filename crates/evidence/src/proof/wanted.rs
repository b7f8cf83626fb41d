//! What a query has to find in a text: words, and words that stand next to each other.

use std::collections::HashMap;
use std::ops::Range;

use crate::query::{Need, Query, What};
use crate::words::{Finder, Language, TermMatch, WantedTerm, forms, is_stop_word};

/// The most matches that are looked at in one passage.
const MAX_MATCHES: usize = 4_096;
/// The most slots of phrases and names that words of one passage fill: sixty long phrases of the same few words could
/// have each word fill two thousand.
const MAX_FILLED: usize = 4 * MAX_MATCHES;

/// The terms of a query, each with the clauses it helps to prove, ready to be looked for in many texts.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    finder: Finder,
    /// Of each term, the slots it fills.
    fills: Vec<Vec<Fill>>,
    rows: Vec<Row>,
}

/// What proves a clause: a term in each of so many slots, next to each other and in order. A word is one slot.
#[derive(Clone, Debug)]
struct Row {
    clause: usize,
    slots: usize,
}

/// One slot of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fill {
    row: usize,
    slot: usize,
}

/// A slot that is filled by the word at a position, and where that word stands.
type Filled = (Fill, u32, Range<usize>);

impl Wanted {
    /// What a query wants to see. `instead` is what was looked for in place of what was typed: other spellings, and
    /// the words, with spaces between them, of phrases and names that stand nowhere.
    pub fn of(query: &Query, instead: &[String]) -> Self {
        let spellings: Vec<Vec<String>> =
            instead.iter().filter(|used| !used.contains(' ')).map(|word| forms(word)).collect();
        let mut gathered = Gathered::default();
        let asked = || query.clauses.iter().filter(|clause| clause.need != Need::Without);
        let content_alone = asked().any(|clause| !clause.stop);
        for clause in asked().filter(|clause| !(content_alone && clause.stop)) {
            match apart(&clause.what, instead) {
                Some(slots) => gathered.words(slots),
                None => gathered.clause(&clause.what),
            }
        }
        for forms in &spellings {
            gathered.row([forms.as_slice()]);
            gathered.clauses += 1;
        }
        gathered.into_wanted()
    }

    /// Where clauses are proven in a stretch of text, in characters, each place with the number of its clause.
    pub(super) fn find(&self, stretch: &str, language: Language) -> Vec<(Range<usize>, usize)> {
        let (mut places, mut filled) = (Vec::new(), Vec::new());
        for found in self.finder.find(stretch, language, MAX_MATCHES) {
            let TermMatch { term_index, start_chars, end_chars, position } = found;
            let range = start_chars as usize..end_chars as usize;
            for fill in &self.fills[term_index] {
                match &self.rows[fill.row] {
                    Row { clause, slots: 1 } => places.push((range.clone(), *clause)),
                    Row { .. } if filled.len() < MAX_FILLED => filled.push((*fill, position, range.clone())),
                    Row { .. } => {}
                }
            }
        }
        filled.sort_unstable_by_key(|(fill, position, range)| (*fill, *position, range.start, range.end));
        let first = |(fill, ..): &&Filled| fill.slot == 0;
        let whole = filled.iter().filter(first).filter_map(|first| self.whole(first, &filled));
        places.extend(whole.take(MAX_MATCHES));
        places.sort_unstable_by_key(|(range, clause)| (range.start, range.end, *clause));
        places.dedup();
        places
    }

    /// The row that begins here, if all of it stands here.
    fn whole(&self, (fill, position, range): &Filled, filled: &[Filled]) -> Option<(Range<usize>, usize)> {
        let Row { clause, slots } = self.rows[fill.row];
        let mut end = range.end;
        for (slot, position) in (1..slots).zip(position + 1..) {
            let wanted = (Fill { slot, ..*fill }, position);
            let at = filled.partition_point(|(fill, position, _)| (*fill, *position) < wanted);
            let (.., next) = filled.get(at).filter(|(fill, position, _)| (*fill, *position) == wanted)?;
            end = end.max(next.end);
        }
        Some((range.start..end, clause))
    }
}

/// The slots of a phrase or name that was looked for word by word.
fn apart<'q>(what: &'q What, instead: &[String]) -> Option<&'q [Vec<String>]> {
    let (What::Phrase(slots) | What::Compound { parts: slots, .. }) = what else { return None };
    let used: Vec<&str> = slots.iter().filter_map(|forms| forms.first()).map(String::as_str).collect();
    (used.len() > 1 && instead.contains(&used.join(" "))).then_some(slots)
}

#[derive(Default)]
struct Gathered<'q> {
    terms: HashMap<WantedTerm<'q>, Vec<Fill>>,
    rows: Vec<Row>,
    clauses: usize,
}

impl<'q> Gathered<'q> {
    fn clause(&mut self, what: &'q What) {
        match what {
            What::Word { forms } => self.row([forms.as_slice()]),
            What::Prefix { folded } => self.slots([[WantedTerm::Prefix(folded)]]),
            What::Phrase(slots) => self.row(slots.iter().map(Vec::as_slice)),
            What::Compound { whole, parts } => {
                self.row([std::slice::from_ref(whole)]);
                self.row(parts.iter().map(Vec::as_slice));
            }
        }
        self.clauses += 1;
    }

    /// Each word for itself. Function words prove nothing beside others.
    fn words(&mut self, slots: &'q [Vec<String>]) {
        let is_content = |forms: &[String]| forms.first().is_some_and(|word| !is_stop_word(word));
        let content_alone = slots.iter().any(|forms| is_content(forms));
        for forms in slots.iter().filter(|forms| !content_alone || is_content(forms)) {
            self.row([forms.as_slice()]);
            self.clauses += 1;
        }
    }

    fn row(&mut self, slots: impl IntoIterator<Item = &'q [String]>) {
        self.slots(slots.into_iter().map(|forms| forms.iter().map(|term| WantedTerm::Exact(term))));
    }

    /// One more row of the clause that is being gathered.
    fn slots(&mut self, slots: impl IntoIterator<Item = impl IntoIterator<Item = WantedTerm<'q>>>) {
        let row = self.rows.len();
        let mut count = 0;
        for (slot, terms) in slots.into_iter().enumerate() {
            for term in terms {
                self.terms.entry(term).or_default().push(Fill { row, slot });
            }
            count = slot + 1;
        }
        self.rows.push(Row { clause: self.clauses, slots: count });
    }

    fn into_wanted(self) -> Wanted {
        let (terms, fills): (Vec<_>, Vec<_>) = self.terms.into_iter().unzip();
        Wanted { finder: Finder::new(terms.into_iter()), fills, rows: self.rows }
    }
}
