//! What a backend keeps and answers.
//!
//! One trait per subject; [`Store`] is all of them. Reads take plans, which only `pdpp-access` can
//! make, so no backend can be asked for more than a grant allows. Everything carries its subject,
//! and nothing assumes that one process, or one file, owns the data.

mod admission;
mod authority;
mod blobs;
mod catalogues;
mod change_log;
mod changes_filling;
mod columns;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod events;
mod feed;
mod ingest;
mod largest_groups;
mod ledger;
mod line;
mod oauth;
mod owners;
mod page_budget;
mod projection;
mod quotas;
mod records;
mod renewal;
mod search_index;
mod sync_state;
mod time_buckets;
pub mod transfer;
mod visibility;

pub use admission::{Admission, AdmittedRecord, MAX_RECORD_BYTES, MAX_RECORD_DEPTH, Operation, Rejection};
pub use authority::{Authority, IssueOutcome, NewToken, StoredGrant, StoredToken, TokenKind};
pub use blobs::{BlobBinding, BlobBody, BlobReceipt, BlobSighting, BlobWriter, Blobs, StoredBlob};
pub use catalogues::{Catalogues, Ensured, ManifestOutcome, OnConflict, RemovedCounts};
pub use change_log::{Change, ChangeKind, ChangeLog};
pub use changes_filling::ChangesFilling;
pub use columns::{Column, columns, text_key};
pub use error::StoreError;
pub use events::{
    AllowedCallback, Changed, Claim, DueEvent, DueKind, Ending, EventFault, EventMatch, EventService,
    EventWish, Events, Finished, Holder, Lease, LiveSubscription, LiveSubscriptions, NewEvent,
    NewSubscription, Saying, StoredDelivery, StoredSubscription, SubscriptionChange, SubscriptionMade,
    Switch, TestQueued,
};
pub use feed::{FedRecord, Feed};
pub use ingest::{Applied, Ingest, MAX_BATCH, WriteTarget};
pub use largest_groups::LargestGroups;
pub use ledger::{DayCount, Disclosure, DisclosureFilter, Door, Ledger};
pub use line::RecordLine;
pub use oauth::{
    AgentAttached, Approval, Attempts, ClientPut, ClientSource, Decided, Family, Flow, NewFamily, NewRequest,
    OAuth, OwnerSession, Polled, PresentedRefresh, Redeemed, Redemption, RegisteredClient, RequestHandle,
    RequestState, Rotated, Rotation, Staged, StagedRequest,
};
pub use owners::{Owners, StoredPasskey};
pub use page_budget::{PAGE_BYTES, PageBudget};
pub use projection::project;
pub use quotas::{Growth, Measure, OverQuota, Quota, Quotas, Room, Usage, size_of};
pub use records::{
    Aggregate, ChangeEntry, ChangesOutcome, ChangesPage, Expanded, Group, RecordRow, Records, RecordsPage,
    Summary, VisibleChanges, WindowBounds,
};
pub use renewal::Renewed;
pub use search_index::{Correction, Hits, Passage, RankedHit, Ranking, Search, SearchIndex};
pub use sync_state::{StateScope, SyncState, SyncStates};
pub use time_buckets::TimeBuckets;
pub use transfer::Transfer;
pub use visibility::FieldHistory;

/// A whole backend.
pub trait Store:
    Authority
    + Blobs
    + Catalogues
    + ChangeLog
    + Events
    + Feed
    + Ingest
    + Ledger
    + OAuth
    + Owners
    + Quotas
    + Records
    + SyncStates
    + Transfer
    + Send
    + Sync
    + 'static
{
}

impl<T> Store for T where
    T: Authority
        + Blobs
        + Catalogues
        + ChangeLog
        + Events
        + Feed
        + Ingest
        + Ledger
        + OAuth
        + Owners
        + Quotas
        + Records
        + SyncStates
        + Transfer
        + Send
        + Sync
        + 'static
{
}
