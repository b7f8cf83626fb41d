//! The search language: what a person or a model typed, as a tree the index can follow.
//!
//! Nothing typed is an error, and no sign is taken for an operator unless it can be nothing else: `-` excludes
//! only before a word, `well-known` and `-5` stay what they are, and `from:bob` or `AND` are words like any
//! other. What could not be followed is said in [`Query::ignored`], so an answer can say it too.
//!
//! A query is bounded before it is read: 4,096 characters and 64 clauses, however much is sent.

use std::borrow::Cow;
use std::collections::HashMap;

mod clauses;
mod elision;
mod pieces;
mod stops;

/// As much of a query as is read, in scalar values.
const MAX_CHARS: usize = 4_096;
/// The most clauses a query keeps. Function words are left out first.
const MAX_CLAUSES: usize = 64;
/// The most positions a phrase keeps.
const MAX_POSITIONS: usize = 32;
/// How much of what was ignored is shown again, in scalar values.
const MAX_SHOWN_CHARS: usize = 60;

/// What was asked, clause by clause in the order it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// At most 64.
    pub clauses: Vec<Clause>,
    /// At most one entry for each reason.
    pub ignored: Vec<Ignored>,
}

/// One thing a record can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Whether it has to match.
    pub need: Need,
    /// What to look for.
    pub what: What,
    /// As it was typed, without its sign and quotes.
    pub text: String,
    /// Whether this is a function word, which should not decide alone. Never so when all clauses would be.
    pub stop: bool,
    /// Clauses of one group are pieces of one run written without spaces; a record that has more of them, next
    /// to each other, matches the run better.
    pub group: Option<u32>,
}

/// What a clause asks of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// Better with it.
    Should,
    /// Only with it.
    Must,
    /// Only without it.
    Without,
}

/// What a clause looks for. Terms are spelled as [`crate::tokenize`] spells them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Any of these terms.
    Word {
        /// The folded word first, then its stems.
        forms: Vec<String>,
    },
    /// Any term, or word before stemming, that starts with this.
    Prefix {
        /// At least two characters.
        folded: String,
    },
    /// One of the forms at each position, the positions next to each other and in order.
    Phrase(Vec<Vec<String>>),
    /// The whole term, or, less exactly, its parts next to each other and in order.
    Compound {
        /// `bob@example.com`, `inv-2034`, `c++`.
        whole: String,
        /// The forms of each part. Empty where a part alone would say too little: the `c` of `c++`.
        parts: Vec<Vec<String>>,
    },
}

/// Something that was typed and not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Why.
    pub reason: IgnoredReason,
    /// The beginning of it; at most 60 characters.
    pub text: String,
    /// How many characters, clauses or positions.
    pub count: usize,
}

/// Why something typed was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IgnoredReason {
    /// Characters past the 4,096th.
    TooLong,
    /// Clauses past the 64th.
    TooManyClauses,
    /// Words of phrases past the 32nd of each.
    PhraseTooLong,
    /// Every clause was an exclusion; they are looked for as ordinary words.
    ExclusionsAlone,
    /// Control characters, read as spaces.
    ControlCharacters,
    /// Nothing typed is a word.
    NoWords,
}

/// Reads a query. No input is an error.
pub fn parse(q: &str) -> Query {
    let mut ignored = Vec::new();
    let (read, rest) = split(q);
    note(&mut ignored, IgnoredReason::TooLong, rest, rest.chars().count());
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    let controls = read.chars().filter(|c| is_control(*c)).count();
    note(&mut ignored, IgnoredReason::ControlCharacters, "", controls);
    let read = if controls == 0 { Cow::Borrowed(read) } else { Cow::Owned(read.replace(is_control, " ")) };

    let mut gathered = clauses::gather(&read);
    note(&mut ignored, IgnoredReason::PhraseTooLong, "", gathered.positions_dropped);
    let mut clauses = merge(std::mem::take(&mut gathered.clauses));
    if !clauses.is_empty() && clauses.iter().all(|clause| clause.need == Need::Without) {
        note(&mut ignored, IgnoredReason::ExclusionsAlone, &clauses[0].text, clauses.len());
        for clause in &mut clauses {
            clause.need = Need::Should;
        }
    }
    stops::flag(&mut clauses, &read);
    limit(&mut clauses, &mut ignored);
    if clauses.is_empty() && !read.trim().is_empty() {
        note(&mut ignored, IgnoredReason::NoWords, read.trim(), read.trim().chars().count());
    }
    Query { clauses, ignored }
}

/// What is read of a query and what is not. No word is cut in two but one that is longer than all that is read.
fn split(q: &str) -> (&str, &str) {
    let (read, rest) = crate::scalars::split(q, MAX_CHARS);
    let is_whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let end = if is_whole { None } else { read.rfind(char::is_whitespace) };
    q.split_at(end.unwrap_or(read.len()))
}

/// Clauses that look for the same become one, which must match if any of them must. A word both asked for and
/// excluded stays both: no record satisfies that, and saying so is not the parser's business.
fn merge(clauses: Vec<Clause>) -> Vec<Clause> {
    if let [] | [_] = clauses[..] {
        return clauses;
    }
    let mut known: HashMap<(bool, &What), usize> = HashMap::with_capacity(clauses.len());
    let place = |clause| {
        let Clause { need, what, .. }: &Clause = clause;
        let next = known.len();
        *known.entry((*need == Need::Without, what)).or_insert(next)
    };
    let places: Vec<usize> = clauses.iter().map(place).collect();
    let mut merged: Vec<Clause> = Vec::with_capacity(clauses.len());
    for (clause, place) in clauses.into_iter().zip(places) {
        match merged.get_mut(place) {
            Some(first) if clause.need == Need::Must => first.need = Need::Must,
            Some(_) => {}
            None => merged.push(clause),
        }
    }
    merged
}

fn limit(clauses: &mut Vec<Clause>, ignored: &mut Vec<Ignored>) {
    let mut over = clauses.len().saturating_sub(MAX_CLAUSES);
    if over == 0 {
        return;
    }
    let total = over;
    let mut kept = Vec::with_capacity(MAX_CLAUSES);
    // From the end, so that the first words stay; function words first, then any that are wished for, and an
    // exclusion or requirement only when nothing else is left to drop.
    let droppable: [fn(&Clause) -> bool; 3] =
        [|clause| clause.stop, |clause| clause.need == Need::Should, |_| true];
    let mut first_dropped = None;
    for may_drop in droppable {
        kept.clear();
        for clause in clauses.drain(..).rev() {
            if over > 0 && may_drop(&clause) {
                over -= 1;
                first_dropped = Some(clause.text);
            } else {
                kept.push(clause);
            }
        }
        clauses.extend(kept.drain(..).rev());
    }
    note(ignored, IgnoredReason::TooManyClauses, first_dropped.as_deref().unwrap_or_default(), total);
}

fn note(ignored: &mut Vec<Ignored>, reason: IgnoredReason, text: &str, count: usize) {
    if count > 0 {
        let text = crate::scalars::split(text, MAX_SHOWN_CHARS).0.to_owned();
        ignored.push(Ignored { reason, text, count });
    }
}

#[cfg(test)]
mod tests;
