//! What a query comes to: its words, phrases and prefixes, each once, and no more than a search can bear.
//!
//! A phrase or name that stands nowhere becomes its words, and a query of 64 clauses could become two thousand. Every
//! passage that is looked at costs a look-up for each, so they are bounded here once more, and what is left out is
//! said.

use std::collections::HashMap;

use pdpp_evidence::{Clause, Ignored, IgnoredReason, Need, What};
use pdpp_store::Correction;

use super::View;
use super::phrase::{PhraseDocs, phrase};
use crate::SearchError;

/// The most that is looked for at once.
const MAX_WISHES: usize = 64;
/// What the parts of a name count when the name itself occurs nowhere.
const PARTS_SHARE: f64 = 0.5;

/// One thing looked for.
pub(super) struct Wish {
    /// As typed.
    pub(super) text: String,
    pub(super) need: Need,
    pub(super) is_stop: bool,
    /// Quoted, and found.
    pub(super) is_quoted: bool,
    pub(super) sought: Sought,
    /// The word as typed and folded, where it can stand in other forms.
    pub(super) surface: Option<String>,
    /// What it counts, of 1.
    pub(super) share: f64,
    /// Whether it is a word of a phrase or name that stands nowhere.
    is_part: bool,
}

pub(super) enum Sought {
    /// Any of these forms.
    Word(Vec<String>),
    /// Words that begin with this.
    Prefix(String),
    /// What is in these documents.
    Docs(PhraseDocs),
}

/// What a query comes to, in the order of its clauses.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) all: Vec<Wish>,
    pub(super) corrected: Vec<Correction>,
    pub(super) ignored: Vec<Ignored>,
    /// The place of each word.
    known: HashMap<(Vec<String>, Need, bool), usize>,
}

impl Wishes {
    pub(super) fn of(view: &View<'_>, clauses: &[Clause]) -> Result<Self, SearchError> {
        let mut wishes = Self::default();
        for clause in clauses {
            wishes.add(view, clause)?;
        }
        wishes.limit();
        Ok(wishes)
    }

    fn add(&mut self, view: &View<'_>, clause: &Clause) -> Result<(), SearchError> {
        let mut wish = Wish {
            text: clause.text.clone(),
            need: clause.need,
            is_stop: clause.stop,
            is_quoted: false,
            sought: Sought::Word(Vec::new()),
            surface: None,
            share: 1.0,
            is_part: false,
        };
        let (slots, is_quoted) = match &clause.what {
            What::Word { forms } => {
                self.push_word(wish, forms.clone());
                return Ok(());
            }
            What::Prefix { folded } => {
                wish.sought = Sought::Prefix(folded.clone());
                self.all.push(wish);
                return Ok(());
            }
            What::Compound { whole, parts } if parts.len() < 2 || is_exact(clause.need, whole) => {
                // `-#spam` leaves out what is tagged so, and not every text with the word.
                let parts: &[Vec<String>] = if is_exact(clause.need, whole) { &[] } else { parts };
                let forms = std::iter::once(whole).chain(parts.iter().flatten());
                self.push_word(wish, forms.cloned().collect());
                return Ok(());
            }
            What::Compound { whole, parts } => {
                wish.surface = Some(whole.clone());
                (parts, false)
            }
            What::Phrase(slots) => (slots, true),
        };
        let docs = phrase(view, slots)?;
        if docs.iter().all(Vec::is_empty) && clause.need == Need::Should {
            self.break_apart(&wish, slots, is_quoted);
            return Ok(());
        }
        wish.is_quoted = is_quoted && clause.need == Need::Should;
        wish.sought = Sought::Docs(docs);
        self.all.push(wish);
        Ok(())
    }

    /// The words of a phrase or name that stands nowhere, each for itself.
    fn break_apart(&mut self, whole: &Wish, slots: &[Vec<String>], is_quoted: bool) {
        let words = || slots.iter().filter_map(|forms| forms.first());
        // Nobody looks for "qu'est-ce" as such.
        if !whole.is_stop {
            let used = words().map(String::as_str).collect::<Vec<_>>().join(" ");
            let typed = if is_quoted { format!("\"{}\"", whole.text) } else { whole.text.clone() };
            self.corrected.push(Correction { typed, used });
        }
        for (word, forms) in words().zip(slots) {
            let part = Wish {
                text: word.clone(),
                need: whole.need,
                is_stop: whole.is_stop || pdpp_evidence::is_stop_word(word),
                is_quoted: false,
                sought: Sought::Word(Vec::new()),
                surface: None,
                share: if is_quoted { 1.0 } else { PARTS_SHARE },
                is_part: true,
            };
            self.push_word(part, forms.clone());
        }
    }

    /// Adds a word, unless it is there.
    fn push_word(&mut self, mut wish: Wish, forms: Vec<String>) {
        let next = self.all.len();
        let place = *self.known.entry((forms.clone(), wish.need, wish.is_stop)).or_insert(next);
        if let Some(known) = self.all.get_mut(place) {
            known.share = known.share.max(wish.share);
            known.is_part &= wish.is_part;
            return;
        }
        wish.surface = forms.first().cloned();
        wish.sought = Sought::Word(forms);
        self.all.push(wish);
    }

    /// Drops what is too much, from the end: function words first, then words of what was broken apart. What was
    /// typed by itself is no more than a query has clauses, and stays.
    fn limit(&mut self) {
        let dropped = self.all.len().saturating_sub(MAX_WISHES);
        if dropped == 0 {
            return;
        }
        let (mut over, mut first) = (dropped, String::new());
        let droppable: [fn(&Wish) -> bool; 2] = [|wish| wish.is_stop, |wish| wish.is_part];
        for may_drop in droppable {
            let mut kept: Vec<_> = Vec::with_capacity(self.all.len());
            for wish in self.all.drain(..).rev() {
                if over > 0 && may_drop(&wish) {
                    over -= 1;
                    first = wish.text;
                } else {
                    kept.push(wish);
                }
            }
            kept.reverse();
            self.all = kept;
        }
        self.ignored.push(Ignored { reason: IgnoredReason::TooManyClauses, text: first, count: dropped });
    }
}

/// Whether only the name itself will do: one with a sign that makes it another thing than its word.
fn is_exact(need: Need, whole: &str) -> bool {
    let has_sign = !whole.starts_with(char::is_alphanumeric) || !whole.ends_with(char::is_alphanumeric);
    need != Need::Should && has_sign
}
