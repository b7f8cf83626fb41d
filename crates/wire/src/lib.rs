//! The protocol in types: what PDPP puts on the wire, said exactly as the specification says it.
//!
//! Every surface (REST, command line, MCP) speaks through these types and the one table of error
//! codes, so a word cannot mean two things. Decisions and defaults live elsewhere: this crate only
//! knows what is well formed.

mod aggregate;
mod blob;
mod codes;
mod discovery;
mod envelope;
mod error;
mod event;
mod grant;
mod headers;
mod ids;
mod ingest;
mod instant;
mod literal;
pub mod manifest;
mod oauth_code;
mod record;
mod result_id;
mod schema;
mod search;
mod selection;
mod state;
mod stream;
mod strict_json;
mod window;

pub use codes::{Code, ErrorType};
pub use error::{AvailableConnection, ErrorBody, ErrorEnvelope};
pub use grant::{
    AccessMode, Grant, GrantClient, GrantFault, GrantSource, GrantStream, GrantSubject, OnExpiry, Retention,
    SourceDeclarationRef, SourceKind, TimeConstraint,
};
pub use headers::{PDPP_VERSION, PDPP_VERSION_HEADER, REQUEST_ID_HEADER, X_REQUEST_ID_HEADER};
pub use ids::{
    ApprovalId, BlobId, ClientId, ConnectionId, ConnectorKey, EventId, FamilyId, GrantId, IdFault, RecordKey,
    SessionId, StreamName, SubjectId, SubscriptionId, TokenId,
};
pub use instant::{Instant, parse_instant};
pub use oauth_code::OAuthCode;
pub use selection::{SelectionRequest, StreamSelection, TimeRange};

pub use aggregate::{Aggregation, Granularity, Group, Metric};
pub use blob::{BlobReceipt, BlobRef};
pub use discovery::{
    AggregateHint, DiscoveryHints, DiscoveryIndex, DiscoveryLinks, Health, HealthPart, HealthStatus,
    ProtectedResource, SearchHint, TokenKind,
};
pub use envelope::{CorpusWindow, Count, Links, List, Meta, PageLinks, Warning, WarningCode};
pub use event::{
    CloudEvent, CreatedEventSubscription, DeliveryOutcome, DisabledReason, EventDelivery, EventDeliveryList,
    EventFilters, EventScope, EventScopeStream, EventSource, EventSubscription, EventSubscriptionList,
    EventSubscriptionUpdate, EventType, NewEventFilters, NewEventSubscription, QueuedEvent,
    SubscriptionStatus, UpdatedEventSubscription,
};
pub use ingest::{IngestKey, IngestLine, IngestOp, IngestReceipt, Rejection};
pub use literal::{
    AggregationObject, BlobObject, CompactDetail, ConnectorObject, DiscoveryIndexObject, EvidenceObject,
    FieldWindowObject, FieldWindowReadObject, GetMethod, ListObject, RecordObject, ResourceServerRole,
    SchemaObject, SearchResultObject, StreamMetadataObject, StreamObject, StreamStateObject,
};
pub use record::{Data, Expanded, ExpandedList, Record, RecordBody, RecordEntry, Tombstone};
pub use result_id::RecordRef;
pub use schema::{
    Bearer, BearerScope, CompactConnector, CompactExpand, CompactSchema, CompactStream, ConnectorItem,
    ConnectorList, ConnectorStream, ConnectorStreamCapabilities, GrantedConnection, RegisteredConnector,
    SchemaBody, SchemaConnector, SchemaStream,
};
pub use search::{
    CharRange, CorrectedInput, CountAccuracy, EvidenceExcerpt, EvidenceKind, FieldWindowReadCall,
    IgnoredInput, IndexReport, IndexState, RankingScope, Recall, Score, ScoreKind, ScoreOrder, SearchHit,
    SearchList, SearchMeta, SourceCount,
};
pub use state::{StateUpdate, StreamState};
pub use stream::{
    AggregationCapabilities, Capability, CapabilityReason, ExpandCapability, ExpandReason, FieldCapability,
    Freshness, FreshnessStatus, SelectionSupport, StreamDocument, StreamItem, StreamMetadata,
};
pub use strict_json::{JsonFault, parse_strict};
pub use window::{FieldWindow, FieldWindowBody, WindowField, WindowFieldType};
