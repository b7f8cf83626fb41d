//! One part of a search plan, with what is the same for every hit in it.

use pdpp_access::{SearchPart, SearchPlan};
use pdpp_evidence::{FieldPath, Role, Roles, percent_encode_segment};
use serde_json::{Map, Value};

use crate::rendering::label;

/// A part that hits are shown from.
#[derive(Debug)]
pub(crate) struct Searched<'p> {
    pub(crate) part: &'p SearchPart,
    /// The path of each search field.
    pub(crate) paths: Vec<Option<FieldPath>>,
    pub(crate) display_name: Option<String>,
    /// The address of a record, before its key and after it.
    url: (String, String),
    roles: Roles,
}

impl<'p> Searched<'p> {
    fn new(part: &'p SearchPart, is_owner: bool) -> Self {
        let read = part.read();
        let fields = read.declaration().fields().iter();
        let roles = fields.filter_map(|field| Some((field.name(), Role::parse(field.role()?))));
        let url_end = if is_owner {
            format!("?connector_id={}", percent_encode_segment(read.source().key().as_str()))
        } else {
            String::new()
        };
        Self {
            part,
            paths: part.fields().iter().map(|field| FieldPath::parse(&field.path).ok()).collect(),
            display_name: label(read, part.part()),
            url: (
                format!("/v1/streams/{}/records/", percent_encode_segment(read.stream().as_str())),
                url_end,
            ),
            roles: Roles::new(roles),
        }
    }

    /// Where a record of the part is read.
    pub(crate) fn record_url(&self, key: &str) -> String {
        let (before, after) = &self.url;
        format!("{before}{}{after}", percent_encode_segment(key))
    }

    /// When it happened: the declared event time, else the consent time. The row holds granted fields only.
    pub(crate) fn authored_at(&self, data: &Map<String, Value>) -> Option<String> {
        let consent = || data.get(self.part.read().declaration().consent_time_field()?)?.as_str();
        self.roles.event_time(data).or_else(consent).map(str::to_owned)
    }
}

/// The parts of a plan, each made ready when its first hit is shown.
#[derive(Debug)]
pub(crate) struct SearchedParts<'p> {
    plan: &'p SearchPlan,
    is_owner: bool,
    ready: Vec<(usize, Searched<'p>)>,
}

impl<'p> SearchedParts<'p> {
    pub(crate) fn new(plan: &'p SearchPlan, is_owner: bool) -> Self {
        Self { plan, is_owner, ready: Vec::new() }
    }

    /// A part by its place in the plan.
    pub(crate) fn get(&mut self, index: usize) -> Option<&Searched<'p>> {
        let known = self.ready.iter().position(|(known, _)| *known == index);
        let at = if let Some(at) = known {
            at
        } else {
            let part = self.plan.parts().get(index)?;
            self.ready.push((index, Searched::new(part, self.is_owner)));
            self.ready.len() - 1
        };
        self.ready.get(at).map(|(_, searched)| searched)
    }
}
