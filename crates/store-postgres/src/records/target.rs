//! A plan's stream as it lies in the database: its fields, and a scope per part.

use std::collections::HashMap;

use futures_util::future::try_join;
use pdpp_access::{PlanPart, ReadPlan};
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::StreamDeclaration;

use crate::fault::Outcome;
use crate::layout::Layout;
use crate::scope::Scope;
use crate::session::Session;

/// A plan's stream.
pub(crate) struct Target<'p> {
    pub(crate) subject_id: &'p SubjectId,
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
    pub(crate) async fn resolve(session: &Session, read: &'p ReadPlan) -> Outcome<Self> {
        let (subject_id, source, declaration) = (read.subject_id(), read.source(), read.declaration());
        let layout = Layout::find(session, subject_id, source, declaration);
        let (layout, scopes) = try_join(layout, scopes(session, read)).await?;
        let part = |(index, plan): (usize, &'p PlanPart)| Part {
            index,
            plan,
            scope: scopes.get(plan.connection_id().as_str()).copied(),
        };
        Ok(Self {
            subject_id,
            layout,
            declaration,
            parts: read.parts().iter().enumerate().map(part).collect(),
        })
    }

    /// The cursor field's number, if the stream has one.
    pub(crate) fn order_field(&self) -> Option<i32> {
        let place = self.layout.place(self.declaration.cursor_field()?)?;
        place.is_order.then_some(place.field)
    }
}

/// The scopes of a plan's connections that exist and belong to its source.
async fn scopes(session: &Session, read: &ReadPlan) -> Outcome<HashMap<String, Scope>> {
    let sql = "SELECT connection_id, scope_id, epoch, live_count FROM scopes
               WHERE subject_id = $1 AND connection_id = ANY($2) AND stream = $3 AND connector_key = $4";
    let connections: Vec<_> = read.parts().iter().map(|part| part.connection_id().as_str()).collect();
    let names = (read.subject_id().as_str(), read.stream().as_str(), read.source().key().as_str());
    let rows = session.query(sql, &[&names.0, &connections, &names.1, &names.2]).await?;
    let scope = |row: &tokio_postgres::Row| {
        (row.get(0), Scope { id: row.get(1), epoch: row.get(2), live_count: row.get(3) })
    };
    Ok(rows.iter().map(scope).collect())
}
