//! `GET /v1/search`: a question in plain words, answered with proven places.

use std::ops::Range;
use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, Principal, SearchPlan, SearchPosition, SearchRequest, SkipReason};
use pdpp_evidence::{IgnoredReason, Query, Wanted, parse_query};
use pdpp_store::{Hits, RankedHit, Ranking, RecordRow, Search, SearchIndex, StoreError};
use pdpp_wire::{
    Code, ConnectionId, CorrectedInput, CountAccuracy, IgnoredInput, IndexReport, IndexState, ListObject,
    RankingScope, Recall, RecordKey, SearchHit, SearchList, SearchMeta, SourceCount, Warning, WarningCode,
};

use super::records::{FILTER, limit};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, Parameter, Route, Shape, handler, schema_of};
use crate::search::{Kept, SearchedParts, hit};
use crate::selector::{Selected, filter_terms};
use crate::{ApiError, ApiState};

/// Records a filter may leave for the ranking to be restricted to them beforehand.
const MAX_FILTERED: u32 = 50_000;
/// Hits read again at a time.
const CHUNK: usize = 100;
/// Connections a warning names.
const NAMED: usize = 5;
/// No ranking is longer than this.
const MAX_OFFSET: usize = 1 << 20;

pub(crate) const ROUTE: Route = Route {
    path: "/v1/search",
    operation: "search",
    action: "search",
    summary: "Find the records that answer a question, each with the text that proves it.",
    parameters: &[&[
        Parameter::query(
            "q",
            Shape::Text,
            "Words, \"phrases\", +must, -without, prefix*, or a whole question.",
        )
        .required(),
        Parameter::query("streams", Shape::Names, "Only these streams; all granted ones without it."),
        Parameter::query("connection_id", Shape::Text, "Only this connection; every visible one without it."),
        Parameter::query("connector_instance_id", Shape::Text, "Deprecated name of `connection_id`."),
        FILTER,
        Parameter::query(
            "since",
            Shape::Text,
            "Not before this date or date-time, by the record's own time.",
        ),
        Parameter::query("until", Shape::Text, "Before this date or date-time."),
        Parameter::query("order", Shape::Words(&["relevance", "newest"]), "`relevance` without it."),
        Parameter::query(
            "limit",
            Shape::Whole { min: 1, max: None },
            "Hits a page: 25 without it, at most 100.",
        ),
        Parameter::query("cursor", Shape::Text, "`next_cursor` of the previous page, with the same query."),
        Parameter::query(
            "excerpts",
            Shape::Whole { min: 1, max: Some(3) },
            "Excerpts a hit: 1 without it, at most 3.",
        ),
        Parameter::query("explain", Shape::Words(&["true", "false"]), "Owners: why each hit has its place."),
    ]],
    answers: &[AnswerDoc::json(schema_of::<SearchList>, "The best hits, best first.")],
    errors: &[
        super::stream::SELECTION_ERRORS,
        &[
            Code::InvalidCursor,
            Code::UnknownField,
            Code::FieldNotGranted,
            Code::PermissionError,
            Code::ModeNotAvailable,
        ],
    ],
    handler: handler!(Reader, lexical),
    test: "search::a_question_finds_the_sentence_that_answers_it",
    ..super::stream::ROUTE
};

pub(crate) const SEMANTIC: Route = Route {
    path: "/v1/search/semantic",
    operation: "searchSemantic",
    summary: "Find records by meaning, where the server has a model for it.",
    handler: handler!(Reader, semantic),
    test: "search::modes_without_a_model_say_so",
    ..ROUTE
};

pub(crate) const HYBRID: Route = Route {
    path: "/v1/search/hybrid",
    operation: "searchHybrid",
    summary: "Find records by words and by meaning, where the server has a model for it.",
    handler: handler!(Reader, hybrid),
    test: "search::modes_without_a_model_say_so",
    ..ROUTE
};

async fn lexical(state: Arc<ApiState>, reader: Reader, call: Call) -> Result<Disclosed, ApiError> {
    let index = state.search.lexical.clone();
    search(state, reader, call, index).await
}

async fn semantic(state: Arc<ApiState>, reader: Reader, call: Call) -> Result<Disclosed, ApiError> {
    let index = state.search.semantic.clone();
    search(state, reader, call, index).await
}

async fn hybrid(state: Arc<ApiState>, reader: Reader, call: Call) -> Result<Disclosed, ApiError> {
    let index = state.search.hybrid.clone();
    search(state, reader, call, index).await
}

/// What was asked beside the plan.
struct Asked {
    query: Query,
    excerpts: usize,
    explain: bool,
    is_owner: bool,
    warnings: Vec<Warning>,
}

async fn search(
    state: Arc<ApiState>,
    Reader(principal): Reader,
    call: Call,
    index: Option<Arc<dyn SearchIndex>>,
) -> Result<Disclosed, ApiError> {
    let Some(index) = index else {
        let message = "This server has no model for this way of searching; use `/v1/search`.";
        return Err(ApiError::new(Code::ModeNotAvailable, message));
    };
    let (request, asked) = request(&call, &principal)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plan = Authorizer::new(&principal, &catalogue).search(&request, &state.sealer)?;
    let (position, kept) = ranked(&state, index.as_ref(), &plan, &asked).await?;
    let page = page(&state, &plan, &asked, &kept.ranking, position.offset).await?;
    let next = SearchPosition { offset: page.end, ..position };
    let next_cursor =
        page.has_more.then(|| state.sealer.seal_search(state.entropy.as_ref(), plan.binding(), &next));
    let shown = shown(&plan, &page, &request.q);
    let body = SearchList {
        object: ListObject::Value,
        url: call.own_path(),
        data: page.hits,
        has_more: next_cursor.is_some(),
        links: call.page_links(next_cursor.as_deref()),
        next_cursor,
        meta: meta(&plan, &kept, asked),
    };
    let mut shown = shown.into_iter();
    let first = shown.next().unwrap_or_else(Shown::description).query(Some(&request.q));
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, first).also(shown))
}

fn request(call: &Call, principal: &Principal) -> Result<(SearchRequest, Asked), ApiError> {
    let selected = Selected::read(call)?;
    let text = |name| Ok::<_, ApiError>(call.query.text(name)?.map(str::to_owned));
    let q =
        call.query.given("q")?.filter(|q| !q.trim().is_empty()).ok_or_else(|| {
            ApiError::new(Code::InvalidRequest, "Give `q`: the words to look for.").param("q")
        })?;
    let streams = call.query.list("streams")?;
    let streams = streams.iter().flat_map(|value| value.split(',')).map(str::trim);
    let excerpts = call.query.positive("excerpts")?.unwrap_or(1);
    if excerpts > 3 {
        return Err(ApiError::new(Code::InvalidRequest, "`excerpts` is at most 3.").param("excerpts"));
    }
    let explain = call.query.choice("explain", &[("true", true), ("false", false)])?.unwrap_or(false);
    let is_owner = matches!(principal, Principal::Owner(_));
    if explain && !is_owner {
        let message = "Only the owner may ask why a hit has its place; leave `explain` out.";
        return Err(ApiError::new(Code::PermissionError, message).param("explain"));
    }
    let (limit, clamped) = limit(call)?;
    let asked = Asked {
        query: parse_query(q),
        excerpts: usize::try_from(excerpts).unwrap_or(1),
        explain,
        is_owner,
        warnings: selected.warnings.into_iter().chain(clamped).collect(),
    };
    let request = SearchRequest {
        q: q.to_owned(),
        streams: streams.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        connection_id: selected.connection_id,
        filter: filter_terms(call)?,
        since: text("since")?,
        until: text("until")?,
        order: text("order")?,
        limit,
        cursor: text("cursor")?,
    };
    Ok((request, asked))
}

/// The ranking a cursor continues, or a new one.
async fn ranked(
    state: &ApiState,
    index: &dyn SearchIndex,
    plan: &SearchPlan,
    asked: &Asked,
) -> Result<(SearchPosition, Kept), ApiError> {
    let now = state.clock.now();
    if let Some(position) = plan.after() {
        let kept = state.rankings.find(position.ranking, now).ok_or_else(|| {
            let message = "This search is over; repeat it without `cursor`.";
            ApiError::new(Code::InvalidCursor, message).param("cursor")
        })?;
        return Ok((position.clone(), kept));
    }
    let only = match plan.filter() {
        [] => None,
        _ => state.store.filtered_keys(plan, MAX_FILTERED).await?,
    };
    let search = Search { plan, query: &asked.query, only: only.as_deref(), explain: asked.explain };
    let ranking = Arc::new(index.rank(search).await?);
    let mut number = [0; 8];
    state.entropy.fill(&mut number);
    let position = SearchPosition { ranking: u64::from_le_bytes(number), offset: 0 };
    let is_filtered = plan.filter().is_empty() || only.is_some();
    let kept = Kept { ranking, is_filtered, at: now };
    if kept.ranking.hits.reaches(plan.limit() as usize + 1)? {
        state.rankings.keep(position.ranking, kept.clone());
    }
    Ok((position, kept))
}

/// Some hits of a ranking. Finding out more than the first takes as long as a search, so it keeps nobody waiting.
async fn read(ranking: &Ranking, range: Range<usize>) -> Result<(Vec<RankedHit>, bool), ApiError> {
    let end = range.end;
    let look = move |hits: &dyn Hits| Ok::<_, StoreError>((hits.read(range)?, hits.reaches(end + 1)?));
    if ranking.hits.is_at_hand(end + 1) {
        return Ok(look(&*ranking.hits)?);
    }
    let hits = ranking.hits.clone();
    let looked = tokio::task::spawn_blocking(move || look(&*hits));
    Ok(looked.await.map_err(|stopped| StoreError::Backend(Box::new(stopped)))??)
}

/// One page: hits that are still there and visible.
struct Page {
    hits: Vec<SearchHit>,
    /// The place and key of each hit.
    places: Vec<(usize, RecordKey)>,
    end: u64,
    has_more: bool,
}

async fn page(
    state: &ApiState,
    plan: &SearchPlan,
    asked: &Asked,
    ranking: &Ranking,
    offset: u64,
) -> Result<Page, ApiError> {
    let limit = plan.limit() as usize;
    let instead: Vec<String> = ranking.corrected.iter().map(|correction| correction.used.clone()).collect();
    let wanted = Wanted::of(&asked.query, &instead);
    let mut parts = SearchedParts::new(plan, asked.is_owner);
    let mut at = usize::try_from(offset).unwrap_or(usize::MAX).min(MAX_OFFSET);
    let mut page = Page { hits: Vec::new(), places: Vec::new(), end: 0, has_more: true };
    while page.hits.len() < limit && page.has_more {
        let end = at + (limit - page.hits.len()).min(CHUNK);
        let (chunk, has_more) = read(ranking, at..end).await?;
        let places: Vec<_> = chunk.iter().map(|hit| (hit.part, hit.key.clone())).collect();
        let rows = state.store.find_hits(plan, &places).await?;
        for (ranked, row) in matched(&chunk, &rows) {
            let Some(searched) = parts.get(ranked.part) else { continue };
            page.hits.push(hit(searched, ranked, row, &wanted, asked.excerpts)?);
            page.places.push((ranked.part, ranked.key.clone()));
        }
        (at, page.has_more) = (end, has_more);
    }
    page.end = at as u64;
    Ok(page)
}

/// The hits that were found again, with their rows. Both are in the same order.
fn matched<'a>(
    hits: &'a [RankedHit],
    rows: &'a [RecordRow],
) -> impl Iterator<Item = (&'a RankedHit, &'a RecordRow)> {
    let mut rows = rows.iter().peekable();
    hits.iter().filter_map(move |hit| {
        let row = rows.next_if(|row| row.part == hit.part && row.key == hit.key)?;
        Some((hit, row))
    })
}

/// What a page shows, stream by stream.
fn shown(plan: &SearchPlan, page: &Page, q: &str) -> Vec<Shown> {
    let filtered = || plan.filter().iter().map(pdpp_access::Predicate::field);
    let parts = plan.parts().iter().enumerate().filter_map(|(index, part)| {
        let mut keys = page.places.iter().filter(|(at, _)| *at == index).map(|(_, key)| key).peekable();
        keys.peek()?;
        Some(Shown::of_plan(part.read()).records(keys).filtered_by(filtered()).query(Some(q)))
    });
    parts.collect()
}

fn meta(plan: &SearchPlan, kept: &Kept, asked: Asked) -> SearchMeta {
    let ranking = &kept.ranking;
    let ranked = ranking.hits.counts().iter().sum();
    let is_whole = ranking.is_complete && kept.is_filtered;
    let skipped = plan.skipped().iter().map(|skipped| {
        let why = match skipped.reason {
            SkipReason::NoSearchField => "none of its granted fields is searchable",
            SkipReason::NoTimeField => {
                "its time field is not granted, so `since` and `until` cannot be applied"
            }
            SkipReason::OtherTimeField => {
                "its grant is bounded by a time that searches cannot apply; read it with `/v1/streams`"
            }
        };
        let (stream, source) = (&skipped.stream, &skipped.connector_key);
        let which = match skipped.connection_ids.as_slice() {
            [] => format!("Stream '{stream}' of '{source}'"),
            some => format!("Stream '{stream}' of connection {}", quoted(some)),
        };
        let message = format!("{which} was left out: {why}.");
        Warning { param: None, ..Warning::about(WarningCode::SourceSkippedNotApplicable, "", message) }
    });
    SearchMeta {
        count: kept.is_filtered.then_some(ranked),
        count_accuracy: match (kept.is_filtered, ranking.is_complete) {
            (false, _) => CountAccuracy::NotCounted,
            // What the index has not seen yet may have come or gone.
            _ if !ranking.is_current => CountAccuracy::Estimated,
            (true, true) => CountAccuracy::Exact,
            (true, false) => CountAccuracy::LowerBound,
        },
        recall: Recall {
            complete: is_whole && ranking.is_current,
            ranking_scope: if is_whole { RankingScope::AllMatches } else { RankingScope::CandidateWindow },
            truncated: !is_whole,
            ranked_candidate_count: ranked,
            candidate_window_limit: (!is_whole).then_some(ranked),
            sources_searched_count: plan.parts().len() as u64,
        },
        index: IndexReport {
            state: if ranking.is_current { IndexState::Current } else { IndexState::Behind },
        },
        ignored: asked.query.ignored.iter().chain(&ranking.ignored).map(ignored).collect(),
        corrected: ranking
            .corrected
            .iter()
            .map(|one| CorrectedInput { typed: one.typed.clone(), used: one.used.clone() })
            .collect(),
        sources: sources(plan, ranking),
        warnings: asked.warnings.into_iter().chain(skipped).collect(),
    }
}

/// The first of some connections by their ids; there may be thousands.
fn quoted(connection_ids: &[ConnectionId]) -> String {
    let named: Vec<_> = connection_ids.iter().take(NAMED).map(|id| format!("'{id}'")).collect();
    match connection_ids.len() - named.len() {
        0 => named.join(", "),
        others => format!("{} and {others} more", named.join(", ")),
    }
}

fn sources(plan: &SearchPlan, ranking: &Ranking) -> Vec<SourceCount> {
    let mut sources: Vec<_> = plan
        .parts()
        .iter()
        .zip(ranking.hits.counts().iter().copied())
        .filter(|(_, count)| *count > 0)
        .map(|(part, count)| SourceCount {
            connection_id: part.part().connection_id().clone(),
            stream: part.read().stream().clone(),
            count,
        })
        .collect();
    sources.sort_by_key(|source| std::cmp::Reverse(source.count));
    sources
}

fn ignored(ignored: &pdpp_evidence::Ignored) -> IgnoredInput {
    let reason = match ignored.reason {
        IgnoredReason::TooLong => "only the first 4,096 characters were read",
        IgnoredReason::TooManyClauses => "only 64 words and phrases are looked for",
        IgnoredReason::PhraseTooLong => "only the first 32 words of a phrase are looked for",
        IgnoredReason::ExclusionsAlone => "a search cannot only exclude; the words were looked for",
        IgnoredReason::ControlCharacters => "control characters were read as spaces",
        IgnoredReason::NoWords => "there is no word in it",
    };
    IgnoredInput { reason: reason.to_owned(), text: ignored.text.clone() }
}
