//! Cuts the evidence of a hit out of the record as it stands now.

use pdpp_access::{SearchField, SearchPart};
use pdpp_evidence::{
    FieldPath, FieldTarget, FieldText, FieldWindowRead, PreviewBudget, Wanted, preview, prove, render_marked,
    text_of,
};
use pdpp_store::{Passage, RankedHit};
use pdpp_wire::{
    CharRange, EvidenceExcerpt, EvidenceKind, EvidenceObject, FieldWindowReadCall, FieldWindowReadObject,
    GetMethod,
};
use serde_json::{Map, Value};

/// Roles of fields that describe a record rather than being what it says.
const DESCRIBING: [&str; 4] = ["actor", "secondary", "thread", "amount"];

/// What a hit shows.
#[derive(Debug)]
pub(crate) struct Excerpts {
    pub(crate) kind: EvidenceKind,
    pub(crate) matched_fields: Vec<String>,
    pub(crate) pieces: Vec<EvidenceExcerpt>,
}

impl Excerpts {
    /// Looks the hit's words up in the record's fields, at most `most` places.
    pub(crate) fn of(
        part: &SearchPart,
        hit: &RankedHit,
        data: &Map<String, Value>,
        wanted: &Wanted,
        most: usize,
    ) -> Self {
        if hit.passages.is_empty() {
            return Self::of_neighbour(part, hit, data);
        }
        let mut proven: Vec<(usize, EvidenceExcerpt)> = Vec::new();
        for passage in &hit.passages {
            let Some(field) = part.fields().get(passage.field) else { continue };
            if let Some(excerpt) = excerpt(part, hit, field, *passage, data, wanted) {
                proven.push((passage.field, excerpt));
            }
        }
        let mut matched: Vec<usize> = match proven.as_slice() {
            [] => hit.passages.iter().map(|passage| passage.field).collect(),
            proven => proven.iter().map(|(field, _)| *field).collect(),
        };
        matched.sort_unstable();
        matched.dedup();
        let fields: Vec<_> = matched.iter().filter_map(|index| part.fields().get(*index)).collect();
        let describes =
            |field: &&SearchField| field.role.as_deref().is_some_and(|role| DESCRIBING.contains(&role));
        let kind = match proven.len() {
            0 => EvidenceKind::Unverified,
            _ if fields.iter().all(describes) => EvidenceKind::MetadataMatch,
            _ => EvidenceKind::LexicalMatch,
        };
        Self {
            kind,
            matched_fields: fields.iter().map(|field| field.path.clone()).collect(),
            pieces: proven.into_iter().take(most).map(|(_, excerpt)| excerpt).collect(),
        }
    }

    /// The record's own text, for one that only stands next to the words.
    fn of_neighbour(part: &SearchPart, hit: &RankedHit, data: &Map<String, Value>) -> Self {
        let is_body = |field: &&SearchField| field.role.as_deref() == Some("body");
        let fields = part.fields().iter();
        let fields = fields.clone().filter(is_body).chain(fields);
        let shown = fields.clone().find_map(|field| {
            let text = text(field, data)?;
            let piece = preview(&text, &[], PreviewBudget::STANDARD);
            (!piece.text.trim().is_empty())
                .then(|| (field, rendered(part, hit, field, &piece, EvidenceKind::ConversationNeighbour)))
        });
        let first = part.fields().first().map(|field| field.path.clone());
        match shown {
            Some((field, excerpt)) => Self {
                kind: EvidenceKind::ConversationNeighbour,
                matched_fields: vec![field.path.clone()],
                pieces: vec![excerpt],
            },
            None => Self {
                kind: EvidenceKind::ConversationNeighbour,
                matched_fields: first.into_iter().collect(),
                pieces: Vec::new(),
            },
        }
    }
}

fn text(field: &SearchField, data: &Map<String, Value>) -> Option<String> {
    let path = FieldPath::parse(&field.path).ok()?;
    match text_of(path.resolve_under(&field.top_level, data)?) {
        FieldText::Text { text, .. } => Some(text.into_owned()),
        FieldText::NotText { .. } | FieldText::Binary(_) => None,
    }
}

fn excerpt(
    part: &SearchPart,
    hit: &RankedHit,
    field: &SearchField,
    passage: Passage,
    data: &Map<String, Value>,
    wanted: &Wanted,
) -> Option<EvidenceExcerpt> {
    let text = text(field, data)?;
    let proof = prove(&text, passage.start_chars..passage.end_chars, wanted)?;
    let piece = preview(&text, &proof.matches, PreviewBudget::STANDARD);
    Some(rendered(part, hit, field, &piece, EvidenceKind::LexicalMatch))
}

fn rendered(
    part: &SearchPart,
    hit: &RankedHit,
    field: &SearchField,
    piece: &pdpp_evidence::Preview,
    provenance: EvidenceKind,
) -> EvidenceExcerpt {
    let target = FieldTarget {
        stream: part.read().stream().as_str(),
        record_id: hit.key.as_str(),
        field: &field.path,
        connection_id: Some(part.part().connection_id().as_str()),
    };
    let anchor = piece.matches.first().cloned().unwrap_or(piece.start_chars..piece.start_chars);
    let range = |start: usize, end: usize| CharRange { start_chars: start as u64, end_chars: end as u64 };
    EvidenceExcerpt {
        object: EvidenceObject::Value,
        field_path: field.path.clone(),
        preview_text: render_marked(piece),
        start_chars: piece.start_chars as u64,
        end_chars: piece.end_chars as u64,
        matches: piece.matches.iter().map(|found| range(found.start, found.end)).collect(),
        total_chars: piece.total_chars as u64,
        truncated: piece.truncated,
        provenance,
        read: call(FieldWindowRead::on_match(target, &anchor)),
    }
}

fn call(read: FieldWindowRead) -> FieldWindowReadCall {
    FieldWindowReadCall {
        object: FieldWindowReadObject::Value,
        method: GetMethod::Value,
        route: read.route,
        stream: read.stream,
        record_id: read.record_id,
        field: read.field,
        connection_id: read.connection_id,
        offset_chars: read.offset_chars.map(|offset| offset as u64),
        limit_chars: read.limit_chars as u64,
    }
}
