//! The plan of a search: every place it may look, and which records and fields it may look at there.

use std::collections::BTreeSet;

use pdpp_wire::{ConnectionId, ConnectorKey, GrantId, StreamName, SubjectId};

use super::{PlanPart, ReadPlan, TimeBound};
use crate::Predicate;
use crate::cursor::{Binding, SearchPosition};

/// Where a search may look.
#[derive(Clone, Debug)]
pub struct SearchPlan {
    pub(crate) subject_id: SubjectId,
    pub(crate) parts: Vec<SearchPart>,
    pub(crate) skipped: Vec<SkippedStream>,
    pub(crate) filter: Vec<Predicate>,
    pub(crate) order: SearchOrder,
    pub(crate) limit: u32,
    pub(crate) after: Option<SearchPosition>,
    pub(crate) binding: Binding,
}

/// How hits are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// The best first.
    #[default]
    Relevance,
    /// The newest first.
    Newest,
}

/// One connection's share of one stream, with the fields that may be searched in it.
#[derive(Clone, Debug)]
pub struct SearchPart {
    pub(crate) read: ReadPlan,
    pub(crate) fields: Vec<SearchField>,
    pub(crate) within: Option<TimeBound>,
    pub(crate) follows_threads: bool,
    pub(crate) tells_time: bool,
}

/// One granted search field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchField {
    /// Its path: a top-level name, or a dotted path below one.
    pub path: String,
    /// The top-level field it lives under.
    pub top_level: String,
    /// The display role of that field, if it declares one.
    pub role: Option<String>,
}

/// A stream that was left out, or some connections of it, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedStream {
    /// Its connector.
    pub connector_key: ConnectorKey,
    /// The stream.
    pub stream: StreamName,
    /// The connections that were left out, where others were not or were for another reason.
    pub connection_ids: Vec<ConnectionId>,
    /// Why.
    pub reason: SkipReason,
}

/// Why a stream cannot be searched as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// None of its granted fields is declared searchable.
    NoSearchField,
    /// `since` or `until` was given, and its time field is not declared or not granted.
    NoTimeField,
    /// The grant bounds a time which the index does not know.
    OtherTimeField,
}

impl SearchPlan {
    /// Whose records.
    pub fn subject_id(&self) -> &SubjectId {
        &self.subject_id
    }

    /// Where to look, by connection and stream; may be empty.
    pub fn parts(&self) -> &[SearchPart] {
        &self.parts
    }

    /// What was left out.
    pub fn skipped(&self) -> &[SkippedStream] {
        &self.skipped
    }

    /// What the records must satisfy besides; not empty only when all parts are of one stream.
    pub fn filter(&self) -> &[Predicate] {
        &self.filter
    }

    /// How hits are ordered.
    pub fn order(&self) -> SearchOrder {
        self.order
    }

    /// Hits on a page.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Where the page starts, when it is not the first.
    pub fn after(&self) -> Option<&SearchPosition> {
        self.after.as_ref()
    }

    /// What cursors over this plan are bound to.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The grants this plan leans on, sorted and each once.
    pub fn grant_ids(&self) -> Vec<GrantId> {
        let ids: BTreeSet<_> = self.parts.iter().flat_map(|part| part.read.grant_ids()).collect();
        ids.into_iter().collect()
    }
}

impl SearchPart {
    /// The stream, for this connection alone; it shows the search fields and the record's own time.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// The connection's part of the read.
    pub fn part(&self) -> &PlanPart {
        &self.read.parts[0]
    }

    /// The fields that may be searched, in declared order; never empty.
    pub fn fields(&self) -> &[SearchField] {
        &self.fields
    }

    /// What the request asked of the record's consent time, beside what the grant does.
    pub fn within(&self) -> Option<&TimeBound> {
        self.within.as_ref()
    }

    /// Whether a record's neighbours in its thread may count for it: thread and order are granted, and
    /// what is granted are whole stretches of threads, so that nothing hidden stands in between.
    pub fn follows_threads(&self) -> bool {
        self.follows_threads
    }

    /// Whether the consent time is granted, and so may order what is found.
    pub fn tells_time(&self) -> bool {
        self.tells_time
    }
}
