//! What the named files and folders hold, and what becomes of it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use indicatif::ProgressBar;
use pdpp_import::{
    Bounds, Claim, Complaint, Detected, Format, Nested, Scratch, ScratchFile, Tree, detect, formats,
};
use pdpp_server::Personal;

use super::counted::Counted;
use super::disk_tree::DiskTree;
use super::load::load_claim;
use super::{Destination, Receipt};
use crate::exit::Usage;
use crate::terminal;

/// Files nobody can read that are named; the rest is counted.
const NAMED_UNKNOWN: usize = 5;

/// Scratch room in files without a name: they are gone with the process, however it ends.
struct NamelessFiles;

impl Scratch for NamelessFiles {
    fn make(&self) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(tempfile::tempfile()?))
    }
}

/// What was found.
pub(crate) struct Found {
    tree: Nested,
    claims: Vec<(&'static dyn Format, Claim)>,
    unknown: Vec<usize>,
}

impl Found {
    /// Lists the paths, opens their archives, and asks every format, or only the named one.
    pub(super) fn look(paths: &[PathBuf], only: Option<&str>) -> anyhow::Result<Self> {
        let disk = DiskTree::list(paths, &Bounds::default())?;
        Self::in_tree(Box::new(disk), only)
    }

    /// The same for named bytes that lie anywhere.
    pub(crate) fn in_tree(tree: Box<dyn Tree>, only: Option<&str>) -> anyhow::Result<Self> {
        let asked = asked(only)?;
        let scratch: Arc<dyn Scratch> = Arc::new(NamelessFiles);
        let mut tree = Nested::open(tree, &scratch, Bounds::default())?;
        let Detected { claims, unknown } = detect(&mut tree, &asked);
        let claims = claims.into_iter().map(|(place, claim)| (asked[place], claim)).collect();
        Ok(Self { tree, claims, unknown })
    }

    /// Says what was found, before anything is loaded.
    pub(super) fn tell(&self) {
        for (format, claim) in &self.claims {
            // Some say the account in what they found; once is enough.
            let account = claim.account.as_deref().filter(|account| !claim.found.contains(account));
            let account = account.map(|account| format!(" of {account}")).unwrap_or_default();
            terminal::note(&format!("found {}{account}: {}", format.name(), claim.found));
        }
        let entries = self.tree.entries();
        let named: Vec<&str> =
            self.unknown.iter().take(NAMED_UNKNOWN).map(|index| entries[*index].path.as_str()).collect();
        if !named.is_empty() {
            let more = self.unknown.len() - named.len();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            terminal::note(&format!("left aside, of no known kind: {}{more}", named.join(", ")));
        }
    }

    /// Why nothing can be loaded, when nothing was found.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if !self.claims.is_empty() {
            return Ok(());
        }
        if self.tree.entries().is_empty() {
            let first = self.tree.left_out().first();
            let why = first.map(|complaint| format!(": {}: {}", complaint.where_, complaint.message));
            return Err(Usage(format!("there is no file to load here{}", why.unwrap_or_default())));
        }
        let names: Vec<&str> = formats().iter().map(|format| format.name()).collect();
        let message = format!(
            "nothing here is an export this program knows. It reads {}; record lines need --manifest FILE",
            names.join(", ")
        );
        Err(Usage(message))
    }

    /// Bytes that will be read.
    pub(super) fn bytes(&self) -> u64 {
        let entries = self.tree.entries();
        self.claims.iter().flat_map(|(_, claim)| &claim.entries).map(|index| entries[*index].bytes).sum()
    }

    /// Loads everything, one claim after the other.
    pub(crate) async fn load(
        self,
        personal: &Personal,
        connection: Option<&str>,
        bar: &ProgressBar,
    ) -> anyhow::Result<Vec<Receipt>> {
        let mut receipts = Vec::new();
        let left_out: Vec<Complaint> = self.tree.left_out().to_vec();
        let mut tree = Counted { tree: self.tree, bar: bar.clone() };
        for (format, claim) in self.claims {
            let manifest = Arc::new(format.manifest(&mut tree.tree, &claim)?);
            // The program's own declarations grow with it; grants keep the one they were made under.
            let destination = Destination::register(personal, &manifest, connection, true).await?;
            let mut destination = destination.of_account(claim.account.clone());
            let mut receipt = Receipt::new(format.name());
            tree = load_claim(personal, &mut destination, (format, claim), tree, &mut receipt, bar).await?;
            receipts.push(receipt);
        }
        if let Some(first) = receipts.first_mut() {
            for complaint in left_out {
                first.complain(complaint);
            }
        }
        Ok(receipts)
    }
}

fn asked(only: Option<&str>) -> Result<Vec<&'static dyn Format>, Usage> {
    let Some(only) = only else {
        return Ok(formats().to_vec());
    };
    let chosen: Vec<_> = formats().iter().copied().filter(|format| format.name() == only).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = formats().iter().map(|format| format.name()).collect();
        return Err(Usage(format!("'{only}' is no format; there are {}", names.join(", "))));
    }
    Ok(chosen)
}
