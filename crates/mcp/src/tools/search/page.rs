//! One page of hits as a reader gets it, before it is written as text and as data.

use serde_json::Value;

use super::envelope::Envelope;
use super::hit::Hit;
use super::notes::{is_behind, notes};

/// A page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// The hits that are shown.
    pub(super) hits: Vec<Hit>,
    /// How many hits the server sent.
    pub(super) returned: usize,
    /// How many the caller wanted.
    pub(super) requested: usize,
    pub(super) has_more: bool,
    pub(super) next_cursor: Option<String>,
    /// Whether the index has not seen everything yet.
    pub(super) is_behind: bool,
    /// What the answer needs said, one sentence each.
    pub(super) notes: Vec<String>,
}

/// What was wanted, and what was asked of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'w> {
    pub(super) query: &'w str,
    pub(super) requested: usize,
    pub(super) asked: usize,
    /// How many hits a larger page is known to hold.
    pub(super) known: usize,
    pub(super) provider_url: &'w str,
}

impl Page {
    /// Reads a server's answer.
    pub(super) fn read(body: &Value, wanted: Wanted<'_>) -> Self {
        let envelope = Envelope::new(body);
        let given = envelope.hits();
        let mut notes = notes(envelope.meta());
        if given.len() > wanted.asked {
            notes.push(format!(
                "The server ignored limit={}: structuredContent.data holds all {} hits of its page, {} are listed \
                 here, and next_cursor continues after all of them.",
                wanted.asked,
                given.len(),
                wanted.asked
            ));
        }
        if given.len() < wanted.known && envelope.next_cursor().is_none() {
            notes.push(format!(
                "{} more hit(s) did not fit and this server gives no cursor; narrow the search to see them.",
                wanted.known - given.len()
            ));
        }
        let numbered = given.iter().take(wanted.asked).enumerate();
        Self {
            hits: numbered.map(|(index, hit)| Hit::read(hit, index + 1, wanted)).collect(),
            returned: given.len(),
            requested: wanted.requested,
            has_more: envelope.has_more(),
            next_cursor: envelope.next_cursor().map(str::to_owned),
            is_behind: is_behind(envelope.meta()),
            notes,
        }
    }

    /// The first hit that `fetch` can open.
    pub(super) fn first_handle(&self) -> Option<&str> {
        self.hits.iter().find_map(Hit::handle)
    }
}
