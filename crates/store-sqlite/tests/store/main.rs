//! What this backend does beyond the promises every backend keeps: files, processes, query plans.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blobs;
mod groups;
mod large;
mod moving;
mod often;
mod opening;
mod orphans;
mod purging;
mod query_plans;
mod replacing;
mod sharing;
mod snapshots;
mod support;
mod tokens;
