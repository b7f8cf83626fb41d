//! What a query looks for, resolved against the plan's own part of the index.
//!
//! Every clause becomes one group: all forms of one word in all granted fields, with one count. Nothing
//! outside the plan has a term in a group.

use pdpp_evidence::{Clause, Need, What, forms};
use pdpp_store::Correction;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, TERMINATED, Term};

use super::View;
use super::phrase::phrase_docs;
use super::spelling;
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
    /// The word as typed and folded; a passage that has only its stem matches a little less.
    pub(crate) surface: Option<String>,
    /// The passages of the plan that have it.
    pub(crate) count: u64,
    pub(crate) idf: f64,
    /// Whether somebody in an actor field is called so.
    pub(crate) is_name: bool,
}

/// Where a group matches.
pub(crate) enum Matches {
    /// Where any of these terms stands, each in its field of the plan.
    Terms(Vec<(usize, Term)>),
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
        for (number, segment) in view.segments.all().iter().enumerate() {
            match &self.matches {
                Matches::Docs(docs) => docs[number].iter().for_each(|(doc, _)| visit(number, *doc)),
                Matches::Terms(terms) => {
                    for (field, term) in terms {
                        let inverted = segment.reader.inverted_index(term.field())?;
                        let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)?
                        else {
                            continue;
                        };
                        let bounds = &view.scopes.parts[view.scopes.fields[*field].part].grant;
                        let mut doc = postings.doc();
                        while doc != TERMINATED {
                            if segment.is_alive(doc) && bounds.allows(segment, doc) {
                                visit(number, doc);
                            }
                            doc = postings.advance();
                        }
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
    pub(crate) fn resolve(view: &View<'_>, clauses: &[Clause]) -> Result<Self, SearchError> {
        let resolved = Self::of(view, clauses)?;
        if resolved.all.iter().any(Group::scores) {
            return Ok(resolved);
        }
        let (mut near, mut corrected) = (clauses.to_vec(), Vec::new());
        for clause in near.iter_mut().filter(|clause| clause.need != Need::Without && !clause.stop) {
            let What::Word { forms: typed } = &clause.what else { continue };
            let Some(used) = spelling::nearest(view, typed)? else { continue };
            clause.what = What::Word { forms: forms(&used) };
            corrected.push(Correction { typed: clause.text.clone(), used });
        }
        if corrected.is_empty() {
            return Ok(resolved);
        }
        let mut resolved = Self::of(view, &near)?;
        resolved.corrected.append(&mut corrected);
        Ok(resolved)
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
            What::Word { forms } => self.push(view, clause, words(view, forms), forms.first().cloned(), 1.0),
            What::Prefix { folded } => {
                let terms = spelling::expand(view, folded)?;
                self.push(view, clause, Matches::Terms(terms), None, 1.0)
            }
            What::Compound { whole, parts } if parts.len() < 2 => {
                let forms: Vec<_> = std::iter::once(whole).chain(parts.iter().flatten()).cloned().collect();
                self.push(view, clause, words(view, &forms), Some(whole.clone()), 1.0)
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
            self.push(view, &word, words(view, forms), Some(surface.clone()), share)?;
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
            surface,
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
                for (field, term) in terms.drain(..) {
                    let count = view.count(field, &term)?;
                    if count > 0 {
                        group.count += count;
                        group.is_name |= view.scopes.fields[field].is_actor;
                        kept.push((field, term));
                    }
                }
                *terms = kept;
            }
        }
        group.matches = matches;
        group.idf = share * view.idf(group.count);
        self.all.push(group);
        Ok(())
    }
}

/// The forms of a word in every field of the plan.
fn words(view: &View<'_>, forms: &[String]) -> Matches {
    let layout = view.segments.layout;
    let term = |scope: &str, form: &str| Term::from_field_text(layout.text, &[scope, form].concat());
    let fields = view.scopes.fields.iter().enumerate();
    Matches::Terms(
        fields
            .flat_map(|(index, field)| forms.iter().map(move |form| (index, term(&field.scope, form))))
            .collect(),
    )
}

/// The documents within the grant that have a phrase.
fn phrase(view: &View<'_>, slots: &[Vec<String>]) -> Result<Vec<Vec<(DocId, u32)>>, SearchError> {
    let layout = view.segments.layout;
    let mut by_segment = Vec::new();
    for segment in view.segments.all() {
        let mut docs = Vec::new();
        for field in &view.scopes.fields {
            let bounds = &view.scopes.parts[field.part].grant;
            let found = phrase_docs(segment, layout, &field.scope, slots)?;
            docs.extend(found.into_iter().filter(|(doc, _)| bounds.allows(segment, *doc)));
        }
        docs.sort_unstable();
        by_segment.push(docs);
    }
    Ok(by_segment)
}
