//! What a format is, and which formats a tree holds.
//!
//! A format claims the entries it can read by looking at them; the first to claim an entry reads it. One export may
//! feed several formats (mail, calendar and contacts lie in one archive), and several accounts of one.

use std::collections::HashSet;
use std::io::{self, Read as _};

use pdpp_wire::manifest::Manifest;

use crate::{Entry, Sink, Stop, Tree};

/// Reads one kind of export.
pub trait Format: Sync {
    /// The name people say: `pdpp import --format NAME`.
    fn name(&self) -> &'static str;

    /// Whether it reads anything of its shape, such as any table. It is not asked about what lies beside something that
    /// another format knows: the settings file in a mail export is no table the owner wants.
    fn is_general(&self) -> bool {
        false
    }

    /// What the tree holds of this format. Looks at paths first, and into the few entries that could be it.
    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim>;

    /// The streams a claim will fill.
    fn manifest(&self, tree: &mut dyn Tree, claim: &Claim) -> io::Result<Manifest>;

    /// Reads a claim. Something that cannot be used is a complaint, and reading goes on.
    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop>;
}

/// Entries that one format reads into one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The entries, by number, in the order they should be read.
    pub entries: Vec<usize>,
    /// What tells this account from another of the same service: a workspace, a handle, an address. It becomes the
    /// connection's label; `None` means the service's only connection.
    pub account: Option<String>,
    /// What was found, for the owner: `3 mailboxes`.
    pub found: String,
}

/// A tree while formats look at it: entries not yet claimed, and how each begins.
pub struct Look<'t> {
    tree: &'t mut dyn Tree,
    taken: Vec<bool>,
    /// Beside something that was claimed, and of no interest to a general format.
    beside: Vec<bool>,
}

impl std::fmt::Debug for Look<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Look").field("taken", &self.taken.len()).finish_non_exhaustive()
    }
}

impl<'t> Look<'t> {
    /// Looks at a whole tree.
    pub fn new(tree: &'t mut dyn Tree) -> Self {
        let taken = vec![false; tree.entries().len()];
        let beside = vec![false; taken.len()];
        Self { tree, taken, beside }
    }

    /// The entries nobody has claimed, with their numbers.
    pub fn unclaimed(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.tree
            .entries()
            .iter()
            .enumerate()
            .filter(|(index, _)| !self.taken[*index] && !self.beside[*index])
    }

    /// The numbers of unclaimed entries whose path passes a test.
    pub fn find(&self, test: impl Fn(&str) -> bool) -> Vec<usize> {
        self.unclaimed().filter(|(_, entry)| test(&entry.path)).map(|(index, _)| index).collect()
    }

    /// One entry's path.
    pub fn path(&self, index: usize) -> &str {
        &self.tree.entries()[index].path
    }

    /// The first bytes of an entry, at most `most`; empty when it cannot be read.
    pub fn head(&mut self, index: usize, most: u64) -> Vec<u8> {
        let mut head = Vec::new();
        let read = self.tree.open(index).and_then(|bytes| bytes.take(most).read_to_end(&mut head));
        if read.is_err() {
            head.clear();
        }
        head
    }

    /// A whole small entry; `None` when it cannot be read or holds more than `most` bytes.
    pub fn whole(&mut self, index: usize, most: u64) -> Option<Vec<u8>> {
        crate::tree::read_whole(self.tree, index, most).ok()
    }

    /// Leaves out whatever lies in the same folder or archive, at the top, as something that was claimed.
    fn hide_beside_claimed(&mut self) {
        let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        let entries = self.tree.entries();
        let claimed: HashSet<String> = entries
            .iter()
            .zip(&self.taken)
            .filter(|(_, taken)| **taken)
            .map(|(entry, _)| top(&entry.path))
            .collect();
        for (entry, beside) in entries.iter().zip(&mut self.beside) {
            *beside = claimed.contains(&top(&entry.path));
        }
    }

    fn take(&mut self, claim: &Claim) {
        for index in &claim.entries {
            self.taken[*index] = true;
        }
    }
}

/// What a tree holds.
#[derive(Debug)]
pub struct Detected {
    /// Claims with the place of their format in the list that was asked.
    pub claims: Vec<(usize, Claim)>,
    /// Entries nobody could read.
    pub unknown: Vec<usize>,
}

/// Asks each format in turn what it can read.
pub fn detect(tree: &mut dyn Tree, formats: &[&dyn Format]) -> Detected {
    let mut look = Look::new(tree);
    let mut claims = Vec::new();
    let mut particular = true;
    for (place, format) in formats.iter().enumerate() {
        if std::mem::replace(&mut particular, !format.is_general()) && format.is_general() {
            look.hide_beside_claimed();
        }
        for claim in format.claim(&mut look) {
            look.take(&claim);
            claims.push((place, claim));
        }
    }
    look.beside.fill(false);
    let unknown = look.unclaimed().map(|(index, _)| index).collect();
    Detected { claims, unknown }
}
