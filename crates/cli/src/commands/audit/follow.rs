//! The ledger as it grows, whichever process writes it.

use std::collections::HashSet;
use std::time::Duration;

use pdpp_server::Personal;
use pdpp_store::{Disclosure, DisclosureFilter};

use super::output::Printer;
use crate::commands::serve::stop_signal;

/// How often the ledger is looked at.
const EVERY: Duration = Duration::from_millis(300);
/// Most entries that are taken up at once.
const MOST: u32 = 100_000;

/// Prints what is there, oldest first, and then what comes.
pub(super) async fn run(
    personal: &Personal,
    filter: DisclosureFilter,
    entries: Vec<Disclosure>,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let mut filter = DisclosureFilter { limit: MOST, ..filter };
    filter.since =
        filter.since.max(entries.last().map(|entry| entry.at)).or_else(|| Some(personal.clock().now()));
    // Those of the very moment that is asked from come again; each is printed once.
    let mut known: HashSet<String> = entries.iter().map(identity).collect();
    printer.print_on(&entries)?;
    let mut stop = std::pin::pin!(stop_signal());
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = &mut stop => return Ok(()),
        }
        let mut new = personal.store().list_disclosures(personal.subject(), &filter).await?;
        new.retain(|entry| !known.contains(&identity(entry)));
        new.reverse();
        printer.print_on(&new)?;
        if let Some(last) = new.last() {
            filter.since = Some(last.at);
            known = new.iter().chain(&entries).map(identity).collect();
        }
    }
}

fn identity(entry: &Disclosure) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}
