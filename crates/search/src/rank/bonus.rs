//! What makes a match better than its words: standing as they were typed, and the month they name.

use pdpp_evidence::{Clause, Need, What};
use tantivy::DocId;

use super::View;
use super::candidates::LIMIT;
use super::phrase::phrase_docs;
use crate::SearchError;
use crate::segments::DocAt;

/// The most for a query that occurs word for word, in steps of a word.
const VERBATIM: f64 = 0.5;
const VERBATIM_WORDS: usize = 4;
/// A query of more words is no quotation. A name alone can have that many parts.
const MAX_WORDS: usize = 64;
/// For a record of the month the query names.
const MONTH: f64 = 0.5;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Where the whole query stands as it was typed.
#[derive(Default)]
pub(crate) struct Verbatim {
    words: usize,
    /// The passages and how often they have it, in order.
    pub(crate) docs: Vec<(DocAt, u32)>,
}

/// Every bonus of one query.
pub(crate) struct Bonuses {
    pub(crate) verbatim: Verbatim,
    pub(crate) time: NamedTime,
}

/// Finds the query as one phrase, function words included. `whole` are the passages that have all its words, where
/// they are known: what has it word for word is among them.
pub(crate) fn verbatim(
    view: &View<'_>,
    clauses: &[Clause],
    whole: Option<&[(DocAt, usize)]>,
) -> Result<Verbatim, SearchError> {
    let mut slots: Vec<Vec<String>> = Vec::new();
    for clause in clauses.iter().filter(|clause| clause.need != Need::Without) {
        match &clause.what {
            What::Word { forms } => slots.push(forms.clone()),
            What::Compound { whole, parts } if parts.is_empty() => slots.push(vec![whole.clone()]),
            What::Compound { parts, .. } => slots.extend(parts.iter().cloned()),
            What::Prefix { .. } | What::Phrase(_) => return Ok(Verbatim::default()),
        }
    }
    let mut found = Verbatim { words: slots.len(), docs: Vec::new() };
    if !(2..=MAX_WORDS).contains(&slots.len()) {
        return Ok(found);
    }
    for number in 0..view.segments.all().len() {
        for field in 0..view.scopes.fields.len() {
            let here = whole.map(|whole| {
                let here = whole.iter().filter(|(at, its)| at.segment == number && *its == field);
                here.map(|(at, _)| at.doc).collect::<Vec<_>>()
            });
            if here.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let docs = phrase_docs(view, number, field, &slots, here.as_deref())?;
            found.docs.extend(docs.into_iter().map(|(doc, times)| (at(number, doc), times)));
        }
    }
    found.docs.sort_unstable();
    Ok(found)
}

fn at(segment: usize, doc: DocId) -> DocAt {
    DocAt { segment, doc }
}

impl Verbatim {
    pub(crate) fn has(&self, at: DocAt) -> bool {
        self.docs.binary_search_by_key(&at, |(at, _)| *at).is_ok()
    }

    /// The most it can be for a record that is not a candidate: those that have the query word for word are, unless
    /// they are too many.
    pub(crate) fn factor_of_others(&self) -> f64 {
        if self.docs.len() > LIMIT { self.factor() } else { 1.0 }
    }

    #[expect(clippy::cast_precision_loss, reason = "at most four")]
    pub(crate) fn factor(&self) -> f64 {
        1.0 + VERBATIM * self.words.saturating_sub(1).min(VERBATIM_WORDS) as f64
    }
}

/// The months and years a query names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedTime {
    months: Vec<i64>,
    years: Vec<i64>,
}

impl NamedTime {
    /// A month's name has a capital: `may` and `march` are words.
    pub(crate) fn of(clauses: &[Clause]) -> Self {
        let mut named = Self::default();
        for clause in clauses.iter().filter(|clause| clause.need != Need::Without) {
            for word in clause.text.split(|c: char| !c.is_alphanumeric()) {
                let month = MONTHS.iter().position(|month| word.eq_ignore_ascii_case(month));
                if let Some(month) = month.filter(|_| word.starts_with(|c: char| c.is_ascii_uppercase())) {
                    named.months.extend(i64::try_from(month));
                } else if word.len() == 4 && (word.starts_with("19") || word.starts_with("20")) {
                    named.years.extend(word.parse::<i64>());
                }
            }
        }
        named
    }

    pub(crate) fn is_none(&self) -> bool {
        self.months.is_empty() && self.years.is_empty()
    }

    /// Whether a record's own time says what a word of the query does: the month or the year it names.
    pub(crate) fn is_told_by(&self, micros: Option<i64>, word: &str) -> bool {
        let Some(month) = micros.filter(|_| !self.is_none()).map(month_number) else { return false };
        let (year, of_year) = (month.div_euclid(12), month.rem_euclid(12));
        let names = |index: i64| {
            let name = usize::try_from(index).ok().and_then(|index| MONTHS.get(index));
            name.is_some_and(|name| word.eq_ignore_ascii_case(name))
        };
        let is_year = self.years.is_empty() || self.years.contains(&year);
        let is_month = self.months.is_empty() || self.months.contains(&of_year);
        (is_year && self.months.contains(&of_year) && names(of_year))
            || (is_month && self.years.contains(&year) && word.parse() == Ok(year))
    }

    /// What a record of this time is multiplied by.
    pub(crate) fn factor(&self, micros: Option<i64>) -> f64 {
        let Some(month) = micros.filter(|_| !self.is_none()).map(month_number) else { return 1.0 };
        let is_named = |month: i64| {
            let year = self.years.is_empty() || self.years.contains(&month.div_euclid(12));
            self.months.contains(&month.rem_euclid(12)) && year
        };
        let is_year = self.months.is_empty() && self.years.contains(&month.div_euclid(12));
        let share = if is_named(month) || is_year {
            1.0
        } else if is_named(month - 1) {
            // What happened late in a month is often told in the next.
            0.5
        } else {
            0.0
        };
        1.0 + MONTH * share
    }
}

/// Months since the year 0, by the proleptic Gregorian calendar in UTC.
fn month_number(micros: i64) -> i64 {
    // Days from the civil calendar, counted from 1 March of the year 0, so that leap days come last.
    let days = micros.div_euclid(86_400_000_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (year, month) = (year + era * 400 + i64::from(month >= 10), (month + 2) % 12);
    year * 12 + month
}

#[cfg(test)]
mod tests {
    use pdpp_evidence::parse_query;
    use pdpp_wire::Instant;

    use super::*;

    #[test]
    fn months_are_counted_as_the_calendar_does() {
        for (date, month) in [
            ("1970-01-01", 1970 * 12),
            ("2024-02-29", 2024 * 12 + 1),
            ("2024-03-01", 2024 * 12 + 2),
            ("1969-12-31", 1969 * 12 + 11),
            ("2023-12-31", 2023 * 12 + 11),
            ("2100-02-28", 2100 * 12 + 1),
        ] {
            assert_eq!(month_number(Instant::parse(date).unwrap().micros()), month, "{date}");
        }
    }

    #[test]
    fn a_named_month_lifts_its_records_and_half_the_next() {
        let named = NamedTime::of(&parse_query("trip in July 2023").clauses);
        for (date, factor) in
            [("2023-07-03", 1.5), ("2023-08-01", 1.25), ("2023-09-01", 1.0), ("2022-07-03", 1.0)]
        {
            let found = named.factor(Instant::parse(date).map(Instant::micros));
            assert!((found - factor).abs() < 1e-9, "{date} {found}");
        }
        assert_eq!(NamedTime::of(&parse_query("you may march").clauses), NamedTime::default());
    }
}
