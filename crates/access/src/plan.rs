//! Plans: what one request may read, decided. The only keys that open a store.
//!
//! Every plan holds a [`ReadPlan`]: one stream of one source of one subject, in parts, one per
//! connection, each part under the grant that covers it. Fields are private to this crate, so a
//! plan in hand is the proof that [`Authorizer`](crate::Authorizer) made it.

mod aggregate;
mod page;
mod search;
mod single;

use std::collections::BTreeSet;
use std::sync::Arc;

use pdpp_wire::manifest::StreamDeclaration;
use pdpp_wire::{ConnectionId, GrantId, Instant, RecordKey, StreamName, SubjectId};

use crate::{FieldSet, Source};

pub use aggregate::{AggregatePlan, Granularity, Grouping, Metric};
pub use page::{ChangesPlan, Direction, ExpandPlan, Order, OrderBy, RecordsPlan};
pub use search::{SearchField, SearchOrder, SearchPart, SearchPlan, SkipReason, SkippedStream};
pub use single::{BlobPlan, RecordPlan, WindowPlan};

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
