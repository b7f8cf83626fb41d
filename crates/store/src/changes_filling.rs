//! A page of changes as it fills, whichever backend finds them.

use pdpp_access::{ChangesPosition, ChangesSince, Epoch};
use pdpp_wire::ConnectionId;

use crate::{ChangeEntry, ChangesPage, PageBudget};

/// Entries in their order, each with where it stands, up to a number of them.
#[derive(Debug)]
pub struct ChangesFilling {
    found: Vec<(ConnectionId, u64, ChangeEntry)>,
    limit: usize,
    /// What is left for the records of entries.
    pub budget: PageBudget,
    /// Whether an entry was met that the page has no room for.
    pub has_more: bool,
}

impl ChangesFilling {
    /// An empty page of at most so many entries.
    pub fn new(limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { found: Vec::new(), limit, budget: PageBudget::default(), has_more: false }
    }

    /// How many more entries it takes.
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.found.len())
    }

    /// Takes the next entry.
    pub fn push(&mut self, connection_id: &ConnectionId, sequence: u64, entry: ChangeEntry) {
        self.found.push((connection_id.clone(), sequence, entry));
    }

    /// How many entries there are, the one without room counted too.
    pub fn met(&self) -> u32 {
        u32::try_from(self.found.len()).unwrap_or(u32::MAX).saturating_add(u32::from(self.has_more))
    }

    /// The page of a session that started from a position and ends at a horizon.
    pub fn page(self, from: &ChangesPosition, horizon: ChangesSince) -> ChangesPage {
        let last = self.found.last().filter(|_| self.has_more);
        let next = last.map(|(connection_id, sequence, _)| ChangesPosition {
            since: from.since.clone(),
            horizon: Some(horizon.clone()),
            after: Some((connection_id.clone(), Epoch(*sequence))),
        });
        let entries = self.found.into_iter().map(|(.., entry)| entry).collect();
        ChangesPage { entries, next, horizon }
    }
}
