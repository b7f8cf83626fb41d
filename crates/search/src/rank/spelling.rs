//! Words of the plan's own dictionary near a typed one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::LazyLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use pdpp_evidence::forms;
use tantivy::Term;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::View;
use super::prefixes::for_each_word;
use super::terms::PlanTerm;
use crate::SearchError;
use crate::place::SCOPE_CHARS;

/// What finds words so many changes away. They take long to make.
static ONE_CHANGE: LazyLock<LevenshteinAutomatonBuilder> =
    LazyLock::new(|| LevenshteinAutomatonBuilder::new(1, true));
static TWO_CHANGES: LazyLock<LevenshteinAutomatonBuilder> =
    LazyLock::new(|| LevenshteinAutomatonBuilder::new(2, true));

/// What a stem lacks of its word, in bytes.
const LONGEST_ENDING: usize = 8;

/// The word nearest to a typed one: fewest changes, then most frequent, then first in the alphabet.
pub(crate) fn nearest(view: &View<'_>, typed: &str) -> Result<Option<String>, SearchError> {
    let near = match typed.chars().count() {
        0..4 => return Ok(None),
        4..8 => ONE_CHANGE.build_dfa(typed),
        _ => TWO_CHANGES.build_dfa(typed),
    };
    let layout = view.segments.layout;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (index, field) in view.scopes.fields.iter().enumerate() {
        for in_field in [layout.text, layout.surface] {
            for word in words_near(view, in_field, &field.scope, &near)? {
                let term = Term::from_field_text(in_field, &[&*field.scope, &word].concat());
                *found.entry(word).or_default() += view.count(&PlanTerm::find(view, index, term)?)?;
            }
        }
    }
    let Some(best) = best(found, &near) else { return Ok(None) };
    let written = written(view, &best, &near)?;
    Ok(Some(written.unwrap_or(best)))
}

fn best(found: BTreeMap<String, u64>, near: &DFA) -> Option<String> {
    let distance = |word: &str| match near.eval(word) {
        Distance::Exact(changes) | Distance::AtLeast(changes) => changes,
    };
    let seen = found.into_iter().filter(|(_, count)| *count > 0);
    let best = seen.min_by_key(|(word, count)| (distance(word), u64::MAX - count, word.clone()));
    best.map(|(word, _)| word)
}

/// What is found may be a stem, such as `exercis`, that nobody wrote: then the nearest of the words it is the stem of.
fn written(view: &View<'_>, stem: &str, near: &DFA) -> Result<Option<String>, SearchError> {
    let layout = view.segments.layout;
    // The last letter of a stem may be another one in the word: `happi` of `happy`.
    let begin = stem.char_indices().next_back().map_or(stem, |(last, _)| &stem[..last]);
    let lengths = stem.len()..=stem.len() + LONGEST_ENDING;
    let (mut as_stem, mut words, mut known) = (0, BTreeMap::new(), HashMap::new());
    for field in 0..view.scopes.fields.len() {
        as_stem += view.count(&PlanTerm::find(view, field, view.term(layout.text, field, stem))?)?;
        for_each_word(view, (field, layout.surface), begin, |word, term| {
            let mut has_stem = || forms(word).iter().any(|form| form == stem);
            if lengths.contains(&word.len()) && *known.entry(word.to_owned()).or_insert_with(&mut has_stem) {
                *words.entry(word.to_owned()).or_default() += view.count(&term)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    // Each passage that has the stem from another word is counted with that word.
    let is_written = words.values().sum::<u64>() < as_stem;
    Ok(if is_written { None } else { best(words, near) })
}

fn words_near(
    view: &View<'_>,
    field: Field,
    scope: &str,
    near: &DFA,
) -> Result<BTreeSet<String>, SearchError> {
    let mut words = BTreeSet::new();
    for segment in view.segments.all() {
        let inverted = segment.reader.inverted_index(field)?;
        let mut terms = inverted.terms().search(InScope { scope: scope.as_bytes(), near }).into_stream()?;
        while terms.advance() {
            words.extend(own_word(terms.key(), scope));
        }
    }
    Ok(words)
}

fn own_word(key: &[u8], begin: &str) -> Option<String> {
    let key = std::str::from_utf8(key).ok()?;
    key.starts_with(begin).then(|| key[SCOPE_CHARS..].to_owned())
}

/// Accepts the scope, and then what the automaton accepts.
struct InScope<'a> {
    scope: &'a [u8],
    near: &'a DFA,
}

#[derive(Clone, Copy)]
enum Walk {
    Scope(usize),
    Word(u32),
    Lost,
}

impl Automaton for InScope<'_> {
    type State = Walk;

    fn start(&self) -> Walk {
        Walk::Scope(0)
    }

    fn is_match(&self, state: &Walk) -> bool {
        matches!(state, Walk::Word(state) if matches!(self.near.distance(*state), Distance::Exact(_)))
    }

    fn can_match(&self, state: &Walk) -> bool {
        match state {
            Walk::Scope(_) => true,
            Walk::Word(state) => *state != SINK_STATE,
            Walk::Lost => false,
        }
    }

    fn accept(&self, state: &Walk, byte: u8) -> Walk {
        match *state {
            Walk::Scope(at) if self.scope[at] != byte => Walk::Lost,
            Walk::Scope(at) if at + 1 == self.scope.len() => Walk::Word(self.near.initial_state()),
            Walk::Scope(at) => Walk::Scope(at + 1),
            Walk::Word(state) => Walk::Word(self.near.transition(state, byte)),
            Walk::Lost => Walk::Lost,
        }
    }
}
