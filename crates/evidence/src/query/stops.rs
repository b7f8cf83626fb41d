//! Tells the function words of a query from its words.
//!
//! `war` is a verb in a German question and a subject in an English one, so the query's own function words say
//! which language's list to use. Capitals in a query that has others make a name: `WHO`, `IT`, `US`.

use super::{Clause, Need, What};
use crate::words::{is_stop_word, language_bit, languages_by_function_words, stop_languages};

pub(super) fn flag(clauses: &mut [Clause], query: &str) {
    let own = match languages_by_function_words(query)[..] {
        [language] => language_bit(language),
        _ => 0,
    };
    let has_lower = query.chars().any(char::is_lowercase);
    for clause in clauses.iter_mut().filter(|clause| clause.need == Need::Should) {
        let is_name = has_lower && is_acronym(&clause.text);
        clause.stop |= !is_name && is_function_word(&clause.what, own);
    }
    let all = clauses.iter().all(|clause| clause.stop || clause.need == Need::Without);
    if all {
        for clause in clauses {
            clause.stop = false;
        }
    }
}

fn is_function_word(what: &What, own: u32) -> bool {
    let is_stop = |term: &String| is_stop_word(term) || stop_languages(term) & own != 0;
    match what {
        What::Word { forms } => forms.first().is_some_and(is_stop),
        // "what's" is listed; of "qu'est" and "d'un" the parts are. A hyphen makes a new word: "to-do".
        What::Compound { whole, parts } => {
            is_stop(whole)
                || (whole.contains('\'')
                    && !parts.is_empty()
                    && parts.iter().all(|forms| forms.first().is_some_and(|term| stop_languages(term) != 0)))
        }
        What::Prefix { .. } | What::Phrase(_) => false,
    }
}

/// Two letters or more, all of them capitals, and not the operator of another search language.
fn is_acronym(text: &str) -> bool {
    text.chars().count() > 1 && text.chars().all(char::is_uppercase) && !matches!(text, "AND" | "OR" | "NOT")
}
