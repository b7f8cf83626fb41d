//! What makes a thing of a calendar this thing and no other.

use jiff::Timestamp;

use super::when::Clock;
use crate::content_lines::Component;
use crate::{hash_key, mint_key};

/// Who a component is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The record key of the event, task or note.
    pub(super) key: String,
    /// For one changed date of a series: when it would have been.
    pub(super) recurrence: Option<Timestamp>,
}

impl Identity {
    /// `None` for components that are neither event, task nor note.
    pub(super) fn of(component: &Component, clock: &mut Clock<'_>, calendar: &str) -> Option<Self> {
        if !matches!(component.name.as_str(), "VEVENT" | "VTODO" | "VJOURNAL") {
            return None;
        }
        let said =
            |name: &str| component.find(name).map(|property| property.value.trim()).unwrap_or_default();
        let uid = said("UID");
        let key = if uid.is_empty() {
            // The summary may be edited, but nothing else tells two things of one hour apart.
            hash_key(&[
                &component.name,
                calendar,
                said("DTSTART"),
                said("DUE"),
                said("CREATED"),
                said("SUMMARY"),
            ])
        } else {
            mint_key(uid)
        };
        let recurrence = component.find("RECURRENCE-ID").and_then(|property| clock.read(property));
        Some(Self { key, recurrence: recurrence.and_then(|when| when.timestamp()) })
    }

    /// The key of one date of an event. The place in the series stays when the date is moved.
    pub(super) fn instance_key(event: &str, original: Timestamp) -> String {
        mint_key(&format!("{event}~{}", original.strftime("%Y%m%dT%H%M%SZ")))
    }
}
