//! Searching: which streams, connections and fields of a principal a query may look at.

use pdpp_wire::manifest::StreamDeclaration;
use pdpp_wire::{Code, Instant};

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
            match search_parts(read, asked) {
                Ok(found) => parts.extend(found),
                Err(reason) => skipped.push(SkippedStream {
                    connector_key: read.source().key().clone(),
                    stream: read.stream().clone(),
                    reason,
                }),
            }
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

/// A filter speaks of one stream's fields.
fn filter(reads: &[ReadPlan], request: &SearchRequest) -> Result<Vec<crate::Predicate>, Denial> {
    if request.filter.is_empty() {
        return Ok(Vec::new());
    }
    match reads {
        [read] => parse_filter(read, &request.filter),
        _ => Err(Denial::invalid("streams", "`filter` needs exactly one stream: name it with `streams`.")),
    }
}

fn time(given: Option<&str>, param: &str) -> Result<Option<Instant>, Denial> {
    let parse = |text| {
        Instant::parse(text)
            .ok_or_else(|| Denial::invalid(param, format!("`{param}` must be a date or a date-time.")))
    };
    given.map(parse).transpose()
}

/// The parts of a stream that may be searched, or why none may.
fn search_parts(
    read: &ReadPlan,
    (since, until): (Option<Instant>, Option<Instant>),
) -> Result<Vec<SearchPart>, SkipReason> {
    let declaration = read.declaration();
    let consent = declaration.consent_time_field();
    let (mut found, mut reason) = (Vec::new(), SkipReason::NoSearchField);
    for (index, part) in read.parts().iter().enumerate() {
        let fields = search_fields(declaration, part.granted());
        // The index knows a record's consent time and no other; a grant that limits another cannot be kept.
        let is_kept = part.time().is_none_or(|bound| consent == Some(bound.field.as_str()));
        if fields.is_empty() || !is_kept {
            continue;
        }
        let tells_time = consent.is_some_and(|field| part.granted().contains(field));
        let within = match consent {
            _ if since.is_none() && until.is_none() => None,
            Some(field) if tells_time => Some(TimeBound { field: field.to_owned(), since, until }),
            _ => {
                reason = SkipReason::NoTimeField;
                continue;
            }
        };
        let mut alone = read.part_alone(index);
        alone.parts[0].shown = shown(declaration, part.granted(), &fields);
        let follows_threads = follows_threads(declaration, part);
        found.push(SearchPart { read: alone, fields, within, follows_threads, tells_time });
    }
    if found.is_empty() { Err(reason) } else { Ok(found) }
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
