//! Changes sessions: what a reader must be told since a mark, and nothing hidden.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::scope::{Part, Scope, Seen};
use super::{Answer, Faults, Mark, Model, NEXT_CHANGES, Token};
use crate::archive::{Life, Row, shows};
use crate::moment::print;
use crate::question::{Arg, Question};

/// One entry, at its place: connection, then the latest visible change.
struct Entry {
    place: (String, u64),
    body: Value,
}

impl<'a> Model<'a> {
    /// `changes_since`, or the cursor of a changes page with nothing that belongs to other pages.
    pub(super) fn asks_for_changes(&self, question: &Question) -> bool {
        if question.token("changes_since").is_some_and(|value| *value != Arg::Text(String::new())) {
            return true;
        }
        let Some(Arg::Token(index)) = question.token("cursor") else { return false };
        matches!(self.tokens[*index], Token::ChangesPage { .. })
    }

    pub(super) fn changes(
        &self,
        question: &Question,
        scope: &Scope<'a>,
        shown: Option<BTreeSet<String>>,
        limit: u64,
        mut faults: Faults,
    ) -> Answer {
        let told = |name: &str| question.text(name).is_some_and(|value| value != "none");
        let alien = ["order", "sort", "count", "window"].iter().any(|name| told(name))
            || !question.filters().is_empty();
        let expand = !question.expand().is_empty() || !question.expand_limits().is_empty();
        // With a cursor alone it is as right to say that the cursor does not belong to such a query.
        let by_cursor = !question.has("changes_since");
        faults.add_if(alien, "invalid_request");
        faults.add_if(expand, "invalid_expand");
        faults.add_if((alien || expand) && by_cursor, "invalid_cursor");
        let basis = self.basis(question.who, scope, shown.as_ref(), "changes");
        let start = match (question.token("cursor"), question.token("changes_since")) {
            (Some(Arg::Token(index)), _) => match &self.tokens[*index] {
                Token::ChangesPage { basis: bound, since, horizon, after } if *bound == basis => {
                    Some((since.clone(), Some(horizon.clone()), Some(after.clone())))
                }
                _ => None,
            },
            (_, Some(Arg::Text(text))) => (text == "beginning").then_some((None, None, None)),
            (_, Some(Arg::Token(index))) => match &self.tokens[*index] {
                Token::ChangesSince { basis: bound, mark } if *bound == basis => {
                    Some((Some(mark.clone()), None, None))
                }
                _ => None,
            },
            (_, None) => None,
        };
        faults.add_if(start.is_none(), "invalid_cursor");
        let (false, Some((since, horizon, after))) = (faults.any(), start) else { return faults.answer() };
        let now = self.mark(scope);
        let gone = [&since, &horizon].into_iter().flatten().any(|mark| mark.epochs != now.epochs);
        if gone {
            return Answer::fault("cursor_expired");
        }
        let horizon = horizon.unwrap_or(now);
        let from = since.as_ref().map_or(0, |mark| mark.sequence);
        let mut entries = self.entries(scope, shown.as_ref(), from, horizon.sequence);
        entries.sort_by(|a, b| a.place.cmp(&b.place));
        entries.retain(|entry| after.as_ref().is_none_or(|after| entry.place > *after));
        let size = usize::try_from(limit.min(100)).expect("at most 100");
        let last = entries
            .get(size.saturating_sub(1))
            .filter(|_| entries.len() > size)
            .map(|entry| entry.place.clone());
        let cursor = last.map(|after| Token::ChangesPage {
            basis: basis.clone(),
            since,
            horizon: horizon.clone(),
            after,
        });
        let data = entries.into_iter().take(size).map(|entry| entry.body).collect();
        let mut body = Self::list(question, data, cursor.is_some());
        body["next_changes_since"] = json!(NEXT_CHANGES);
        Answer::Json { body, cursor, changes: Some(Token::ChangesSince { basis, mark: horizon }) }
    }

    fn mark(&self, scope: &Scope<'a>) -> Mark {
        let epochs = scope.parts.iter();
        let epochs =
            epochs.map(|part| (part.connection, self.archive.epoch(part.connection, &scope.stream.name)));
        Mark { sequence: self.archive.sequence, epochs: epochs.collect() }
    }

    fn entries(
        &self,
        scope: &Scope<'a>,
        shown: Option<&BTreeSet<String>>,
        since: u64,
        horizon: u64,
    ) -> Vec<Entry> {
        let mut entries = Vec::new();
        for part in &scope.parts {
            let rows = self.archive.rows.iter();
            for row in rows.filter(|row| row.connection == part.connection && row.stream == scope.stream.name)
            {
                entries.extend(self.entry(scope, *part, row, shown, (since, horizon)));
            }
        }
        entries
    }

    /// Live when a granted field changed inside the session's span; a tombstone when the record is gone
    /// since, and the life of it that spans the session's beginning was visible to the last.
    fn entry(
        &self,
        scope: &Scope<'a>,
        part: Part<'a>,
        row: &'a Row,
        shown: Option<&BTreeSet<String>>,
        (since, horizon): (u64, u64),
    ) -> Option<Entry> {
        let connection = self.id(part.connection).to_owned();
        if let Some(life) = row.life() {
            let changed = life.changed(part.fields()).0;
            let seen = shows(part.entry, &row.key, life.last());
            let place = (connection, changed);
            let body = (seen && since < changed && changed <= horizon)
                .then(|| self.shown(&scope.stream.name, &Seen { part, row, life }, shown, &[]))?;
            return Some(Entry { place, body });
        }
        let lives = row.lives();
        let life = lives.last()?;
        let (ended, emitted_at) = life.ended?;
        let spans = |life: &&Life| life.created() <= since && life.ended.is_some_and(|(end, _)| since < end);
        let seen = lives.iter().find(spans)?;
        if ended > horizon || !shows(part.entry, &row.key, seen.last()) {
            return None;
        }
        let mut body = self.envelope(&scope.stream.name, &row.key, part.connection);
        body["deleted"] = json!(true);
        body["deleted_at"] = json!(print(emitted_at));
        body["emitted_at"] = json!(print(emitted_at));
        Some(Entry { place: (connection, ended), body })
    }
}
