//! Whether every promise held, and what is printed of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::agents::{Attempt, Given, Load, WORD, lock};
use super::faults::Fault;
use super::world::{Shows, World};
use crate::http;

/// Whatever was taken away, this long after it came back everything is served again.
const RECOVERED_WITHIN: Duration = Duration::from_secs(15);

/// What an answer holds that its grant does not show.
pub(super) fn leak(shows: Shows, given: &Given) -> Option<String> {
    if given.status != 200 {
        return None;
    }
    let body = given.body.to_string();
    let (words, is_late): (&[&str], _) = match shows {
        Shows::Words => (&["\"author\"", "\"channel_id\"", "\"private_note\"", "tax return"], false),
        Shows::Channels => (&["\"messages\"", "\"text\"", "tax return"], false),
        Shows::Before(until) => (&[WORD_AS_FOUND], is_any_after(&given.body, until)),
    };
    let word = words.iter().find(|word| body.contains(**word));
    match word {
        Some(word) => Some(format!("it holds {word}")),
        None => is_late.then(|| "it holds a later record".to_owned()),
    }
}

/// As a record says it; the question itself may be repeated in an answer.
const WORD_AS_FOUND: &str = "tempest over the quay";

fn is_any_after(body: &Value, until: &str) -> bool {
    let records = body["data"].as_array().into_iter().flatten();
    records.filter_map(|record| record["data"]["sent_at"].as_str()).any(|sent_at| sent_at >= until)
}

pub(super) struct Judged {
    broken: Vec<String>,
    acknowledged: usize,
    reads: usize,
    unanswered: usize,
    attempts: Vec<Attempt>,
    reasons: BTreeMap<String, usize>,
}

impl Judged {
    pub(super) fn of(world: &World, load: &Load) -> Result<Self> {
        let mut broken = lock(&load.broken).clone();
        let acknowledged = lock(&load.acknowledged).clone();
        for node in 0..super::NODES {
            let stored = stored(load.url(node), &world.owner_token)?;
            let missing = acknowledged.iter().filter(|key| !stored.contains_key(*key)).count();
            let twice = stored.values().filter(|count| **count > 1).count();
            if missing + twice > 0 {
                broken.push(format!(
                    "node {}: {missing} acknowledged writes are lost, {twice} are there twice",
                    node + 1
                ));
            }
        }
        let answered = lock(&load.answered).clone();
        let entered = entered(world)?;
        let unentered = answered.iter().filter(|id| !entered.contains(*id)).count();
        if unentered > 0 {
            broken.push(format!("{unentered} answered reads are not in the ledger"));
        }
        let unanswered = load.unanswered.load(Ordering::Relaxed);
        let attempts = lock(&load.attempts).clone();
        if acknowledged.is_empty() || answered.is_empty() {
            broken.push("nothing was written, or nothing read".to_owned());
        }
        let reasons = lock(&load.reasons).clone();
        let (acknowledged, reads) = (acknowledged.len(), answered.len());
        Ok(Self { broken, acknowledged, reads, unanswered, attempts, reasons })
    }

    pub(super) fn is_well(&self) -> bool {
        self.broken.is_empty()
    }

    pub(super) fn table(&mut self, agents: usize, elapsed: Duration, felt: &[Fault]) -> String {
        let failed = self.attempts.iter().filter(|attempt| !attempt.is_answered).count();
        let mut table = format!(
            "{agents} agents, {} nodes, {:.0} s: {} reads answered and in the ledger, {} records acknowledged and there\n\
             {} tries at nodes, {failed} without an answer ({:.2} %); {} requests that no node answered\n\n",
            super::NODES,
            elapsed.as_secs_f64(),
            self.reads,
            self.acknowledged,
            self.attempts.len(),
            percent(failed, self.attempts.len()),
            self.unanswered,
        );
        for fault in felt {
            let within: Vec<_> = self
                .attempts
                .iter()
                .filter(|attempt| (fault.from..fault.until).contains(&attempt.at))
                .collect();
            let failed: Vec<_> = within.iter().filter(|attempt| !attempt.is_answered).collect();
            let last = failed.iter().map(|attempt| attempt.at + attempt.took).max();
            let after = last.map_or(Duration::ZERO, |last| last.saturating_duration_since(fault.repaired));
            let _ = writeln!(
                table,
                "{}: {} of {} tries failed ({:.1} %), the last {:.1} s after the repair",
                fault.name,
                failed.len(),
                within.len(),
                percent(failed.len(), within.len()),
                after.as_secs_f64(),
            );
            if after > RECOVERED_WITHIN {
                self.broken.push(format!("{}: not served again within {RECOVERED_WITHIN:?}", fault.name));
            }
        }
        let reasons: Vec<_> =
            self.reasons.iter().map(|(reason, count)| format!("{reason}: {count}")).collect();
        let _ = writeln!(table, "why tries failed: {}", reasons.join(", "));
        for promise in self.broken.iter().take(20) {
            let _ = writeln!(table, "BROKEN: {promise}");
        }
        table
    }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage of thousands")]
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// How often each record that was written is listed by a node.
fn stored(url: &str, token: &str) -> Result<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    let mut path = format!("/v1/streams/messages/records?limit=100&fields=id&filter[channel_id]={WORD}");
    loop {
        let page = http::get(&format!("{url}{path}"), Some(token))?;
        if page.status != 200 {
            bail!("{path} answered {}: {}", page.status, page.body);
        }
        for record in page.body["data"].as_array().context("a page has records")? {
            *found.entry(record["id"].as_str().unwrap_or_default().to_owned()).or_insert(0) += 1;
        }
        match page.body["links"]["next"].as_str() {
            Some(next) => next.clone_into(&mut path),
            None => return Ok(found),
        }
    }
}

/// The reads the ledger knows.
fn entered(world: &World) -> Result<BTreeSet<String>> {
    let ledger = world.run(&["audit", "--json", "--limit", "1000000"])?;
    let id = |line: &str| -> Option<String> {
        let entry: Value = serde_json::from_str(line).ok()?;
        Some(entry["request_id"].as_str()?.to_owned())
    };
    Ok(ledger.lines().filter_map(id).collect())
}
