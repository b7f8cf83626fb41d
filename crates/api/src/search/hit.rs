//! One hit as the wire says it.

use pdpp_access::SearchPart;
use pdpp_evidence::{Role, Roles, Wanted, percent_encode_segment};
use pdpp_store::{RankedHit, RecordRow, StoreError};
use pdpp_wire::{RecordRef, Score, ScoreKind, ScoreOrder, SearchHit, SearchResultObject};
use serde_json::{Map, Value};

use super::Excerpts;
use crate::ApiError;
use crate::rendering::label;

/// A ranked record, with the evidence its row holds now.
pub(crate) fn hit(
    part: &SearchPart,
    ranked: &RankedHit,
    row: &RecordRow,
    wanted: &Wanted,
    (excerpts, is_owner): (usize, bool),
) -> Result<SearchHit, ApiError> {
    let data: Map<String, Value> = serde_json::from_str(row.data.get())
        .map_err(|error| StoreError::Damaged(format!("a stored record is not a JSON object: {error}")))?;
    let evidence = Excerpts::of(part, ranked, &data, wanted, excerpts);
    let (read, connection_id) = (part.read(), part.part().connection_id().clone());
    let handle = RecordRef {
        connection_id: connection_id.clone(),
        stream: read.stream().clone(),
        record_id: ranked.key.clone(),
    };
    let connector = read.source().key();
    let path = format!(
        "/v1/streams/{}/records/{}",
        percent_encode_segment(read.stream().as_str()),
        percent_encode_segment(ranked.key.as_str())
    );
    let record_url = if is_owner {
        format!("{path}?connector_id={}", percent_encode_segment(connector.as_str()))
    } else {
        path
    };
    Ok(SearchHit {
        object: SearchResultObject::Value,
        stream: read.stream().clone(),
        record_key: ranked.key.clone(),
        result_id: handle.result_id(),
        connector_id: connector.clone(),
        connector_instance_id: connection_id.clone(),
        connection_id,
        display_name: label(read, part.part()),
        emitted_at: row.emitted_at.to_rfc3339(),
        authored_at: authored_at(part, &data),
        record_url,
        matched_fields: evidence.matched_fields,
        evidence_excerpts: evidence.pieces,
        evidence: evidence.kind,
        score: Score { kind: ScoreKind::Bm25, value: ranked.score, order: ScoreOrder::HigherIsBetter },
        duplicates: ranked.duplicates,
        explanation: ranked.explanation.clone(),
    })
}

/// When it happened: the declared event time, else the consent time. The row holds granted fields only.
fn authored_at(part: &SearchPart, data: &Map<String, Value>) -> Option<String> {
    let declaration = part.read().declaration();
    let declared = declaration.fields().iter().filter_map(|field| Some((field.name(), field.role()?)));
    let roles = Roles::new(declared.map(|(name, role)| (name, Role::parse(role))));
    let consent = declaration.consent_time_field().and_then(|field| data.get(field)?.as_str());
    roles.display(data).event_time.or(consent).map(str::to_owned)
}
