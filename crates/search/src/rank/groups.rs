//! What a query looks for, resolved against the plan's own part of the index.
//!
//! Every clause becomes one group: all forms of one word in all granted fields, with one count. Nothing
//! outside the plan has a term in a group.

use pdpp_evidence::{Clause, Need, What, forms};
use pdpp_store::Correction;
use tantivy::DocId;

use super::phrase::phrase_docs;
use super::terms::PlanTerm;
use super::{Pace, View, spelling};
use crate::SearchError;

/// What the parts of a name count when the name itself occurs nowhere.
const PARTS_SHARE: f64 = 0.5;

/// One thing looked for.
pub(crate) struct Group {
    /// As typed.
    pub(crate) text: String,
    pub(crate) need: Need,
    /// A function word: it helps to see the words in order, and has no weight of its own.
    pub(crate) is_stop: bool,
    /// Quoted: it has to occur, unless no record has all that is quoted.
    pub(crate) is_quoted: bool,
    pub(crate) matches: Matches,
    /// The word as typed and folded, wherever it stands beside the terms that match; a passage that has only its
    /// stem matches a little less. `None` where that is no question.
    pub(crate) typed: Option<Vec<PlanTerm>>,
    /// The passages of the plan that have it.
    pub(crate) count: u64,
    pub(crate) idf: f64,
    /// Whether somebody in an actor field is called so.
    pub(crate) is_name: bool,
}

/// Where a group matches.
pub(crate) enum Matches {
    /// Where any of these terms stands, each in its field of the plan.
    Terms(Vec<PlanTerm>),
    /// In these documents so many times, by segment.
    Docs(Vec<Vec<(DocId, u32)>>),
}

impl Group {
    /// Whether it gives a record credit.
    pub(crate) fn scores(&self) -> bool {
        !self.is_stop && self.need != Need::Without && self.count > 0
    }

    /// Every living document of the plan that has it, as (segment, document).
    pub(crate) fn for_each_doc(
        &self,
        view: &View<'_>,
        mut visit: impl FnMut(usize, DocId),
    ) -> Result<(), SearchError> {
        for number in 0..view.segments.all().len() {
            match &self.matches {
                Matches::Docs(docs) => docs[number].iter().for_each(|(doc, _)| visit(number, *doc)),
                Matches::Terms(terms) => {
                    for term in terms {
                        term.for_each_doc(view, number, |doc| visit(number, doc))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Groups in the order of the clauses, and what was looked for instead of what was typed.
pub(crate) struct Groups {
    pub(crate) all: Vec<Group>,
    pub(crate) corrected: Vec<Correction>,
}

impl Groups {
    /// `None` when a short search would have to look for other spellings.
    pub(crate) fn resolve(
        view: &View<'_>,
        clauses: &[Clause],
        pace: Pace,
    ) -> Result<Option<Self>, SearchError> {
        let resolved = Self::of(view, clauses)?;
        if resolved.all.iter().any(Group::scores) {
            return Ok(Some(resolved));
        }
        if pace == Pace::Short {
            return Ok(None);
        }
        let (mut near, mut corrected) = (clauses.to_vec(), Vec::new());
        for clause in near.iter_mut().filter(|clause| clause.need != Need::Without && !clause.stop) {
            let What::Word { forms: typed } = &clause.what else { continue };
            let Some(used) = spelling::nearest(view, typed)? else { continue };
            clause.what = What::Word { forms: forms(&used) };
            corrected.push(Correction { typed: clause.text.clone(), used });
        }
        if corrected.is_empty() {
            return Ok(Some(resolved));
        }
        let mut resolved = Self::of(view, &near)?;
        resolved.corrected.append(&mut corrected);
        Ok(Some(resolved))
    }

    fn of(view: &View<'_>, clauses: &[Clause]) -> Result<Self, SearchError> {
        let mut resolved = Self { all: Vec::new(), corrected: Vec::new() };
        for clause in clauses {
            resolved.add(view, clause)?;
        }
        Ok(resolved)
    }

    fn add(&mut self, view: &View<'_>, clause: &Clause) -> Result<(), SearchError> {
        match &clause.what {
            What::Word { forms } => self.push(view, clause, words(view, forms)?, forms.first().cloned(), 1.0),
            What::Prefix { folded } => {
                let terms = spelling::expand(view, folded)?;
                self.push(view, clause, Matches::Terms(terms), None, 1.0)
            }
            What::Compound { whole, parts } if parts.len() < 2 => {
                let forms: Vec<_> = std::iter::once(whole).chain(parts.iter().flatten()).cloned().collect();
                self.push(view, clause, words(view, &forms)?, Some(whole.clone()), 1.0)
            }
            What::Compound { whole, parts } => {
                let docs = phrase(view, parts)?;
                if docs.iter().all(Vec::is_empty) && clause.need == Need::Should {
                    return self.add_words(view, clause, parts, PARTS_SHARE);
                }
                self.push(view, clause, Matches::Docs(docs), Some(whole.clone()), 1.0)
            }
            What::Phrase(slots) => {
                let docs = phrase(view, slots)?;
                if docs.iter().all(Vec::is_empty) && clause.need == Need::Should {
                    let used: Vec<_> = slots.iter().filter_map(|forms| forms.first()).cloned().collect();
                    let typed = format!("\"{}\"", clause.text);
                    self.corrected.push(Correction { typed, used: used.join(" ") });
                    return self.add_words(view, clause, slots, 1.0);
                }
                self.push(view, clause, Matches::Docs(docs), None, 1.0)?;
                if let Some(group) = self.all.last_mut() {
                    group.is_quoted = clause.need == Need::Should;
                }
                Ok(())
            }
        }
    }

    /// The words of a phrase or name, each for itself.
    fn add_words(
        &mut self,
        view: &View<'_>,
        clause: &Clause,
        slots: &[Vec<String>],
        share: f64,
    ) -> Result<(), SearchError> {
        for forms in slots {
            let Some(surface) = forms.first() else { continue };
            let stop = clause.stop || pdpp_evidence::is_stop_word(surface);
            let word = Clause { stop, text: surface.clone(), ..clause.clone() };
            self.push(view, &word, words(view, forms)?, Some(surface.clone()), share)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        view: &View<'_>,
        clause: &Clause,
        mut matches: Matches,
        surface: Option<String>,
        share: f64,
    ) -> Result<(), SearchError> {
        let mut group = Group {
            text: clause.text.clone(),
            need: clause.need,
            is_stop: clause.stop,
            is_quoted: false,
            typed: None,
            count: 0,
            idf: 0.0,
            is_name: false,
            matches: Matches::Terms(Vec::new()),
        };
        match &mut matches {
            Matches::Docs(docs) => group.count = docs.iter().map(|docs| docs.len() as u64).sum(),
            // Function words are not counted: they have no weight, and are the longest lists.
            Matches::Terms(_) if clause.stop => {}
            Matches::Terms(terms) => {
                let mut kept = Vec::with_capacity(terms.len());
                for term in terms.drain(..) {
                    let count = view.count(&term)?;
                    if count > 0 {
                        group.count += count;
                        group.is_name |= view.scopes.fields[term.field].is_actor;
                        kept.push(term);
                    }
                }
                *terms = kept;
            }
        }
        group.matches = matches;
        if group.scores() {
            group.typed = surface.map(|surface| typed(view, &mut group.matches, &surface)).transpose()?;
        }
        group.idf = share * view.idf(group.count);
        self.all.push(group);
        Ok(())
    }
}

/// The forms of a word in every field of the plan.
fn words(view: &View<'_>, forms: &[String]) -> Result<Matches, SearchError> {
    let mut terms = Vec::with_capacity(view.scopes.fields.len() * forms.len());
    for field in 0..view.scopes.fields.len() {
        for form in forms {
            let term = PlanTerm::find(view, field, view.term(view.segments.layout.text, field, form))?;
            if !term.is_nowhere() {
                terms.push(term);
            }
        }
    }
    Ok(Matches::Terms(terms))
}

/// A word as it was typed: a term that matches and is the word itself is marked, others are given unless every match
/// is the word itself.
fn typed(view: &View<'_>, matches: &mut Matches, surface: &str) -> Result<Vec<PlanTerm>, SearchError> {
    let mut typed = Vec::new();
    if let Matches::Terms(terms) = matches {
        for one in terms.iter_mut() {
            one.is_typed = one.term == view.term(one.term.field(), one.field, surface);
        }
        if terms.iter().all(|one| one.is_typed) {
            return Ok(typed);
        }
    }
    for field in 0..view.scopes.fields.len() {
        for in_field in [view.segments.layout.text, view.segments.layout.surface] {
            let term = view.term(in_field, field, surface);
            let is_known = match matches {
                Matches::Terms(terms) => terms.iter().any(|one| one.field == field && one.term == term),
                Matches::Docs(_) => false,
            };
            if !is_known {
                typed.push(PlanTerm::find(view, field, term)?);
            }
        }
    }
    typed.retain(|term| !term.is_nowhere());
    Ok(typed)
}

/// The documents within the grant that have a phrase.
fn phrase(view: &View<'_>, slots: &[Vec<String>]) -> Result<Vec<Vec<(DocId, u32)>>, SearchError> {
    let mut by_segment = Vec::new();
    for number in 0..view.segments.all().len() {
        let mut docs = Vec::new();
        for field in 0..view.scopes.fields.len() {
            docs.extend(phrase_docs(view, number, field, slots, None)?);
        }
        docs.sort_unstable();
        by_segment.push(docs);
    }
    Ok(by_segment)
}
