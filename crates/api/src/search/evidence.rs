//! Cuts the evidence of a hit out of the record as it stands now.

use std::borrow::Cow;
use std::ops::Range;

use pdpp_access::SearchPart;
use pdpp_evidence::{
    FieldPath, FieldTarget, FieldText, FieldWindowRead, Preview, PreviewBudget, Proof, Wanted, preview,
    prove, render_marked, text_of,
};
use pdpp_store::{Passage, RankedHit};
use pdpp_wire::{
    CharRange, EvidenceExcerpt, EvidenceKind, EvidenceObject, FieldWindowReadCall, FieldWindowReadObject,
    GetMethod,
};
use serde_json::{Map, Value};

use super::Searched;

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
        searched: &Searched<'_>,
        hit: &RankedHit,
        data: &Map<String, Value>,
        wanted: &Wanted,
        most: usize,
    ) -> Self {
        let part = searched.part;
        if hit.passages.is_empty() {
            return Self::of_neighbour(searched, hit, data);
        }
        let mut proven: Vec<(usize, FieldPath)> = Vec::new();
        // Passages overlap, and of a list the index does not know which element it was.
        let mut shown: Vec<(FieldPath, Range<usize>)> = Vec::new();
        let mut pieces = Vec::new();
        for passage in &hit.passages {
            let texts = texts(searched, passage.field, data);
            let Some((path, text, proof)) = best(texts, *passage, wanted, &shown) else { continue };
            let mut seen = proof.matches[0].clone();
            if pieces.len() < most {
                let piece = preview(&text, &proof.matches, PreviewBudget::STANDARD);
                seen = piece.start_chars..piece.end_chars;
                pieces.push(rendered(part, hit, path.as_str(), &piece, EvidenceKind::LexicalMatch));
            }
            shown.push((path.clone(), seen));
            proven.push((passage.field, path));
        }
        let path = |index: usize| part.fields().get(index).map(|field| (index, field.path.clone()));
        // An element of a list is named by its place in it, so that the name can be read.
        let mut matched: Vec<(usize, String)> = match proven.as_slice() {
            [] => hit.passages.iter().filter_map(|passage| path(passage.field)).collect(),
            proven => proven.iter().map(|(index, path)| (*index, path.as_str().to_owned())).collect(),
        };
        matched.sort_unstable();
        matched.dedup();
        let describes = |(index, _): &(usize, String)| {
            let role = part.fields().get(*index).and_then(|field| field.role.as_deref());
            role.is_some_and(|role| DESCRIBING.contains(&role))
        };
        let kind = match proven.len() {
            0 => EvidenceKind::Unverified,
            _ if matched.iter().all(describes) => EvidenceKind::MetadataMatch,
            _ => EvidenceKind::LexicalMatch,
        };
        Self { kind, matched_fields: matched.into_iter().map(|(_, path)| path).collect(), pieces }
    }

    /// The record's own text, for one that only stands next to the words.
    fn of_neighbour(searched: &Searched<'_>, hit: &RankedHit, data: &Map<String, Value>) -> Self {
        let part = searched.part;
        let is_body = |index: &usize| part.fields()[*index].role.as_deref() == Some("body");
        let fields = 0..part.fields().len();
        let shown = fields.clone().filter(is_body).chain(fields).find_map(|field| {
            let (path, text) = texts(searched, field, data).into_iter().next()?;
            let piece = preview(&text, &[], PreviewBudget::STANDARD);
            (!piece.text.trim().is_empty())
                .then(|| rendered(part, hit, path.as_str(), &piece, EvidenceKind::ConversationNeighbour))
        });
        let first = part.fields().first().map(|field| field.path.clone());
        match shown {
            Some(excerpt) => Self {
                kind: EvidenceKind::ConversationNeighbour,
                matched_fields: vec![excerpt.field_path.clone()],
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

/// The texts of a search field, one unless it leads through lists.
fn texts<'d>(
    searched: &Searched<'_>,
    field: usize,
    data: &'d Map<String, Value>,
) -> Vec<(FieldPath, Cow<'d, str>)> {
    let (Some(Some(path)), Some(field)) = (searched.paths.get(field), searched.part.fields().get(field))
    else {
        return Vec::new();
    };
    let each = path.each_under(&field.top_level, data).into_iter();
    let text = |(path, value)| match text_of(value) {
        FieldText::Text { text, .. } => Some((path, text)),
        FieldText::NotText { .. } | FieldText::Binary(_) => None,
    };
    each.filter_map(text).collect()
}

/// The text that proves most of what was asked, one that nothing is shown of before others; its matches begin with
/// one that is not shown.
fn best<'d>(
    texts: Vec<(FieldPath, Cow<'d, str>)>,
    passage: Passage,
    wanted: &Wanted,
    shown: &[(FieldPath, Range<usize>)],
) -> Option<(FieldPath, Cow<'d, str>, Proof)> {
    let (mut best, mut most) = (None, None);
    for (path, text) in texts {
        let Some(mut proof) = prove(&text, passage.start_chars..passage.end_chars, passage.language, wanted)
        else {
            continue;
        };
        let seen: Vec<_> = shown.iter().filter(|(known, _)| *known == path).map(|(_, seen)| seen).collect();
        let is_new = |found: &Range<usize>| {
            !seen.iter().any(|seen| seen.start <= found.start && found.end <= seen.end)
        };
        let Some(first) = proof.matches.iter().position(is_new) else { continue };
        proof.matches[..=first].rotate_right(1);
        let worth = Some((seen.is_empty(), proof.clauses));
        if most < worth {
            (best, most) = (Some((path, text, proof)), worth);
        }
    }
    best
}

fn rendered(
    part: &SearchPart,
    hit: &RankedHit,
    field_path: &str,
    piece: &Preview,
    provenance: EvidenceKind,
) -> EvidenceExcerpt {
    let target = FieldTarget {
        stream: part.read().stream().as_str(),
        record_id: hit.key.as_str(),
        field: field_path,
        connection_id: Some(part.part().connection_id().as_str()),
    };
    let anchor = piece.matches.first().cloned().unwrap_or(piece.start_chars..piece.start_chars);
    let range = |start: usize, end: usize| CharRange { start_chars: start as u64, end_chars: end as u64 };
    EvidenceExcerpt {
        object: EvidenceObject::Value,
        field_path: field_path.to_owned(),
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
