//! The slow obvious model: plain lists and loops, written from the protocol.
//!
//! It knows nothing of plans, indexes or sealed tokens. Where a request has several faults, any of
//! their codes is right; where it has one, only that one is.

mod aggregate;
mod changes;
mod describe;
mod page;
mod record;
mod scope;
mod window;

pub(crate) use window::paths as window_paths;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::archive::Archive;
use crate::question::{OWNER, Question, Route};
use crate::world::World;

/// What a token the server gave out continues.
#[derive(Clone, Debug)]
pub(crate) enum Token {
    /// After a record of a page: value, key and connection.
    Page { basis: String, after: (Option<f64>, String, String) },
    /// Inside a changes session.
    ChangesPage { basis: String, since: Option<Mark>, horizon: Mark, after: (String, u64) },
    /// Between changes sessions.
    ChangesSince { basis: String, mark: Mark },
}

/// A point in history: a sequence number, and how often each connection's stream was purged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) sequence: u64,
    pub(crate) epochs: Vec<(usize, u64)>,
}

/// What the answer must be.
#[derive(Debug)]
pub(crate) enum Answer {
    /// One of these codes; with the connections to choose from where the protocol lists them.
    Fault(BTreeSet<&'static str>, Option<Value>),
    Json {
        body: Value,
        cursor: Option<Token>,
        changes: Option<Token>,
    },
    Bytes {
        status: u16,
        bytes: Vec<u8>,
    },
}

impl Answer {
    fn fault(code: &'static str) -> Self {
        Self::Fault(BTreeSet::from([code]), None)
    }

    fn json(body: Value) -> Self {
        Self::Json { body, cursor: None, changes: None }
    }
}

/// In place of the tokens an answer gives out.
pub(crate) const NEXT_CURSOR: &str = "~next-cursor~";
pub(crate) const NEXT_CHANGES: &str = "~next-changes~";

/// In place of a token a request carries.
pub(crate) fn placeholder(token: usize) -> String {
    format!("~{token}~")
}

pub(crate) struct Model<'a> {
    pub(crate) world: &'a World,
    pub(crate) archive: &'a Archive,
    pub(crate) revoked: &'a BTreeSet<String>,
    pub(crate) tokens: &'a [Token],
    pub(crate) now: i64,
}

/// Faults found so far; the request is refused if there is any.
#[derive(Debug, Default)]
struct Faults(BTreeSet<&'static str>);

impl Faults {
    fn add(&mut self, code: &'static str) {
        self.0.insert(code);
    }

    fn add_if(&mut self, faulty: bool, code: &'static str) {
        if faulty {
            self.add(code);
        }
    }

    fn any(&self) -> bool {
        !self.0.is_empty()
    }

    fn answer(self) -> Answer {
        Answer::Fault(self.0, None)
    }
}

const SELECTORS: [&str; 4] = ["connection_id", "connector_instance_id", "connector_id", "subject_id"];

impl Model<'_> {
    pub(crate) fn answer(&self, question: &Question) -> Answer {
        if question.who != OWNER && self.grants(question.who).is_empty() {
            // Why nothing is left: a revocation says more than an expiry.
            let revoked =
                self.world.clients[question.who].grants.iter().any(|grant| self.revoked.contains(&grant.id));
            return Answer::fault(if revoked { "grant_revoked" } else { "grant_expired" });
        }
        let mut faults = Faults::default();
        self.check_parameters(question, &mut faults);
        match &question.route {
            Route::Streams => self.streams(question, faults),
            Route::Stream(stream) => self.stream(question, stream, faults),
            Route::Schema => self.schema(question, faults),
            Route::Connectors => self.connectors(faults, question),
            Route::Records(stream) => self.records(question, stream, faults),
            Route::Record(stream, key) => self.record(question, stream, key, faults),
            Route::Window(stream, key) => self.window(question, stream, key, faults),
            Route::Aggregate(stream) => self.aggregate(question, stream, faults),
            Route::Blob(id) => self.blob(question, id, faults),
        }
    }

    fn check_parameters(&self, question: &Question, faults: &mut Faults) {
        let own: &[&str] = match question.route {
            Route::Schema | Route::Window(..) => return,
            Route::Connectors => {
                faults.add_if(!question.query.is_empty(), "invalid_request");
                return;
            }
            Route::Streams | Route::Stream(_) | Route::Blob(_) => &[],
            Route::Records(_) => &[
                "limit",
                "cursor",
                "order",
                "sort",
                "fields",
                "view",
                "filter",
                "changes_since",
                "count",
                "window",
                "expand",
                "expand_limit",
            ],
            Route::Record(..) => &["fields", "expand", "expand_limit"],
            Route::Aggregate(_) => &[
                "metric",
                "field",
                "group_by",
                "group_by_time",
                "granularity",
                "time_zone",
                "limit",
                "filter",
            ],
        };
        faults.add_if(question.fields().is_some_and(|names| names.is_empty()), "invalid_request");
        for (name, _) in &question.query {
            let name = name.split('[').next().unwrap_or_default();
            faults.add_if(!own.contains(&name) && !SELECTORS.contains(&name), "invalid_request");
        }
    }

    fn links(question: &Question) -> Value {
        json!({"self": question.uri(placeholder)})
    }

    fn meta(question: &Question) -> Value {
        let mut warnings = Vec::new();
        if question.text("connector_instance_id").is_some() {
            warnings.push(json!({"code": "deprecated_alias_used", "param": "connector_instance_id"}));
        }
        json!({"count": {"kind": "none"}, "warnings": warnings})
    }

    /// The owner's own label of a connection, never a placeholder.
    fn label(&self, connection: usize) -> Option<&str> {
        self.world.connections[connection].label.as_deref().filter(|label| *label != "legacy")
    }

    fn offered(&self, connection: usize) -> Value {
        let mut offer = json!({"connection_id": self.world.connections[connection].id});
        if let Some(label) = self.label(connection) {
            offer["display_name"] = json!(label);
        }
        offer
    }
}
