//! Writes down what a reader was shown or refused, before the answer leaves.
//!
//! A read whose entry cannot be written is not served: the owner's first question is what was
//! read, and the ledger must be able to answer it.

use axum::response::Response;
use pdpp_access::{Bearer, Principal, ReadPlan};
use pdpp_store::{Disclosure, Door};
use pdpp_wire::{Code, ConnectionId, GrantId, RecordKey, StreamName};

use crate::request_id::RequestId;
use crate::route::Route;
use crate::{ApiError, ApiState};

/// Most keys one entry lists; the count is always exact.
const MAX_KEYS: usize = 100;
/// Most characters of query text one entry keeps.
const MAX_QUERY_CHARS: usize = 200;

/// An answer to a reader, with what it shows.
#[derive(Debug)]
pub(crate) struct Disclosed {
    response: Response,
    shown: Vec<Shown>,
}

impl Disclosed {
    /// An answer that shows one thing.
    pub(crate) fn new(response: Response, shown: Shown) -> Self {
        Self { response, shown: vec![shown] }
    }

    /// Also records of other streams.
    pub(crate) fn also(mut self, shown: impl IntoIterator<Item = Shown>) -> Self {
        self.shown.extend(shown);
        self
    }
}

/// What an answer shows: names and numbers, never content.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The grants it is shown under, when they are fewer than the token's.
    grant_ids: Option<Vec<GrantId>>,
    stream: Option<StreamName>,
    connection_ids: Vec<ConnectionId>,
    record_count: u64,
    record_keys: Vec<String>,
    fields: Vec<String>,
    char_range: Option<(u64, u64)>,
    query: Option<String>,
    filter_fields: Vec<String>,
}

impl Shown {
    /// What a plan's stream, connections and fields are; records are added.
    pub(crate) fn of_plan(read: &ReadPlan) -> Self {
        let mut fields: Vec<String> = Vec::new();
        for name in read.parts().iter().filter_map(|part| part.shown().names()).flatten() {
            if !fields.contains(name) {
                fields.push(name.clone());
            }
        }
        Self {
            grant_ids: Some(read.grant_ids()),
            stream: Some(read.stream().clone()),
            connection_ids: read.parts().iter().map(|part| part.connection_id().clone()).collect(),
            fields,
            ..Self::default()
        }
    }

    /// Whether no record is shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.record_count == 0
    }

    /// Nothing but that streams and sources were described.
    pub(crate) fn description() -> Self {
        Self::default()
    }

    /// These records, of this stream and connection.
    pub(crate) fn record(stream: &StreamName, connection_id: &ConnectionId, key: &RecordKey) -> Self {
        let shown = Self {
            stream: Some(stream.clone()),
            connection_ids: vec![connection_id.clone()],
            ..Self::default()
        };
        shown.records([key])
    }

    pub(crate) fn records<'k>(mut self, keys: impl IntoIterator<Item = &'k RecordKey>) -> Self {
        for key in keys {
            self.record_count += 1;
            if self.record_keys.len() < MAX_KEYS {
                self.record_keys.push(key.to_string());
            }
        }
        self
    }

    pub(crate) fn only_connection(mut self, connection_id: &ConnectionId) -> Self {
        self.connection_ids = vec![connection_id.clone()];
        self
    }

    pub(crate) fn fields<'f>(mut self, names: impl IntoIterator<Item = &'f str>) -> Self {
        self.fields = names.into_iter().map(str::to_owned).collect();
        self
    }

    pub(crate) fn char_range(mut self, start: u64, end: u64) -> Self {
        self.char_range = Some((start, end));
        self
    }

    pub(crate) fn query(mut self, text: Option<&str>) -> Self {
        self.query = text.map(|text| text.chars().take(MAX_QUERY_CHARS).collect());
        self
    }

    pub(crate) fn filtered_by<'f>(mut self, names: impl IntoIterator<Item = &'f str>) -> Self {
        self.filter_fields = names.into_iter().map(str::to_owned).collect();
        self
    }
}

/// Who asked, for an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) request_id: &'a RequestId,
    pub(crate) door: Door,
    pub(crate) route: &'a Route,
}

/// Writes down a served read, then gives its answer free.
pub(crate) async fn disclose(
    state: &ApiState,
    asking: Asking<'_>,
    disclosed: Disclosed,
) -> Result<Response, ApiError> {
    let Disclosed { response, shown } = disclosed;
    append(state, shown.into_iter().map(|shown| entry(state, asking, shown, None)).collect()).await?;
    Ok(response)
}

/// Writes down a refusal.
pub(crate) async fn refused(
    state: &ApiState,
    asking: Asking<'_>,
    stream: Option<String>,
    error: &ApiError,
) -> Result<(), ApiError> {
    // A ledger that just failed would only fail again.
    if error.code() == Code::LedgerUnavailable {
        return Ok(());
    }
    let stream = stream.and_then(|name| StreamName::parse(name).ok());
    let shown = Shown { stream, ..Shown::default() };
    append(state, vec![entry(state, asking, shown, Some(error.code()))]).await
}

/// Writes down that a token which opens nothing any more was used.
pub(crate) async fn turned_away(
    state: &ApiState,
    bearer: Bearer,
    (request_id, door, action): (&RequestId, Door, &str),
    stream: Option<String>,
    error: &ApiError,
) -> Result<(), ApiError> {
    let entry = Disclosure {
        at: state.clock.now(),
        subject_id: bearer.subject_id,
        request_id: request_id.as_str().to_owned(),
        door,
        client_id: bearer.client_id,
        grant_ids: bearer.grant_ids,
        token_id: bearer.token_id,
        action: action.to_owned(),
        refused: Some(error.code()),
        stream: stream.and_then(|name| StreamName::parse(name).ok()),
        connection_ids: Vec::new(),
        record_count: 0,
        record_keys: Vec::new(),
        fields: Vec::new(),
        char_range: None,
        query: None,
        filter_fields: Vec::new(),
        note: None,
    };
    append(state, vec![entry]).await
}

fn entry(state: &ApiState, asking: Asking<'_>, shown: Shown, refused: Option<Code>) -> Disclosure {
    let Asking { principal, request_id, door, route } = asking;
    Disclosure {
        at: state.clock.now(),
        subject_id: principal.subject_id().clone(),
        request_id: request_id.as_str().to_owned(),
        door,
        client_id: principal.client_id().cloned(),
        grant_ids: shown.grant_ids.unwrap_or_else(|| principal.grant_ids()),
        token_id: principal.token_id().cloned(),
        action: route.action.to_owned(),
        refused,
        stream: shown.stream,
        connection_ids: shown.connection_ids,
        record_count: shown.record_count,
        record_keys: shown.record_keys,
        fields: shown.fields,
        char_range: shown.char_range,
        query: shown.query,
        filter_fields: shown.filter_fields,
        note: None,
    }
}

async fn append(state: &ApiState, entries: Vec<Disclosure>) -> Result<(), ApiError> {
    state.ledger.append_disclosures(entries).await.map_err(|error| {
        let message = "The disclosure ledger cannot be written, so nothing is read.";
        ApiError::new(Code::LedgerUnavailable, message).because(error)
    })
}
