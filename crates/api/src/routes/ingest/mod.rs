//! `POST /v1/ingest/{stream}`: newline-delimited records, streamed in, durable when acknowledged.

mod lines;

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use pdpp_access::{Connection, Source};
use pdpp_store::{Admission, AdmittedRecord, Applied, MAX_BATCH, RecordLine, WriteTarget};
use pdpp_wire::{Code, IngestReceipt, Instant, StreamName, SubjectId};
use sha2::{Digest as _, Sha256};

use self::lines::Lines;
use crate::authority::Owner;
use crate::call::{Call, json, require_media_type, too_large};
use crate::route::{AnswerDoc, BodyDoc, Pace, Parameter, Route, Shape, Unknown, Verb, handler, schema_of};
use crate::selector::STREAM;
use crate::write_target::{WRITE_ERRORS, WRITE_SELECTORS, chosen, declared, named_source, writable};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    method: Verb::Post,
    path: "/v1/ingest/{stream}",
    operation: "ingestRecords",
    action: "ingest",
    summary: "Store records, one JSON object per line; what is acknowledged is durable.",
    parameters: &[
        &[STREAM, Parameter::query("run_id", Shape::Text, "Names the collection run; informational.")],
        WRITE_SELECTORS,
    ],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::Ndjson,
    answers: &[AnswerDoc::json(
        schema_of::<IngestReceipt>,
        "What became of each line; accepted lines are durable.",
    )],
    errors: &[WRITE_ERRORS, &[Code::IngestBatchStorageError]],
    handler: handler!(Owner, ingest),
    pace: Pace::Upload,
    test: "ingest::each_line_gets_its_receipt",
};

/// Flush a batch when its lines together are this long, so that memory stays bounded.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Most refused lines a receipt lists, so that a hopeless body cannot fill the memory; all are counted.
const LISTED_REJECTIONS: usize = 10_000;

async fn ingest(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    let max = state.settings.limits.body_bytes;
    require_media_type(&call.headers, &["application/x-ndjson", "text/plain"])?;
    let announced =
        call.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max as u64) {
        return Err(too_large(max));
    }
    let catalogue = state.store.catalogue(owner.subject_id()).await?;
    let source = named_source(&call, &catalogue)?;
    let declaration = declared(source, call.segment("stream"))?;
    let chosen = chosen(&call, &catalogue, source)?;
    let admission = Admission::new(declaration).map_err(ApiError::internal)?;
    let place =
        Place { state: &state, subject_id: owner.subject_id(), source, chosen, stream: declaration.name() };
    let mut batch = Batch::new(place, &admission);
    let mut lines = Lines::new(call.take_body(), max);
    loop {
        match lines.next().await {
            Ok(Some(line)) => batch.take(&line).await?,
            Ok(None) => break,
            Err(error) => return Err(batch.interrupted(error)),
        }
    }
    json(StatusCode::OK, &batch.finish().await?)
}

/// Where lines go. A connector's first connection is made with its first usable line, so that a body
/// of which nothing can be used changes nothing.
#[derive(Clone, Copy)]
struct Place<'a> {
    state: &'a ApiState,
    subject_id: &'a SubjectId,
    source: &'a Source,
    chosen: Option<&'a Connection>,
    stream: &'a StreamName,
}

/// Lines on their way into the store, and the receipt so far.
struct Batch<'a> {
    place: Place<'a>,
    target: Option<WriteTarget>,
    admission: &'a Admission<'a>,
    now: Instant,
    waiting: Vec<(AdmittedRecord, u64, String)>,
    waiting_bytes: usize,
    receipt: IngestReceipt,
}

impl<'a> Batch<'a> {
    fn new(place: Place<'a>, admission: &'a Admission<'a>) -> Self {
        let receipt = IngestReceipt {
            stream: place.stream.clone(),
            records_attempted: 0,
            records_accepted: 0,
            records_rejected: 0,
            errors: Vec::new(),
            rejections: Vec::new(),
        };
        let now = place.state.clock.now();
        Self { place, target: None, admission, now, waiting: Vec::new(), waiting_bytes: 0, receipt }
    }

    /// Says what became of the lines before a body broke off.
    fn interrupted(&self, error: ApiError) -> ApiError {
        let stored = self.receipt.records_accepted;
        error.and(&format!("{stored} records before it are stored; sending them again is safe."))
    }

    async fn target(&mut self) -> Result<&WriteTarget, ApiError> {
        if self.target.is_none() {
            let Place { state, subject_id, source, chosen, stream } = self.place;
            let connection_id = writable(state, subject_id, source, chosen).await?;
            let subject_id = subject_id.clone();
            self.target = Some(WriteTarget { subject_id, connection_id, stream: stream.clone() });
        }
        self.target.as_ref().ok_or_else(|| ApiError::internal("a write has no target"))
    }

    async fn take(&mut self, line: &[u8]) -> Result<(), ApiError> {
        let index = self.receipt.records_attempted;
        self.receipt.records_attempted += 1;
        let receipt_id = receipt_id(&self.place, line);
        match RecordLine::parse(line).and_then(|line| line.admit(self.admission, self.now)) {
            Ok(record) => {
                self.waiting.push((record, index, receipt_id));
                self.waiting_bytes += line.len();
            }
            Err(rejection) => self.reject(index, rejection.code, receipt_id, Some(rejection.message)),
        }
        if self.waiting.len() >= MAX_BATCH || self.waiting_bytes >= BATCH_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), ApiError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.waiting_bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let (records, places): (Vec<_>, Vec<_>) =
            waiting.into_iter().map(|(record, index, receipt_id)| (record, (index, receipt_id))).unzip();
        let store = &self.place.state.store;
        let applied = store.apply(self.target().await?, records).await.map_err(|error| {
            let message = "The store could not take the batch; send all of it again.";
            ApiError::new(Code::IngestBatchStorageError, message).because(error)
        })?;
        for (applied, (index, receipt_id)) in applied.into_iter().zip(places) {
            match applied {
                Applied::Rejected(code) => self.reject(index, code, receipt_id, Some(code.when().to_owned())),
                Applied::OverQuota(over) => {
                    self.reject(index, Code::QuotaExceeded, receipt_id, Some(over.to_string()));
                }
                _ => self.receipt.records_accepted += 1,
            }
        }
        Ok(())
    }

    fn reject(&mut self, input_index: u64, code: Code, receipt_id: String, message: Option<String>) {
        metrics::counter!("pdpp_ingest_rejections_total", "code" => code.as_str()).increment(1);
        self.receipt.records_rejected += 1;
        if self.receipt.rejections.len() < LISTED_REJECTIONS {
            self.receipt.rejections.push(pdpp_wire::Rejection { input_index, code, receipt_id, message });
        }
    }

    async fn finish(mut self) -> Result<IngestReceipt, ApiError> {
        self.flush().await?;
        self.receipt.rejections.sort_by_key(|rejection| rejection.input_index);
        let unlisted = self.receipt.records_rejected - self.receipt.rejections.len() as u64;
        if unlisted > 0 {
            let message =
                format!("{unlisted} more rejections are not listed; send smaller bodies to see them all.");
            self.receipt.errors.push(message.into());
        }
        Ok(self.receipt)
    }
}

/// The same bad line for the same place always gets the same receipt.
fn receipt_id(place: &Place<'_>, line: &[u8]) -> String {
    let Place { subject_id, source, stream, .. } = place;
    let mut digest = Sha256::new();
    for part in [subject_id.as_str(), source.key().as_str(), stream.as_str()] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.update(line);
    let digest: [u8; 32] = digest.finalize().into();
    let number = u64::from_be_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|at| digest[at]));
    format!("rr_{number:016x}")
}
