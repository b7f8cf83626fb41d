//! One hit as the wire says it.

use pdpp_evidence::Wanted;
use pdpp_store::{RankedHit, RecordRow, StoreError};
use pdpp_wire::{RecordRef, Score, ScoreKind, ScoreOrder, SearchHit, SearchResultObject};
use serde_json::{Map, Value};

use super::{Excerpts, Searched};
use crate::ApiError;

/// A ranked record, with the evidence its row holds now.
pub(crate) fn hit(
    searched: &Searched<'_>,
    ranked: &RankedHit,
    row: &RecordRow,
    wanted: &Wanted,
    excerpts: usize,
) -> Result<SearchHit, ApiError> {
    let data: Map<String, Value> = serde_json::from_str(row.data.get())
        .map_err(|error| StoreError::Damaged(format!("a stored record is not a JSON object: {error}")))?;
    let evidence = Excerpts::of(searched, ranked, &data, wanted, excerpts);
    let (read, connection_id) = (searched.part.read(), searched.part.part().connection_id().clone());
    let handle = RecordRef {
        connection_id: connection_id.clone(),
        stream: read.stream().clone(),
        record_id: ranked.key.clone(),
    };
    Ok(SearchHit {
        object: SearchResultObject::Value,
        result_id: handle.result_id(),
        stream: handle.stream,
        record_key: handle.record_id,
        connector_id: read.source().key().clone(),
        connector_instance_id: handle.connection_id,
        connection_id,
        display_name: searched.display_name.clone(),
        emitted_at: row.emitted_at.to_rfc3339(),
        authored_at: searched.authored_at(&data),
        record_url: searched.record_url(ranked.key.as_str()),
        matched_fields: evidence.matched_fields,
        evidence_excerpts: evidence.pieces,
        evidence: evidence.kind,
        score: Score { kind: ScoreKind::Bm25, value: ranked.score, order: ScoreOrder::HigherIsBetter },
        duplicates: ranked.duplicates,
        explanation: ranked.explanation.clone(),
    })
}
