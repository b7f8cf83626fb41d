//! How fresh a stream is, from what the reader can see of it.

use pdpp_store::Summary;
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{Freshness, FreshnessStatus, Instant};

/// The latest emission among several parts.
pub(crate) fn last_updated(summaries: &[Summary]) -> Option<Instant> {
    summaries.iter().filter_map(|summary| summary.last_updated).max()
}

/// Current or stale if the source says how old a collection may be, else unknown.
pub(crate) fn freshness(manifest: &Manifest, captured_at: Option<Instant>, now: Instant) -> Freshness {
    let status = match (manifest.maximum_staleness_seconds(), captured_at) {
        (Some(seconds), Some(captured)) if captured.plus_seconds(seconds) >= now => FreshnessStatus::Current,
        (Some(_), Some(_)) => FreshnessStatus::Stale,
        _ => FreshnessStatus::Unknown,
    };
    Freshness { status, captured_at: captured_at.map(Instant::to_rfc3339), last_attempted_at: None }
}
