//! What was asked and answered, so that a run cannot become empty without anybody noticing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::compare::Reply;
use crate::question::{Arg, Question, Route};
use crate::world::DATES;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) stores: usize,
    pub(crate) questions: usize,
    /// Questions to the first store and its twin.
    pub(crate) requests: usize,
    /// Visible records whose ungranted fields differ in the twin.
    pub(crate) veiled: usize,
    /// Records that only one of the two stores has.
    pub(crate) alone: usize,
    /// Routes that served, codes that refused, and things worth seeing in an answer.
    pub(crate) seen: BTreeMap<String, usize>,
}

impl Tally {
    pub(crate) fn note(&mut self, question: &Question, reply: &Reply) {
        self.questions += 1;
        self.requests += 1;
        if reply.status >= 400 {
            return self.add(&reply.code());
        }
        self.add(&format!("{} {}", question.route.name(), reply.status));
        let body = reply.json();
        match question.route {
            Route::Records(_) => self.note_page(question, &body),
            Route::Record(..) if body.get("expanded").is_some() => self.note_children(&body),
            Route::Window(..) if body["window"]["match_start_chars"].is_u64() => self.add("a match"),
            Route::Aggregate(_) if body["groups"].as_array().is_some_and(|groups| groups.len() > 1) => {
                self.add("groups");
                let dated = question.text("group_by").is_some_and(|field| DATES.contains(&field));
                if dated {
                    self.add("groups of dates");
                }
            }
            _ => {}
        }
    }

    fn note_page(&mut self, question: &Question, body: &Value) {
        let records = body["data"].as_array().map_or(&[][..], Vec::as_slice);
        for (noticed, name) in [
            (!records.is_empty(), "a page with records"),
            (records.iter().any(|record| record["deleted"] == true), "a tombstone"),
            (matches!(question.token("cursor"), Some(Arg::Token(_))), "a next page"),
            (matches!(question.token("changes_since"), Some(Arg::Token(_))), "a next session"),
            (body["meta"]["count"]["value"].as_u64() > Some(0), "a count"),
            (body["meta"]["window"]["earliest_at"].is_string(), "time bounds"),
        ] {
            if noticed {
                self.add(name);
            }
        }
        for record in records {
            self.note_children(record);
        }
    }

    fn note_children(&mut self, record: &Value) {
        let relations = record["expanded"].as_object().into_iter().flatten();
        for (_, children) in relations {
            if children["data"].get(0).is_some() || children["id"].is_string() {
                self.add("a child");
            }
            if children["has_more"] == true {
                self.add("more children");
            }
        }
    }

    pub(crate) fn add(&mut self, name: &str) {
        *self.seen.entry(name.to_owned()).or_default() += 1;
    }
}
