//! Who stands next to whom in a thread.
//!
//! A thread's records stand next to each other in the index that goes from a field's value on to the stream's
//! order, so a neighbour is one step away. A compound thread is met by stepping over records of other threads that
//! share its first field, a bounded number of them. All records of a feed are asked for at once.

use pdpp_store::FedRecord;
use pdpp_wire::manifest::{FieldType, StreamDeclaration};
use pdpp_wire::{RecordKey, SubjectId};
use serde_json::{Map, Value};

use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::scope::Scope;
use crate::session::{Session, Values};
use crate::value::Sortable;

/// How many records of other threads are stepped over in search of a neighbour.
const STEPS: usize = 200;

/// How neighbours are found in one stream.
pub(super) struct Threads<'d> {
    /// The fields that make a thread, with their numbers.
    fields: Vec<(&'d str, i32, FieldType)>,
}

impl<'d> Threads<'d> {
    /// `None` when the stream declares no thread or no order.
    pub(super) fn of(layout: &Layout, declaration: &'d StreamDeclaration) -> Option<Self> {
        layout.order_type()?;
        let thread = declaration.fields().iter().filter(|field| field.role() == Some("thread"));
        let place = |name: &'d str| {
            let place = layout.place(name)?;
            (!place.is_order).then_some((name, place.field, place.field_type))
        };
        let fields: Option<Vec<_>> = thread.map(|field| place(field.name())).collect();
        Some(Self { fields: fields.filter(|fields| !fields.is_empty())? })
    }

    /// Gives each record its neighbours.
    pub(super) async fn join(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        scope: Scope,
        layout: &Layout,
        fed: &mut [FedRecord],
    ) -> Outcome<()> {
        let (mut indexes, mut keys, mut orders) = (Vec::new(), Vec::new(), Vec::new());
        let mut values = vec![Vec::new(); self.fields.len()];
        for (index, record) in fed.iter().enumerate() {
            let Some(data) = record.data.as_deref() else { continue };
            let data: Map<String, Value> =
                serde_json::from_str(data).map_err(|_| Fault::damaged("a stored record is not JSON"))?;
            let thread = self.fields.iter().map(|(name, _, kind)| Sortable::of_value(*kind, data.get(*name)));
            let thread: Option<Vec<_>> = thread.collect();
            let (Some(order), Some(thread)) = (layout.ord(&data), thread) else { continue };
            indexes.push(i32::try_from(index).map_err(|_| Fault::damaged("a feed of too many records"))?);
            keys.push(record.key.as_str().to_owned());
            orders.push(order.as_bytes().to_vec());
            for (column, value) in values.iter_mut().zip(thread) {
                column.push(value.as_bytes().to_vec());
            }
        }
        if indexes.is_empty() {
            return Ok(());
        }
        let (subject_id, numbers) = (subject_id.as_str(), self.fields.iter().map(|field| field.1));
        let numbers: Vec<i32> = numbers.collect();
        let mut bound: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
            vec![&subject_id, &scope.id, &indexes, &keys, &orders, &numbers];
        for column in &values {
            bound.push(column);
        }
        for row in session.query(&sql(self.fields.len()), &bound as &Values<'_>).await? {
            let place = usize::try_from(row.get::<_, i32>(0)).ok().and_then(|index| fed.get_mut(index));
            let Some(record) = place else { continue };
            record.previous = read(row.get(1))?;
            record.next = read(row.get(2))?;
        }
        Ok(())
    }
}

fn read(key: Option<String>) -> Outcome<Option<RecordKey>> {
    key.map(|key| RecordKey::parse(key).map_err(|_| Fault::damaged("a record's key"))).transpose()
}

/// Asks for the neighbours of many records, in threads of so many fields.
fn sql(fields: usize) -> String {
    let list = |spell: &dyn Fn(usize) -> String| (0..fields).map(spell).collect::<Vec<_>>();
    let arrays = list(&|n| format!("${}::bytea[]", n + 7)).join(", ");
    let columns = list(&|n| format!("v{n}")).join(", ");
    // The first field is what the index is walked by; each other one is looked up beside it, by all that its row
    // holds: a point in either index of the table.
    let others = (1..fields).map(|n| {
        format!(
            " AND (SELECT true FROM record_fields AS o WHERE o.subject_id = $1 AND o.scope_id = $2
                   AND o.field = ($6::integer[])[{}] AND o.key = near.key AND o.value = u.v{n}
                   AND o.ord = near.ord)",
            n + 1
        )
    });
    let others: String = others.collect();
    let step = |beyond: &str, direction: &str| {
        format!(
            "(SELECT near.key FROM (
                  SELECT f.key, f.ord FROM record_fields AS f
                  WHERE f.subject_id = $1 AND f.scope_id = $2 AND f.field = ($6::integer[])[1]
                  AND f.value = u.v0 AND (f.ord, f.key) {beyond} (u.ord, u.key)
                  ORDER BY f.ord {direction}, f.key {direction} LIMIT {STEPS}
              ) AS near WHERE true{others} ORDER BY near.ord {direction}, near.key {direction} LIMIT 1)"
        )
    };
    let (back, forward) = (step("<", "DESC"), step(">", "ASC"));
    format!(
        "SELECT u.n, {back}, {forward}
         FROM unnest($3::integer[], $4::text[], $5::bytea[], {arrays}) AS u (n, key, ord, {columns})"
    )
}
