//! Plans: what one request may read, decided. The only keys that open a store.
//!
//! Every plan holds a [`ReadPlan`]: one stream of one source of one subject, in parts, one per
//! connection, each part under the grant that covers it. Fields are private to this crate, so a
//! plan in hand is the proof that [`Authorizer`](crate::Authorizer) made it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;
use pdpp_wire::manifest::{ExpandDeclaration, StreamDeclaration};
use pdpp_wire::{BlobId, ConnectionId, GrantId, Instant, RecordKey, StreamName, SubjectId};

use crate::cursor::{Binding, ChangesPosition, ChangesSince};
use crate::{FieldSet, Position, Predicate, Source};

/// One stream, in parts.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    pub(crate) subject_id: SubjectId,
    pub(crate) source: Arc<Source>,
    pub(crate) stream: StreamName,
    pub(crate) parts: Vec<PlanPart>,
}

/// One connection's share of a stream, under the grant that covers it.
#[derive(Clone, Debug)]
pub struct PlanPart {
    pub(crate) connection_id: ConnectionId,
    pub(crate) display_name: Option<String>,
    pub(crate) grant_id: Option<GrantId>,
    pub(crate) granted: FieldSet,
    pub(crate) shown: FieldSet,
    pub(crate) resources: Option<Arc<BTreeSet<RecordKey>>>,
    pub(crate) time: Option<TimeBound>,
}

/// `since` inclusive, `until` exclusive; records without a readable time are outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeBound {
    /// The field that holds the record's time.
    pub field: String,
    /// Inclusive.
    pub since: Option<Instant>,
    /// Exclusive.
    pub until: Option<Instant>,
}

impl ReadPlan {
    /// Whose records.
    pub fn subject_id(&self) -> &SubjectId {
        &self.subject_id
    }

    /// The source the stream belongs to.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The stream.
    pub fn stream(&self) -> &StreamName {
        &self.stream
    }

    /// What the stream declares now.
    pub fn declaration(&self) -> &StreamDeclaration {
        // The authorizer refuses an undeclared stream before a plan exists, and a source is immutable.
        self.source
            .manifest
            .find_stream(self.stream.as_str())
            .expect("a plan's stream is declared by its source")
    }

    /// The connections, each under its own grant; never empty.
    pub fn parts(&self) -> &[PlanPart] {
        &self.parts
    }

    /// The grants this plan leans on, sorted and each once.
    pub fn grant_ids(&self) -> Vec<GrantId> {
        let ids: BTreeSet<_> = self.parts.iter().filter_map(|part| part.grant_id.clone()).collect();
        ids.into_iter().collect()
    }

    /// The same plan for one of its parts alone.
    #[must_use]
    pub fn part_alone(&self, index: usize) -> Self {
        Self { parts: vec![self.parts[index].clone()], ..self.clone() }
    }
}

impl PlanPart {
    /// The connection.
    pub fn connection_id(&self) -> &ConnectionId {
        &self.connection_id
    }

    /// The owner's label for it.
    pub fn display_name(&self) -> Option<&str> {
        self.display_name.as_deref()
    }

    /// The grant that covers it; none for the owner.
    pub fn grant_id(&self) -> Option<&GrantId> {
        self.grant_id.as_ref()
    }

    /// Every field the grant opens: what may influence an answer.
    pub fn granted(&self) -> &FieldSet {
        &self.granted
    }

    /// The fields this request is shown: granted and asked for.
    pub fn shown(&self) -> &FieldSet {
        &self.shown
    }

    /// Only these records.
    pub fn resources(&self) -> Option<&BTreeSet<RecordKey>> {
        self.resources.as_deref()
    }

    /// Only records of this time.
    pub fn time(&self) -> Option<&TimeBound> {
        self.time.as_ref()
    }

    /// Whether the grant lets every record of the connection's stream be seen.
    pub fn sees_every_record(&self) -> bool {
        self.resources.is_none() && self.time.is_none()
    }
}

/// In which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Least first.
    Ascending,
    /// Greatest first.
    Descending,
}

/// What records are ordered by; ties, and everything else, by key in the same direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderBy {
    /// The stream's cursor field; records without a value come last in both directions.
    Field(String),
    /// The record key alone.
    Key,
}

/// The order of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What by.
    pub by: OrderBy,
    /// Which way.
    pub direction: Direction,
}

/// A page of records.
#[derive(Clone, Debug)]
pub struct RecordsPlan {
    pub(crate) read: ReadPlan,
    pub(crate) filter: Vec<Predicate>,
    pub(crate) order: Order,
    pub(crate) limit: u32,
    pub(crate) after: Option<Position>,
    pub(crate) count: bool,
    pub(crate) window: bool,
    pub(crate) expand: Vec<ExpandPlan>,
    pub(crate) binding: Binding,
}

impl RecordsPlan {
    /// The stream.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// All of these hold.
    pub fn filter(&self) -> &[Predicate] {
        &self.filter
    }

    /// The order.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Page size.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Where the previous page ended.
    pub fn after(&self) -> Option<&Position> {
        self.after.as_ref()
    }

    /// Whether the exact total is wanted.
    pub fn count(&self) -> bool {
        self.count
    }

    /// Whether total and time bounds are wanted.
    pub fn window(&self) -> bool {
        self.window
    }

    /// The consent time field, if bounds over it may be told: granted in every part.
    pub fn window_field(&self) -> Option<&str> {
        let field = self.read.declaration().consent_time_field()?;
        self.read.parts.iter().all(|part| part.granted.contains(field)).then_some(field)
    }

    /// The relations to attach.
    pub fn expand(&self) -> &[ExpandPlan] {
        &self.expand
    }

    /// What this plan's cursors are bound to.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }
}

/// Children to attach to each record.
#[derive(Clone, Debug)]
pub struct ExpandPlan {
    pub(crate) declaration: ExpandDeclaration,
    /// Children of the same connections, in the order of the parent plan's parts; a part without a
    /// counterpart shows no children.
    pub(crate) child: ReadPlan,
    pub(crate) limit: u32,
}

impl ExpandPlan {
    /// The relation.
    pub fn declaration(&self) -> &ExpandDeclaration {
        &self.declaration
    }

    /// What may be read of the related stream.
    pub fn child(&self) -> &ReadPlan {
        &self.child
    }

    /// Most children per parent.
    pub fn limit(&self) -> u32 {
        self.limit
    }
}

/// A page of changes.
#[derive(Clone, Debug)]
pub struct ChangesPlan {
    pub(crate) read: ReadPlan,
    pub(crate) limit: u32,
    pub(crate) from: ChangesPosition,
    pub(crate) binding: Binding,
}

impl ChangesPlan {
    /// The stream.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// Page size.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Where this page starts.
    pub fn from(&self) -> &ChangesPosition {
        &self.from
    }

    /// What this plan's tokens are bound to.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The token the session started from; `None` means the beginning.
    pub fn since(&self) -> Option<&ChangesSince> {
        self.from.since.as_ref()
    }
}

/// One record, wherever the plan's parts hold it.
#[derive(Clone, Debug)]
pub struct RecordPlan {
    pub(crate) read: ReadPlan,
    pub(crate) key: RecordKey,
    pub(crate) expand: Vec<ExpandPlan>,
}

impl RecordPlan {
    /// The stream.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// The record.
    pub fn key(&self) -> &RecordKey {
        &self.key
    }

    /// The relations to attach.
    pub fn expand(&self) -> &[ExpandPlan] {
        &self.expand
    }
}

/// One field of one record. The plan's parts show only the top-level field the path lives under.
#[derive(Clone, Debug)]
pub struct WindowPlan {
    pub(crate) record: RecordPlan,
    pub(crate) field: String,
}

impl WindowPlan {
    /// The record, projected to the field's top level.
    pub fn record(&self) -> &RecordPlan {
        &self.record
    }

    /// The path as asked.
    pub fn field(&self) -> &str {
        &self.field
    }
}

/// What is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// How many records.
    Count,
    /// The sum of a field.
    Sum(String),
    /// Its least value.
    Min(String),
    /// Its greatest value.
    Max(String),
    /// How many different values it has.
    CountDistinct(String),
}

/// Bucket size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week from Monday.
    Week,
    /// A month.
    Month,
    /// A quarter.
    Quarter,
    /// A year.
    Year,
}

/// How counts are split.
#[derive(Clone, Debug)]
pub enum Grouping {
    /// One number.
    None,
    /// By a field's values.
    By(String),
    /// By a field's time, in a zone's wall clock.
    ByTime {
        /// The field.
        field: String,
        /// Bucket size.
        granularity: Granularity,
        /// The zone.
        zone: TimeZone,
        /// The zone as it was named.
        zone_name: String,
    },
}

/// A number about many records.
#[derive(Clone, Debug)]
pub struct AggregatePlan {
    pub(crate) read: ReadPlan,
    pub(crate) filter: Vec<Predicate>,
    pub(crate) metric: Metric,
    pub(crate) grouping: Grouping,
    pub(crate) limit: u32,
}

impl AggregatePlan {
    /// The stream.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// All of these hold.
    pub fn filter(&self) -> &[Predicate] {
        &self.filter
    }

    /// What is computed.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// How it is split.
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// Most groups.
    pub fn limit(&self) -> u32 {
        self.limit
    }
}

/// The bytes of a blob, if a visible record still refers to it.
#[derive(Clone, Debug)]
pub struct BlobPlan {
    pub(crate) blob_id: BlobId,
    pub(crate) reads: Vec<ReadPlan>,
}

impl BlobPlan {
    /// The blob.
    pub fn blob_id(&self) -> &BlobId {
        &self.blob_id
    }

    /// The streams in which `blob_ref` is granted; may be empty.
    pub fn reads(&self) -> &[ReadPlan] {
        &self.reads
    }
}
