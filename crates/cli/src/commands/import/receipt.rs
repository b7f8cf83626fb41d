//! What an import did, for people and as JSON.

use std::collections::BTreeMap;

use pdpp_import::Complaint;
use pdpp_store::Applied;
use pdpp_wire::{ConnectionId, StreamName};
use serde_json::{Value, json};

use crate::terminal;

/// Complaints shown to a person; the JSON receipt lists up to [`MOST_COMPLAINTS`].
const SHOWN_COMPLAINTS: usize = 10;
/// Complaints kept, so that a hopeless file cannot fill the memory.
const MOST_COMPLAINTS: usize = 1_000;

/// What an import into one connection did.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    format: &'static str,
    connection_id: Option<ConnectionId>,
    blobs: u64,
    streams: BTreeMap<StreamName, Counts>,
    complaints: Vec<Complaint>,
    left_out: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    added: u64,
    updated: u64,
    unchanged: u64,
    rejected: u64,
}

impl Receipt {
    /// Nothing done yet.
    pub(crate) fn new(format: &'static str) -> Self {
        Self { format, ..Self::default() }
    }

    /// Notes an attachment that was kept.
    pub(crate) fn count_blob(&mut self) {
        self.blobs += 1;
    }

    /// Notes where records went.
    pub(crate) fn connected(&mut self, connection_id: &ConnectionId) {
        self.connection_id = Some(connection_id.clone());
    }

    /// Notes what became of one record.
    pub(crate) fn note(&mut self, stream: &StreamName, applied: Applied) {
        let counts = self.streams.entry(stream.clone()).or_default();
        *match applied {
            Applied::Added => &mut counts.added,
            Applied::Updated | Applied::Deleted => &mut counts.updated,
            Applied::Unchanged => &mut counts.unchanged,
            Applied::Rejected(_) | Applied::OverQuota(_) => &mut counts.rejected,
        } += 1;
    }

    /// Notes what had to be left out.
    pub(crate) fn complain(&mut self, complaint: Complaint) {
        self.left_out += 1;
        if self.complaints.len() < MOST_COMPLAINTS {
            self.complaints.push(complaint);
        }
    }

    /// How many records were looked at.
    pub(crate) fn records(&self) -> u64 {
        self.streams.values().map(|counts| counts.added + counts.updated + counts.unchanged).sum()
    }

    /// Whether nothing at all could be loaded.
    pub(crate) fn is_empty(&self) -> bool {
        self.records() == 0
    }

    pub(crate) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json { terminal::json(&self.to_json()) } else { self.print_lines() }
    }

    /// Prints what several did: an archive may feed several connections.
    pub(crate) fn print_all(receipts: &[Self], as_json: bool) -> anyhow::Result<()> {
        match receipts {
            [one] => one.print(as_json),
            several if as_json => {
                let each: Vec<Value> = several.iter().map(Self::to_json).collect();
                terminal::json(&json!({"connections": each}))
            }
            several => several.iter().try_for_each(Self::print_lines),
        }
    }

    fn to_json(&self) -> Value {
        let streams: Vec<Value> = self
            .streams
            .iter()
            .map(|(name, counts)| {
                json!({"name": name, "added": counts.added, "updated": counts.updated,
                       "unchanged": counts.unchanged, "rejected": counts.rejected})
            })
            .collect();
        let complaints: Vec<Value> = self
            .complaints
            .iter()
            .map(|complaint| json!({"where": complaint.where_, "code": complaint.code, "message": complaint.message}))
            .collect();
        json!({"connection_id": self.connection_id, "format": self.format, "streams": streams, "blobs": self.blobs,
               "complaints": complaints, "complaint_count": self.left_out})
    }

    fn print_lines(&self) -> anyhow::Result<()> {
        let number = |count: u64| count.to_string();
        let rows: Vec<[String; 5]> = self
            .streams
            .iter()
            .map(|(name, counts)| {
                let Counts { added, updated, unchanged, rejected } = *counts;
                [name.to_string(), number(added), number(updated), number(unchanged), number(rejected)]
            })
            .collect();
        match &self.connection_id {
            Some(connection_id) if !self.is_empty() => {
                let blobs = match self.blobs {
                    0 => String::new(),
                    1 => ", 1 attachment".to_owned(),
                    more => format!(", {more} attachments"),
                };
                terminal::line(&format!("{} into connection {connection_id}{blobs}", self.format))?;
                terminal::table(["STREAM", "ADDED", "UPDATED", "UNCHANGED", "REJECTED"], &rows)?;
            }
            _ => terminal::line(&format!("{}: nothing could be loaded", self.format))?,
        }
        if !self.complaints.is_empty() {
            terminal::line("What could not be used, or only in part:")?;
        }
        for complaint in self.complaints.iter().take(SHOWN_COMPLAINTS) {
            terminal::line(&format!("  {}: {}", complaint.where_, complaint.message))?;
        }
        let more = self.left_out.saturating_sub(SHOWN_COMPLAINTS as u64);
        if more > 0 {
            terminal::line(&format!("  and {more} more; --json lists them"))?;
        }
        Ok(())
    }
}
