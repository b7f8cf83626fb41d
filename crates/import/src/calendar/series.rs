//! When an event takes place: its start, what its rules and extra dates add, and what its exceptions take away.
//!
//! A rule without an end must stop somewhere, and the same file must always give the same dates. So the horizon is
//! drawn from the file itself, a year after its newest time stamp, and never from today's clock.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{Span, Timestamp};

use super::expand::Expansion;
use super::rule::Rule;
use super::when::{Clock, When};
use crate::content_lines::Component;

/// Most dates kept of one event: the newest before the horizon.
pub(super) const MOST_INSTANCES: usize = 1000;
/// Most extra dates and exceptions that are looked at.
const MOST_LISTED: usize = 20_000;

/// The dates of an event, and what could not be followed.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) starts: BTreeMap<Timestamp, When>,
    /// Whether dates were left out because there are too many.
    pub(super) truncated: bool,
    pub(super) problems: Vec<String>,
}

/// A year after a moment.
pub(super) fn horizon_after(newest: Timestamp) -> Timestamp {
    newest.checked_add(Span::new().hours(366 * 24)).unwrap_or(newest)
}

impl Series {
    /// Lays out an event.
    pub(super) fn of(component: &Component, clock: &mut Clock<'_>, start: &When, horizon: Timestamp) -> Self {
        let mut series = Self::default();
        series.starts.extend(start.timestamp().map(|at| (at, start.clone())));
        for property in component.all("RRULE") {
            let added = series.follow(&property.value, clock, start, horizon);
            series.starts.extend(added);
        }
        for property in component.all("RDATE") {
            for when in clock.read_list(property).into_iter().take(MOST_LISTED) {
                match when.and_then(|when| Some((when.timestamp()?, when))) {
                    Some((at, when)) => drop(series.starts.insert(at, when)),
                    None => series.complain("RDATE holds something that is no time".to_owned()),
                }
            }
        }
        series.except(component, clock, start, horizon);
        while series.starts.len() > MOST_INSTANCES {
            series.truncated = true;
            // The far past goes first; what lies beyond the horizon goes before it.
            let beyond = series.starts.last_key_value().is_some_and(|(at, _)| *at > horizon);
            if beyond {
                series.starts.pop_last()
            } else {
                series.starts.pop_first()
            };
        }
        series
    }

    fn complain(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The dates of one rule.
    fn follow(
        &mut self,
        text: &str,
        clock: &mut Clock<'_>,
        start: &When,
        horizon: Timestamp,
    ) -> BTreeMap<Timestamp, When> {
        let mut kept = BTreeMap::new();
        let rule = match Rule::parse(text) {
            Ok(rule) => rule,
            Err(problem) => {
                self.complain(format!("The recurrence rule is not followed: {problem}"));
                return kept;
            }
        };
        let until = match rule.until.as_deref().map(|until| Until::parse(until, clock, start)) {
            Some(None) => {
                self.complain("The recurrence rule is not followed: UNTIL is no time".to_owned());
                return kept;
            }
            Some(until) => until,
            None => None,
        };
        let endless = rule.count.is_none() && until.is_none();
        let mut expansion = Expansion::new(&rule, start.civil);
        for civil in expansion.by_ref() {
            let when = start.at(civil);
            let Some(at) = when.timestamp() else { continue };
            if until.as_ref().is_some_and(|until| until.is_before(&when, at)) {
                break;
            }
            if at > horizon && (endless || kept.len() >= MOST_INSTANCES) {
                self.truncated |= !endless;
                break;
            }
            kept.insert(at, when);
            if kept.len() > MOST_INSTANCES {
                self.truncated = true;
                kept.pop_first();
            }
        }
        self.truncated |= expansion.gave_up;
        kept
    }

    /// Takes away what is excepted.
    fn except(&mut self, component: &Component, clock: &mut Clock<'_>, start: &When, horizon: Timestamp) {
        let (mut moments, mut days) = (BTreeSet::new(), BTreeSet::<Date>::new());
        for property in component.all("EXDATE") {
            for when in clock.read_list(property).into_iter().take(MOST_LISTED) {
                match when {
                    // Some programs except a whole day from a series that has hours.
                    Some(when) if when.all_day => drop(days.insert(when.civil.date())),
                    Some(when) => moments.extend(when.timestamp()),
                    None => self.complain("EXDATE holds something that is no time".to_owned()),
                }
            }
        }
        for property in component.all("EXRULE") {
            moments.extend(self.follow(&property.value, clock, start, horizon).into_keys());
        }
        self.starts.retain(|at, when| !moments.contains(at) && !days.contains(&when.civil.date()));
    }
}

/// The last time a rule may reach.
enum Until {
    Day(Date),
    Moment(Timestamp),
}

impl Until {
    fn parse(text: &str, clock: &mut Clock<'_>, start: &When) -> Option<Self> {
        let when = clock.value(text, start.zone_name.as_deref())?;
        if when.all_day || start.all_day {
            return Some(Self::Day(when.civil.date()));
        }
        when.timestamp().map(Self::Moment)
    }

    fn is_before(&self, when: &When, at: Timestamp) -> bool {
        match self {
            Self::Day(day) => when.civil.date() > *day,
            Self::Moment(moment) => at > *moment,
        }
    }
}
