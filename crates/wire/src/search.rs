//! Search answers: hits with the evidence that proves them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::literal::{EvidenceObject, FieldWindowReadObject, GetMethod, ListObject, SearchResultObject};
use crate::{ConnectionId, ConnectorKey, PageLinks, RecordKey, StreamName, Warning};

/// One page of hits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchList {
    /// Always `list`.
    pub object: ListObject,
    /// The request path, without the query.
    pub url: String,
    /// The hits of this page.
    pub data: Vec<SearchHit>,
    /// Whether another page follows.
    pub has_more: bool,
    /// Send this as `cursor`, with the same query, within five minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Where this page is, and the next one.
    pub links: PageLinks,
    /// Counts, recall and warnings; the same on every page.
    pub meta: SearchMeta,
}

/// One record that answers the query. Its payload is not included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// Always `search_result`.
    pub object: SearchResultObject,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// The canonical key.
    pub record_key: RecordKey,
    /// The self-contained handle: enough, alone, to read this record.
    pub result_id: String,
    /// The connector.
    pub connector_id: ConnectorKey,
    /// The connection it came through.
    pub connection_id: ConnectionId,
    /// The same as `connection_id`, under its older name.
    pub connector_instance_id: ConnectionId,
    /// The owner's own label of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// When the producer emitted it.
    pub emitted_at: String,
    /// When it happened, as far as the grant tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authored_at: Option<String>,
    /// Where it can be read.
    pub record_url: String,
    /// The granted fields whose text matched, or, for a hit found through its conversation, the field shown.
    pub matched_fields: Vec<String>,
    /// Text that was cut from the record when this was answered. Absent when none could be verified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_excerpts: Vec<EvidenceExcerpt>,
    /// What the evidence is.
    pub evidence: EvidenceKind,
    /// How well it answers.
    pub score: Score,
    /// How many more records say nearly the same and are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates: u32,
    /// Why it has its place (owners, `explain=true`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What a hit's evidence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// The words stand in the record's text; the excerpt shows where.
    LexicalMatch,
    /// The words stand only in fields that describe the record, such as its author or title.
    MetadataMatch,
    /// The words stand in one of the four messages before or after it; the excerpt shows this one.
    ConversationNeighbour,
    /// The index matched, but the words could not be found again in the record as it is now.
    Unverified,
}

/// A piece of a field that proves a hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceExcerpt {
    /// Always `evidence_excerpt`.
    pub object: EvidenceObject,
    /// The field, or a path inside it.
    pub field_path: String,
    /// The piece, with `<mark>` around matches and `…` where text is left out.
    pub preview_text: String,
    /// Where the piece starts in the field's text, in characters (Unicode scalar values).
    pub start_chars: u64,
    /// Where it ends.
    pub end_chars: u64,
    /// Where the matches are, in the field's text.
    #[serde(rename = "match")]
    pub matches: Vec<CharRange>,
    /// The length of the field's text.
    pub total_chars: u64,
    /// Whether anything of the field is missing from the piece.
    pub truncated: bool,
    /// What the piece proves.
    pub provenance: EvidenceKind,
    /// The call that reads on around the match.
    pub read: FieldWindowReadCall,
}

/// A stretch of characters; the end is not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CharRange {
    /// The first.
    pub start_chars: u64,
    /// After the last.
    pub end_chars: u64,
}

/// A call of the field-window route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldWindowReadCall {
    /// Always `field_window_read`.
    pub object: FieldWindowReadObject,
    /// Always `GET`.
    pub method: GetMethod,
    /// The path, with its segments encoded.
    pub route: String,
    /// The stream of the record.
    pub stream: String,
    /// The record's key.
    pub record_id: String,
    /// The field, or a path inside it.
    pub field: String,
    /// The connection that holds the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// Where the window starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_chars: Option<u64>,
    /// How long it is.
    pub limit_chars: u64,
}

/// How well a hit answers. Comparable within one answer only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Score {
    /// What the value measures.
    pub kind: ScoreKind,
    /// The value.
    pub value: f64,
    /// Which direction is better.
    pub order: ScoreOrder,
}

/// What a score measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// BM25 over passages, with coverage, nearness, roles and neighbours.
    Bm25,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScoreOrder {
    /// Higher.
    HigherIsBetter,
}

/// What accompanies the hits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchMeta {
    /// How many records match, as far as that is known.
    pub count: Option<u64>,
    /// What `count` is worth.
    pub count_accuracy: CountAccuracy,
    /// Whether everything that matches was ranked.
    pub recall: Recall,
    /// Whether the index had taken in everything the grant covers.
    pub index: IndexReport,
    /// What was typed and not followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredInput>,
    /// Words nothing matched, and what was looked for instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrected: Vec<CorrectedInput>,
    /// The ranked records by source, the fullest first.
    pub sources: Vec<SourceCount>,
    /// What the reader should know; a warning never changes the status.
    pub warnings: Vec<Warning>,
}

/// What a count is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountAccuracy {
    /// Exactly so many.
    Exact,
    /// At least so many.
    LowerBound,
    /// About so many: the index has not seen every change yet.
    Estimated,
    /// Nobody counted.
    NotCounted,
}

/// Whether everything that matches was ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recall {
    /// Whether all matches were ranked and the index was current.
    pub complete: bool,
    /// What was ranked.
    pub ranking_scope: RankingScope,
    /// Whether matches were left unranked.
    pub truncated: bool,
    /// How many records were ranked.
    pub ranked_candidate_count: u64,
    /// The most that are ranked; present when matches were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_window_limit: Option<u64>,
    /// How many connections' streams were searched.
    pub sources_searched_count: u64,
}

/// What was ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankingScope {
    /// Every match.
    AllMatches,
    /// The best ones.
    CandidateWindow,
}

/// The state of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexReport {
    /// Whether it had caught up with the connections that were searched.
    pub state: IndexState,
}

/// Whether an index had caught up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Everything written before the request is found.
    Current,
    /// Something was written that is not found yet; ask again shortly.
    Behind,
}

/// Something typed that was not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnoredInput {
    /// Why, in a few words.
    pub reason: String,
    /// The beginning of it.
    pub text: String,
}

/// A word taken for another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedInput {
    /// As typed.
    pub typed: String,
    /// As looked for.
    pub used: String,
}

/// How many records one connection's stream contributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceCount {
    /// The connection.
    pub connection_id: ConnectionId,
    /// The stream.
    pub stream: StreamName,
    /// Ranked records.
    pub count: u64,
}
