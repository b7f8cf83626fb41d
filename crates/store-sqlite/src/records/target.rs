//! A plan's stream as it lies in the database: its table, and a scope per part.

use pdpp_access::{PlanPart, ReadPlan};
use pdpp_wire::manifest::StreamDeclaration;
use rusqlite::Connection;

use crate::connections::{Scope, find_scope};
use crate::fault::Outcome;
use crate::field_table;
use crate::layout::Layout;

/// A plan's stream.
pub(crate) struct Target<'p> {
    pub(crate) layout: Layout,
    pub(crate) declaration: &'p StreamDeclaration,
    pub(crate) parts: Vec<Part<'p>>,
}

/// One part of a plan and where its records are.
#[derive(Clone, Copy)]
pub(crate) struct Part<'p> {
    /// Its place in the plan.
    pub(crate) index: usize,
    pub(crate) plan: &'p PlanPart,
    /// `None` when the connection is gone: then there is nothing to see.
    pub(crate) scope: Option<Scope>,
}

impl<'p> Target<'p> {
    pub(crate) fn resolve(connection: &Connection, read: &'p ReadPlan) -> Outcome<Self> {
        let (subject_id, source, declaration) = (read.subject_id(), read.source(), read.declaration());
        let layout = field_table::find(connection, subject_id, source, declaration)?;
        let parts = read.parts().iter().enumerate().map(|(index, plan)| {
            let scope =
                find_scope(connection, subject_id, plan.connection_id(), source.key(), read.stream())?;
            Ok(Part { index, plan, scope })
        });
        Ok(Self { layout, declaration, parts: parts.collect::<Outcome<_>>()? })
    }
}
