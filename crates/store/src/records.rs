//! Reading records: every method takes a plan and answers within it.

use async_trait::async_trait;
use pdpp_access::{
    AggregatePlan, ChangesPlan, ChangesPosition, ChangesSince, Position, ReadPlan, RecordPlan, RecordsPlan,
    SearchPlan,
};
use pdpp_wire::{Data, Instant, RecordKey};
use serde_json::Value;

use crate::StoreError;

/// Reads under plans.
#[async_trait]
pub trait Records: Send + Sync {
    /// One page, in the plan's order, merged over all its parts.
    ///
    /// Order is by (value, key, connection) in the plan's direction, records without a value last
    /// in both directions. A page also ends when what it shows grows past the backend's budget of
    /// bytes, after at least one record; `next` goes on from there.
    async fn list_records(&self, plan: &RecordsPlan) -> Result<RecordsPage, StoreError>;

    /// One page of changes. An entry is live when a granted field's last change lies after the
    /// token and not after the session's horizon, and a tombstone when the record is gone, a life of
    /// it spans the token, and that life's last values satisfied the part's constraints. Entries are
    /// ordered by connection, then by the latest change the reader may see: an order no hidden
    /// change can move.
    async fn list_changes(&self, plan: &ChangesPlan) -> Result<ChangesOutcome, StoreError>;

    /// Whether a reader who starts at a position would be shown changes, and how many, up to `most`: exactly what
    /// [`Self::list_changes`] would tell. `None` when there are none. In the order of the questions.
    async fn visible_changes(
        &self,
        questions: &[(ReadPlan, u64)],
        most: u32,
    ) -> Result<Vec<Option<VisibleChanges>>, StoreError>;

    /// The record under each part that holds it, in the order of the parts.
    async fn find_record(&self, plan: &RecordPlan) -> Result<Vec<RecordRow>, StoreError>;

    /// Records a search found, each as (place of the part in the plan, key): those that are still there,
    /// may be seen and satisfy the plan's own bounds and filter, in the order given. `part` of a row is
    /// the part of the search.
    async fn find_hits(
        &self,
        plan: &SearchPlan,
        hits: &[(usize, RecordKey)],
    ) -> Result<Vec<RecordRow>, StoreError>;

    /// The records that a search's filter leaves, sorted, when there are at most so many.
    async fn filtered_keys(
        &self,
        plan: &SearchPlan,
        most: u32,
    ) -> Result<Option<Vec<(usize, RecordKey)>>, StoreError>;

    /// A number, or groups of them, over all parts together.
    async fn aggregate(&self, plan: &AggregatePlan) -> Result<Aggregate, StoreError>;

    /// Each part's size and age, in the order of the parts.
    async fn summarize(&self, plan: &ReadPlan) -> Result<Vec<Summary>, StoreError>;
}

/// One record as one part of a plan shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordRow {
    /// Which part of the plan.
    pub part: usize,
    /// The canonical key.
    pub key: RecordKey,
    /// When the last change to a granted field was emitted.
    pub emitted_at: Instant,
    /// The shown fields.
    pub data: Data,
    /// The children, one entry per relation of the plan, in its order.
    pub expanded: Vec<Expanded>,
}

/// Children of one record under one relation, ascending by the child's own order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    /// The children; `part` counts in the relation's own child plan.
    pub rows: Vec<RecordRow>,
    /// Whether the limit, or the budget of bytes the page's children share, cut some off.
    pub has_more: bool,
}

/// One page of records.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordsPage {
    /// The records.
    pub rows: Vec<RecordRow>,
    /// Where the next page starts; `None` on the last.
    pub next: Option<Position>,
    /// The exact total over all pages, when the plan asks for a count or a window.
    pub total: Option<u64>,
    /// The time bounds, when the plan asks for a window and may tell them.
    pub window: Option<WindowBounds>,
}

/// Least and greatest consent time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBounds {
    /// Least.
    pub earliest: Instant,
    /// Greatest.
    pub latest: Instant,
}

/// What became of a request for changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangesOutcome {
    /// One page.
    Page(ChangesPage),
    /// The token's history is gone; the reader starts over.
    Expired,
}

/// One page of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesPage {
    /// The changes.
    pub entries: Vec<ChangeEntry>,
    /// Where the next page of this session starts; `None` on the last.
    pub next: Option<ChangesPosition>,
    /// Where the session ends, and the next one can start.
    pub horizon: ChangesSince,
}

/// Changes that a reader would be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleChanges {
    /// Where the reader starts, as a token remembers it.
    pub since: ChangesSince,
    /// How many, up to the bound of the question.
    pub count: u32,
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeEntry {
    /// The record as it is now.
    Live(RecordRow),
    /// It is gone.
    Deleted {
        /// Which part of the plan.
        part: usize,
        /// The canonical key.
        key: RecordKey,
        /// When the deletion was emitted.
        deleted_at: Instant,
    },
}

/// The answer to an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// How many visible records satisfy the filter.
    pub filtered_record_count: u64,
    /// The value, when the plan does not group.
    pub value: Option<Value>,
    /// The first groups, when it does.
    pub groups: Option<Vec<Group>>,
    /// Records in groups beyond the limit.
    pub other_count: u64,
}

/// One group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The value or bucket start; null for records without one.
    pub key: Value,
    /// How many records.
    pub count: u64,
}

/// Size and age of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Visible records.
    pub record_count: u64,
    /// The latest visible emission.
    pub last_updated: Option<Instant>,
}
