//! What this backend does beyond the promises every backend keeps: files, processes, query plans.

mod opening;
mod purging;
mod query_plans;
mod replacing;
mod sharing;
mod support;
