//! What a query demands of a record as a whole, whichever of its fields has it.

use std::collections::HashSet;

use pdpp_evidence::Need;

use super::View;
use super::groups::Group;
use crate::SearchError;
use crate::segments::DocAt;

/// What a query demands of a record as a whole.
#[derive(Default)]
pub(crate) struct Filter {
    required: Vec<HashSet<u64>>,
    excluded: HashSet<u64>,
}

impl Filter {
    /// The filter, and the rarest group that every hit has.
    pub(crate) fn new<'g>(
        view: &View<'_>,
        groups: &'g [Group],
    ) -> Result<(Self, Option<&'g Group>), SearchError> {
        let mut filter = Self::default();
        let (mut rarest, mut quoted): (Option<&Group>, Vec<_>) = (None, Vec::new());
        for group in groups {
            let records = match group.need {
                Need::Should if !group.is_quoted => continue,
                _ => records(view, group)?,
            };
            match group.need {
                Need::Without => filter.excluded.extend(records),
                Need::Must => {
                    rarest = rarest.filter(|other| other.count <= group.count).or(Some(group));
                    filter.required.push(records);
                }
                Need::Should => quoted.push((group, records)),
            }
        }
        let all_of = |record: &u64| quoted.iter().all(|(_, records)| records.contains(record));
        if quoted.first().is_some_and(|(_, records)| records.iter().any(all_of)) {
            for (group, records) in quoted {
                rarest = rarest.filter(|other| other.count <= group.count).or(Some(group));
                filter.required.push(records);
            }
        }
        Ok((filter, rarest))
    }

    /// Whether a document may be, or be part of, a hit.
    pub(crate) fn admits(&self, view: &View<'_>, at: DocAt, part: usize) -> bool {
        let segment = view.segments.segment(at);
        if !view.is_granted(part, at) || !view.scopes.parts[part].request.allows(segment, at.doc) {
            return false;
        }
        if self.required.is_empty() && self.excluded.is_empty() {
            return true;
        }
        let record = segment.record(at.doc);
        !self.excluded.contains(&record) && self.required.iter().all(|records| records.contains(&record))
    }
}

fn records(view: &View<'_>, group: &Group) -> Result<HashSet<u64>, SearchError> {
    let mut records = HashSet::new();
    group.for_each_doc(view, |segment, doc| {
        records.insert(view.segments.all()[segment].record(doc));
    })?;
    Ok(records)
}
