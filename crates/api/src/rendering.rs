//! Stored rows as the wire says them: identity, labels, handles, blob links.

use std::collections::BTreeMap;

use pdpp_access::{ExpandPlan, PlanPart, ReadPlan};
use pdpp_store::{RecordRow, StoreError};
use pdpp_wire::manifest::Cardinality;
use pdpp_wire::{
    AvailableConnection, Code, Data, Expanded, ExpandedList, ListObject, Record, RecordObject, RecordRef,
};

use crate::ApiError;
use crate::blob_link::link_blob;
use crate::disclosure::Shown;

/// Labels that say nothing: names of defaults rather than of accounts.
const PLACEHOLDERS: [&str; 4] = ["legacy", "default_account", "default account", "default"];

/// The owner's own label of a part's connection, if it is one.
pub(crate) fn label(read: &ReadPlan, part: &PlanPart) -> Option<String> {
    let source = read.source();
    let named = [source.key().as_str(), source.manifest.source().id.as_str(), part.connection_id().as_str()];
    real_label(part.display_name(), &named)
}

/// A label, unless it is a placeholder or merely repeats an id.
pub(crate) fn real_label(label: Option<&str>, ids: &[&str]) -> Option<String> {
    let label = label.map(str::trim).filter(|label| !label.is_empty())?;
    let empty = PLACEHOLDERS.iter().any(|word| word.eq_ignore_ascii_case(label)) || ids.contains(&label);
    (!empty).then(|| label.to_owned())
}

/// One row of a plan as a record.
pub(crate) fn record(read: &ReadPlan, expand: &[ExpandPlan], row: RecordRow) -> Result<Record, ApiError> {
    let part = part(read, row.part)?;
    let connection_id = part.connection_id().clone();
    let handle = RecordRef {
        connection_id: connection_id.clone(),
        stream: read.stream().clone(),
        record_id: row.key.clone(),
    };
    Ok(Record {
        object: RecordObject::Value,
        result_id: Some(handle.result_id()),
        id: row.key,
        stream: read.stream().clone(),
        data: link_blob(row.data)?,
        emitted_at: row.emitted_at.to_rfc3339(),
        connector_instance_id: Some(connection_id.clone()),
        connection_id: Some(connection_id),
        display_name: label(read, part),
        expanded: expanded(expand, row.expanded)?,
    })
}

/// The part of a plan a row belongs to.
pub(crate) fn part(read: &ReadPlan, index: usize) -> Result<&PlanPart, ApiError> {
    read.parts().get(index).ok_or_else(|| {
        ApiError::internal(StoreError::Damaged(
            "the store answered for a part the plan does not have".to_owned(),
        ))
    })
}

type Relations = BTreeMap<String, Option<Expanded>>;

fn expanded(
    plans: &[ExpandPlan],
    children: Vec<pdpp_store::Expanded>,
) -> Result<Option<Relations>, ApiError> {
    if plans.is_empty() {
        return Ok(None);
    }
    let mut relations = Relations::new();
    for (plan, children) in plans.iter().zip(children) {
        let relation = &plan.declaration().relationship;
        let has_more = children.has_more;
        let rows = children.rows.into_iter().map(|row| record(plan.child(), &[], row));
        let mut data = rows.collect::<Result<Vec<_>, _>>()?;
        let shown = match relation.cardinality {
            Cardinality::HasMany => {
                Some(Expanded::Many(ExpandedList { object: ListObject::Value, has_more, data }))
            }
            Cardinality::HasOne if data.is_empty() => None,
            Cardinality::HasOne => Some(Expanded::One(Box::new(data.swap_remove(0)))),
        };
        relations.insert(relation.name.clone(), shown);
    }
    Ok(Some(relations))
}

/// What the attached children show, relation by relation.
pub(crate) fn children_shown(plans: &[ExpandPlan], rows: &[RecordRow]) -> Vec<Shown> {
    let shown = plans.iter().enumerate().map(|(index, plan)| {
        let children =
            rows.iter().filter_map(|row| row.expanded.get(index)).flat_map(|children| &children.rows);
        Shown::of_plan(plan.child()).records(children.map(|child| &child.key))
    });
    shown.filter(|shown| !shown.is_empty()).collect()
}

/// The same id under several connections: the caller must choose.
pub(crate) fn ambiguous(read: &ReadPlan, rows: &[RecordRow], id: &str) -> Result<ApiError, ApiError> {
    let offered = rows.iter().map(|row| {
        let part = part(read, row.part)?;
        Ok(AvailableConnection {
            connection_id: part.connection_id().clone(),
            connector_key: None,
            stream: None,
            display_name: label(read, part),
        })
    });
    let offered = offered.collect::<Result<Vec<_>, ApiError>>()?;
    let message =
        format!("Record '{id}' is present under more than one connection. Retry with `connection_id`.");
    Ok(ApiError::new(Code::AmbiguousConnection, message).choose_from(offered))
}

/// The length of a payload as it is sent.
pub(crate) fn payload_bytes(data: &Data) -> u64 {
    data.get().len() as u64
}

#[cfg(test)]
mod tests {
    use super::real_label;

    #[test]
    fn only_the_owners_own_words_are_labels() {
        let ids = ["post", "urn:pdpp:source:post", "cin_1"];
        assert_eq!(real_label(Some("Home"), &ids).as_deref(), Some("Home"));
        for placeholder in ["", " ", "legacy", "Default account", "default_account", "post", "cin_1", ids[1]]
        {
            assert_eq!(real_label(Some(placeholder), &ids), None, "{placeholder}");
        }
        assert_eq!(real_label(None, &ids), None);
    }
}
