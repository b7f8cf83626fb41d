//! What a query looks for, resolved against the plan's own part of the index.
//!
//! Everything wished for becomes one group: all forms of one word in all granted fields, with one count. Nothing
//! outside the plan has a term in a group.

use pdpp_evidence::{Clause, Ignored, Need, What, forms};
use pdpp_store::Correction;
use tantivy::DocId;

use super::phrase::PhraseDocs;
use super::prefixes::{self, Breadth};
use super::terms::PlanTerm;
use super::wishes::{Sought, Wish, Wishes};
use super::{Pace, View, spelling};
use crate::SearchError;
use crate::segments::DocAt;

/// Words for which another spelling is looked for: each is compared with every word of the plan.
const MAX_CORRECTED: usize = 8;

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
    Docs(PhraseDocs),
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

/// Groups in the order of the clauses.
pub(crate) struct Groups {
    pub(crate) all: Vec<Group>,
    /// What was looked for instead of what was typed.
    pub(crate) corrected: Vec<Correction>,
    /// What was left out.
    pub(crate) ignored: Vec<Ignored>,
    /// Whether nothing was: a prefix can stand for more words than are looked for.
    pub(crate) is_complete: bool,
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
        let asked = near.iter_mut().filter(|clause| clause.need != Need::Without && !clause.stop);
        let words = asked.filter_map(|clause| match &clause.what {
            What::Word { forms } => forms.first().cloned().map(|word| (clause, word)),
            _ => None,
        });
        for (clause, word) in words.take(MAX_CORRECTED) {
            let Some(used) = spelling::nearest(view, &word)? else { continue };
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
        let Wishes { all: wishes, corrected, ignored, .. } = Wishes::of(view, clauses)?;
        let breadth = Breadth::of(clauses);
        let all = Vec::with_capacity(wishes.len());
        let mut resolved = Self { all, corrected, is_complete: ignored.is_empty(), ignored };
        for wish in wishes {
            let (group, is_all) = Group::of(view, wish, breadth)?;
            resolved.is_complete &= is_all;
            resolved.all.push(group);
        }
        Ok(resolved)
    }
}

impl Group {
    /// The group, and whether it has all that was wished for.
    fn of(view: &View<'_>, wish: Wish, breadth: Breadth) -> Result<(Self, bool), SearchError> {
        let mut is_all = true;
        let mut matches = match wish.sought {
            Sought::Word(forms) => words(view, &forms)?,
            Sought::Prefix(folded) if wish.need != Need::Should => {
                Matches::Docs(prefixes::docs(view, &folded)?)
            }
            Sought::Prefix(folded) => {
                let (terms, is_whole) = breadth.expand(view, &folded)?;
                is_all = is_whole;
                Matches::Terms(terms)
            }
            Sought::Docs(docs) => Matches::Docs(docs),
        };
        let (mut count, mut is_name) = (0, false);
        match &mut matches {
            Matches::Docs(docs) => {
                count = docs.iter().map(|docs| docs.len() as u64).sum();
                is_name = is_in_actor(view, docs);
            }
            // Function words are not counted: they have no weight, and are the longest lists.
            Matches::Terms(_) if wish.is_stop => {}
            Matches::Terms(terms) => {
                let mut kept = Vec::with_capacity(terms.len());
                for term in terms.drain(..) {
                    let counted = view.count(&term)?;
                    if counted > 0 {
                        count += counted;
                        is_name |= view.scopes.fields[term.field].is_actor;
                        kept.push(term);
                    }
                }
                *terms = kept;
            }
        }
        let mut group = Self {
            text: wish.text,
            need: wish.need,
            is_stop: wish.is_stop,
            is_quoted: wish.is_quoted,
            typed: None,
            count,
            idf: wish.share * view.idf(count),
            is_name,
            matches,
        };
        if group.scores() {
            let surface = wish.surface;
            group.typed = surface.map(|surface| typed(view, &mut group.matches, &surface)).transpose()?;
        }
        Ok((group, is_all))
    }
}

/// Whether any of some documents names who wrote a record.
fn is_in_actor(view: &View<'_>, docs: &PhraseDocs) -> bool {
    let is_actor = |at: DocAt| view.field(at).is_some_and(|field| view.scopes.fields[field].is_actor);
    view.scopes.fields.iter().any(|field| field.is_actor)
        && (0..)
            .zip(docs)
            .any(|(segment, docs)| docs.iter().any(|(doc, _)| is_actor(DocAt { segment, doc: *doc })))
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
