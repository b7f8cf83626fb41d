//! Plans for pages: of records, with their order, filter and children, and of changes.

use pdpp_wire::manifest::ExpandDeclaration;

use super::ReadPlan;
use crate::cursor::{Binding, ChangesPosition, ChangesSince};
use crate::{Position, Predicate};

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
