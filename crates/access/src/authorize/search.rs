//! Searching: which streams, connections and fields of a principal a query may look at.

use pdpp_wire::manifest::StreamDeclaration;
use pdpp_wire::{AvailableConnection, Code, ConnectionId, Instant, StreamName};

use super::Authorizer;
use crate::cursor::Binding;
use crate::filter::parse_filter;
use crate::{
    Denial, FieldSet, PlanPart, Principal, ReadPlan, Sealer, SearchField, SearchOrder, SearchPart,
    SearchPlan, SearchRequest, SkipReason, SkippedStream, StreamsRequest, TimeBound,
};

/// Most streams one search may name.
const MAX_STREAMS: usize = 64;

impl Authorizer<'_> {
    /// Authorizes a search.
    pub fn search(&self, request: &SearchRequest, sealer: &Sealer) -> Result<SearchPlan, Denial> {
        let reads = self.searched_streams(request)?;
        let order = match request.order.as_deref() {
            None | Some("relevance") => SearchOrder::Relevance,
            Some("newest") => SearchOrder::Newest,
            Some(_) => return Err(Denial::invalid("order", "`order` must be `relevance` or `newest`.")),
        };
        let asked = (time(request.since.as_deref(), "since")?, time(request.until.as_deref(), "until")?);
        let filter = filter(&reads, request)?;
        let (mut parts, mut skipped) = (Vec::new(), Vec::new());
        for read in &reads {
            let (found, left_out) = search_parts(read, asked);
            parts.extend(found);
            skipped.extend(skipped_streams(read, &left_out));
        }
        let place = |part: &SearchPart| (part.part().connection_id.clone(), part.read.stream.clone());
        parts.sort_by_key(place);
        let binding = self.search_binding(request, &parts);
        let after = request.cursor.as_deref().map(|token| sealer.open_search(&binding, token)).transpose()?;
        Ok(SearchPlan {
            subject_id: self.principal.subject_id().clone(),
            parts,
            skipped,
            filter,
            order,
            limit: request.limit,
            after,
            binding,
        })
    }

    fn searched_streams(&self, request: &SearchRequest) -> Result<Vec<ReadPlan>, Denial> {
        if request.streams.len() > MAX_STREAMS {
            return Err(Denial::invalid("streams", format!("At most {MAX_STREAMS} streams may be named.")));
        }
        let wanted = StreamsRequest { connection_id: request.connection_id.clone(), connector_id: None };
        if let Principal::Client(client) = self.principal {
            let granted = |name: &&String| {
                let mut streams = client.grants().iter().flat_map(crate::ActiveGrant::streams);
                streams.any(|stream| stream.name.as_str() == name.as_str())
            };
            if let Some(other) = request.streams.iter().find(|name| !granted(name)) {
                let message = format!("The stream '{other}' is not part of the grant.");
                return Err(Denial::new(Code::GrantStreamNotAllowed, message).param("streams"));
            }
        }
        let mut reads = self.streams(&wanted)?;
        if !request.streams.is_empty() {
            reads.retain(|read| request.streams.iter().any(|name| name == read.stream().as_str()));
        }
        Ok(reads)
    }

    fn search_binding(&self, request: &SearchRequest, parts: &[SearchPart]) -> Binding {
        let mut bound = vec![
            "search".to_owned(),
            self.principal.subject_id().to_string(),
            request.q.clone(),
            format!("{:?} {:?} {:?}", request.order, request.since, request.until),
            format!("{:?}", request.filter),
        ];
        bound.extend(self.principal.grant_ids().iter().map(ToString::to_string));
        for part in parts {
            let fields: Vec<_> = part.fields.iter().map(|field| field.path.as_str()).collect();
            bound.push(format!("{} {} {fields:?}", part.part().connection_id, part.read.stream));
        }
        Binding::of(bound.iter().map(String::as_str))
    }
}

/// A filter speaks of one stream's fields. Two sources may each have a stream of that name.
fn filter(reads: &[ReadPlan], request: &SearchRequest) -> Result<Vec<crate::Predicate>, Denial> {
    if request.filter.is_empty() {
        return Ok(Vec::new());
    }
    match reads {
        [read] => parse_filter(read, &request.filter),
        [first, others @ ..] if others.iter().all(|other| other.stream() == first.stream()) => {
            Err(several_sources(reads, first.stream()))
        }
        _ => Err(Denial::invalid("streams", "`filter` needs exactly one stream: name it with `streams`.")),
    }
}

fn several_sources(reads: &[ReadPlan], stream: &StreamName) -> Denial {
    let offered = reads.iter().flat_map(|read| {
        let source = read.source();
        read.parts().iter().map(move |part| AvailableConnection {
            connection_id: part.connection_id.clone(),
            connector_key: Some(source.key().clone()),
            stream: None,
            display_name: source
                .find_connection(part.connection_id.as_str())
                .and_then(|connection| connection.display_name.clone()),
        })
    });
    let message = format!(
        "Several sources have a stream '{stream}', and a filter speaks of one. Retry with `connection_id`."
    );
    Denial::new(Code::AmbiguousConnection, message).choose_from(offered.collect())
}

fn time(given: Option<&str>, param: &str) -> Result<Option<Instant>, Denial> {
    let parse = |text| {
        Instant::parse(text)
            .ok_or_else(|| Denial::invalid(param, format!("`{param}` must be a date or a date-time.")))
    };
    given.map(parse).transpose()
}

/// The parts of a stream that may be searched, and why each other one may not.
fn search_parts(
    read: &ReadPlan,
    (since, until): (Option<Instant>, Option<Instant>),
) -> (Vec<SearchPart>, Vec<(SkipReason, ConnectionId)>) {
    let declaration = read.declaration();
    let consent = declaration.consent_time_field();
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for (index, part) in read.parts().iter().enumerate() {
        let mut leave_out = |reason| left_out.push((reason, part.connection_id.clone()));
        let fields = search_fields(declaration, part.granted());
        if fields.is_empty() {
            leave_out(SkipReason::NoSearchField);
            continue;
        }
        // The index knows a record's consent time and no other; a grant that limits another cannot be kept.
        if part.time().is_some_and(|bound| consent != Some(bound.field.as_str())) {
            leave_out(SkipReason::OtherTimeField);
            continue;
        }
        let tells_time = consent.is_some_and(|field| part.granted().contains(field));
        let within = match consent {
            _ if since.is_none() && until.is_none() => None,
            Some(field) if tells_time => Some(TimeBound { field: field.to_owned(), since, until }),
            _ => {
                leave_out(SkipReason::NoTimeField);
                continue;
            }
        };
        let mut alone = read.part_alone(index);
        alone.parts[0].shown = shown(declaration, part.granted(), &fields);
        let follows_threads = follows_threads(declaration, part);
        found.push(SearchPart { read: alone, fields, within, follows_threads, tells_time });
    }
    (found, left_out)
}

/// What was left out of a stream, reason by reason. Connections are named only where it was not the whole stream.
fn skipped_streams(read: &ReadPlan, left_out: &[(SkipReason, ConnectionId)]) -> Vec<SkippedStream> {
    let mut reasons: Vec<SkipReason> = left_out.iter().map(|(reason, _)| *reason).collect();
    reasons.dedup();
    let is_whole = left_out.len() == read.parts().len() && reasons.len() == 1;
    let mut skipped: Vec<SkippedStream> = Vec::new();
    for (reason, connection_id) in left_out {
        let known = skipped.iter().position(|one| one.reason == *reason);
        let at = known.unwrap_or_else(|| {
            skipped.push(SkippedStream {
                connector_key: read.source().key().clone(),
                stream: read.stream().clone(),
                connection_ids: Vec::new(),
                reason: *reason,
            });
            skipped.len() - 1
        });
        if !is_whole {
            skipped[at].connection_ids.push(connection_id.clone());
        }
    }
    skipped
}

fn search_fields(declaration: &StreamDeclaration, granted: &FieldSet) -> Vec<SearchField> {
    let fields = declaration.lexical_fields().iter().map(|path| {
        let whole = declaration.find_field(path).is_some();
        let top = if whole { path } else { path.split('.').next().unwrap_or(path) };
        let role = declaration
            .find_field(top)
            .and_then(pdpp_wire::manifest::FieldDeclaration::role)
            .map(str::to_owned);
        SearchField { path: path.clone(), top_level: top.to_owned(), role }
    });
    fields.filter(|field| granted.contains(&field.top_level)).collect()
}

/// What a hit is made of: the search fields, and the fields that tell when it happened.
fn shown(declaration: &StreamDeclaration, granted: &FieldSet, fields: &[SearchField]) -> FieldSet {
    let times = declaration.fields().iter().filter(|field| field.role() == Some("event-time"));
    let names = fields.iter().map(|field| field.top_level.as_str());
    let names = names
        .chain(times.map(pdpp_wire::manifest::FieldDeclaration::name))
        .chain(declaration.consent_time_field());
    FieldSet::only(names.filter(|name| granted.contains(name)).map(str::to_owned))
}

fn follows_threads(declaration: &StreamDeclaration, part: &PlanPart) -> bool {
    let Some(order) = declaration.cursor_field() else { return false };
    let mut thread = declaration.fields().iter().filter(|field| field.role() == Some("thread")).peekable();
    thread.peek().is_some()
        && thread.all(|field| part.granted().contains(field.name()))
        && part.granted().contains(order)
        && part.resources().is_none()
        && part.time().is_none_or(|bound| bound.field == order)
}
