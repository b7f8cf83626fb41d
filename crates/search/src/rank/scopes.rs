//! What a plan lets be seen, in the index's own terms.
//!
//! Two kinds of limits are kept apart. What the grant says decides what exists for this reader, and so
//! what is counted; what the request says only decides which of it may be a hit.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use pdpp_access::{SearchPart, SearchPlan, TimeBound};
use pdpp_evidence::Role;
use pdpp_wire::RecordKey;
use tantivy::DocId;

use crate::known_scopes::KnownScope;
use crate::layout::Layout;
use crate::place::StreamPlace;
use crate::segments::Segment;

/// What the text of a field that is not the body counts, beside a body.
const BESIDE_BODY: f64 = 0.5;

/// Every field of every part.
pub(crate) struct Scopes {
    pub(crate) parts: Vec<PartScope>,
    pub(crate) fields: Vec<FieldScope>,
}

/// One part of the plan.
pub(crate) struct PartScope {
    pub(crate) grant: Bounds,
    pub(crate) request: Bounds,
    pub(crate) follows_threads: bool,
    pub(crate) tells_time: bool,
    /// The first part of the same stream that is searched in the same fields.
    pub(crate) like: usize,
    /// What the numbers of its records have in common.
    first: u64,
}

impl PartScope {
    /// What tells a record of the part apart from its others: the number of its key.
    pub(crate) fn key_number(&self, record: u64) -> u64 {
        record.wrapping_sub(self.first)
    }
}

/// One search field of one part.
pub(crate) struct FieldScope {
    pub(crate) part: usize,
    pub(crate) field: usize,
    pub(crate) scope: String,
    /// Whether it names who wrote the record.
    pub(crate) is_actor: bool,
    /// Whether it is the record's text.
    pub(crate) is_body: bool,
    /// Whether it is the record's title.
    pub(crate) is_title: bool,
    /// What its matches count.
    pub(crate) weight: f64,
}

/// Which records.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    since: Option<i64>,
    until: Option<i64>,
    records: Option<Arc<HashSet<u64>>>,
    /// Tells bounds apart where counts are kept; 0 when there are none.
    pub(crate) key: u64,
}

impl Scopes {
    pub(crate) fn new(plan: &SearchPlan, only: Option<&[(usize, RecordKey)]>) -> Self {
        let (mut parts, mut fields) = (Vec::new(), Vec::new());
        for (index, part) in plan.parts().iter().enumerate() {
            let place = StreamPlace {
                subject_id: plan.subject_id().clone(),
                connection_id: part.part().connection_id().clone(),
                stream: part.read().stream().clone(),
            };
            fields.extend(part_fields(index, part, &place));
            let only: Option<BTreeSet<_>> = only.map(|only| {
                only.iter().filter(|(part, _)| *part == index).map(|(_, key)| place.record(key)).collect()
            });
            let granted = part.part().resources();
            let granted = granted.map(|keys| keys.iter().map(|key| place.record(key)).collect());
            parts.push(PartScope {
                grant: Bounds::new(part.part().time(), granted),
                request: Bounds::new(part.within(), only),
                follows_threads: part.follows_threads(),
                tells_time: part.tells_time(),
                like: plan.parts().iter().position(|other| is_alike(other, part)).unwrap_or(index),
                first: place.first(),
            });
        }
        Self { parts, fields }
    }

    /// The fields of a part, which stand together.
    pub(crate) fn fields_of(&self, part: usize) -> Range<usize> {
        let start = self.fields.partition_point(|field| field.part < part);
        start..start + self.fields[start..].partition_point(|field| field.part == part)
    }

    /// What a segment says of each field's scope, in the order of the fields.
    pub(crate) fn in_segment(
        &self,
        layout: Layout,
        segment: &Segment,
    ) -> Result<Vec<KnownScope>, crate::SearchError> {
        self.fields.iter().map(|field| segment.known_scope(layout, &field.scope)).collect()
    }
}

/// The plan's fields by the number their scope has in a segment.
pub(crate) struct FieldsBySegment(Vec<(u64, usize)>);

impl FieldsBySegment {
    pub(crate) fn of(scopes: &[KnownScope]) -> Self {
        let by_ord = scopes.iter().enumerate().filter_map(|(index, scope)| Some((scope.ord?, index)));
        let mut by_ord: Vec<_> = by_ord.collect();
        by_ord.sort_unstable();
        Self(by_ord)
    }

    pub(crate) fn field(&self, segment: &Segment, doc: DocId) -> Option<usize> {
        let ord = segment.scope(doc)?;
        let at = self.0.binary_search_by_key(&ord, |(ord, _)| *ord).ok()?;
        Some(self.0[at].1)
    }
}

fn is_alike(part: &SearchPart, other: &SearchPart) -> bool {
    let source = |part: &SearchPart| part.read().source().manifest.key().clone();
    part.read().stream() == other.read().stream()
        && source(part) == source(other)
        && part.fields() == other.fields()
}

fn part_fields(index: usize, part: &SearchPart, place: &StreamPlace) -> Vec<FieldScope> {
    let role = |name: &Option<String>| name.as_deref().map(Role::parse);
    let is_body = |role: &Option<Role>| matches!(role, Some(Role::Body | Role::PrimaryTitle));
    let has_body = part.fields().iter().any(|field| is_body(&role(&field.role)));
    let field = |(number, field): (usize, &pdpp_access::SearchField)| {
        let role = role(&field.role);
        FieldScope {
            part: index,
            field: number,
            scope: place.scope(&field.path),
            is_actor: role == Some(Role::Actor),
            is_body: role == Some(Role::Body),
            is_title: role == Some(Role::PrimaryTitle),
            weight: if has_body && !is_body(&role) { BESIDE_BODY } else { 1.0 },
        }
    };
    part.fields().iter().enumerate().map(field).collect()
}

impl Bounds {
    fn new(time: Option<&TimeBound>, records: Option<BTreeSet<u64>>) -> Self {
        let at = |end: fn(&TimeBound) -> Option<pdpp_wire::Instant>| {
            time.and_then(end).map(pdpp_wire::Instant::micros)
        };
        let (since, until) = (at(|bound| bound.since), at(|bound| bound.until));
        let mut key = 0;
        if since.is_some() || until.is_some() || records.is_some() {
            let mut hasher = DefaultHasher::new();
            (since, until, &records).hash(&mut hasher);
            key = hasher.finish().max(1);
        }
        Self { since, until, records: records.map(|records| Arc::new(records.into_iter().collect())), key }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.key == 0
    }

    pub(crate) fn allows(&self, segment: &Segment, doc: DocId) -> bool {
        self.is_open() || (self.allows_time(segment, doc) && self.allows_record(segment, doc))
    }

    /// The documents of a segment within these bounds, in order, deleted ones included.
    pub(crate) fn docs(&self, segment: &Segment) -> Vec<DocId> {
        let Some(records) = &self.records else {
            return (0..segment.reader.max_doc()).filter(|doc| self.allows_time(segment, *doc)).collect();
        };
        let found = records.iter().filter_map(|record| segment.find_record(*record));
        let mut docs: Vec<_> = found.flat_map(|doc| segment.record_docs(doc)).collect();
        docs.retain(|doc| self.allows_time(segment, *doc));
        docs.sort_unstable();
        docs
    }

    fn allows_time(&self, segment: &Segment, doc: DocId) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let Some(time) = segment.time(doc) else { return false };
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }

    fn allows_record(&self, segment: &Segment, doc: DocId) -> bool {
        self.records.as_ref().is_none_or(|records| records.contains(&segment.record(doc)))
    }
}
