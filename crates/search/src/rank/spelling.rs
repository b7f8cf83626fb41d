//! Words of the plan's own dictionary: those that begin with a prefix, and those near a typed word.

use std::collections::{BTreeMap, BTreeSet};

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy::Term;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::View;
use super::terms::PlanTerm;
use crate::SearchError;
use crate::place::SCOPE_CHARS;

/// Words a prefix stands for at most.
const MAX_EXPANSIONS: usize = 64;
/// Words looked at for one prefix in one scope of one segment.
const MAX_LOOKED_AT: usize = 20_000;

/// The terms that begin with a prefix: the most frequent ones, by what the plan sees.
pub(crate) fn expand(view: &View<'_>, prefix: &str) -> Result<Vec<PlanTerm>, SearchError> {
    let layout = view.segments.layout;
    let mut found: BTreeMap<String, (u64, Vec<PlanTerm>)> = BTreeMap::new();
    for (index, field) in view.scopes.fields.iter().enumerate() {
        let begin = [&field.scope, prefix].concat();
        for in_field in [layout.text, layout.surface] {
            let mut words = BTreeSet::new();
            for segment in view.segments.all() {
                let inverted = segment.reader.inverted_index(in_field)?;
                let mut terms = inverted.terms().range().ge(begin.as_bytes()).into_stream()?;
                let mut looked_at = 0;
                while terms.advance() && looked_at < MAX_LOOKED_AT {
                    let Some(word) = own_word(terms.key(), &begin) else { break };
                    words.insert(word);
                    looked_at += 1;
                }
            }
            for word in words {
                let term = Term::from_field_text(in_field, &[&*field.scope, &word].concat());
                let term = PlanTerm::find(view, index, term)?;
                let count = view.count(&term)?;
                if count > 0 {
                    let entry = found.entry(word).or_default();
                    entry.0 += count;
                    entry.1.push(term);
                }
            }
        }
    }
    let mut best: Vec<_> = found.into_iter().collect();
    best.sort_by(|(word, (count, _)), (other, (more, _))| more.cmp(count).then_with(|| word.cmp(other)));
    best.truncate(MAX_EXPANSIONS);
    Ok(best.into_iter().flat_map(|(_, (_, terms))| terms).collect())
}

fn own_word(key: &[u8], begin: &str) -> Option<String> {
    let key = std::str::from_utf8(key).ok()?;
    key.starts_with(begin).then(|| key[SCOPE_CHARS..].to_owned())
}

/// The word nearest to a typed one: fewest changes, then most frequent, then first in the alphabet.
pub(crate) fn nearest(view: &View<'_>, typed: &[String]) -> Result<Option<String>, SearchError> {
    let Some(word) = typed.first() else { return Ok(None) };
    let changes = match word.chars().count() {
        0..4 => return Ok(None),
        4..8 => 1,
        _ => 2,
    };
    let near = LevenshteinAutomatonBuilder::new(changes, true).build_dfa(word);
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
    let distance = |word: &str| match near.eval(word) {
        Distance::Exact(changes) | Distance::AtLeast(changes) => changes,
    };
    let best = found.into_iter().filter(|(_, count)| *count > 0);
    let best = best.min_by_key(|(word, count)| (distance(word), u64::MAX - count, word.clone()));
    Ok(best.map(|(word, _)| word))
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
