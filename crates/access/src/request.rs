//! What was asked, before anybody decided what it means.

/// The stream and connection a request addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The stream in the path.
    pub stream: String,
    /// `connection_id`, or its deprecated alias.
    pub connection_id: Option<String>,
    /// `connector_id`: meaningful for owners only.
    pub connector_id: Option<String>,
}

/// Which streams to list or describe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsRequest {
    /// Only this connection.
    pub connection_id: Option<String>,
    /// Only this connector (owners).
    pub connector_id: Option<String>,
}

/// A page of records, or of changes when `changes_since` or a changes cursor is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordsRequest {
    /// Stream and connection.
    pub target: Target,
    /// Page size, already defaulted and clamped.
    pub limit: u32,
    /// A page cursor.
    pub cursor: Option<String>,
    /// `asc` or `desc`.
    pub order: Option<String>,
    /// `field` or `-field`.
    pub sort: Option<String>,
    /// Top-level names.
    pub fields: Option<Vec<String>>,
    /// A declared view.
    pub view: Option<String>,
    /// Filters.
    pub filter: Vec<FilterTerm>,
    /// Relations to expand.
    pub expand: Vec<String>,
    /// `expand_limit[relation]` as sent.
    pub expand_limit: Vec<(String, String)>,
    /// `beginning` or a token.
    pub changes_since: Option<String>,
    /// Whether a total was asked for.
    pub count: bool,
    /// Whether total and time bounds were asked for.
    pub window: bool,
}

/// One `filter[field]` or `filter[field][operator]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterTerm {
    /// The field.
    pub field: String,
    /// The range operator; exact without one.
    pub operator: Option<String>,
    /// The operand as sent.
    pub operand: String,
}

/// One record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordRequest {
    /// Stream and connection.
    pub target: Target,
    /// The record key.
    pub key: String,
    /// Top-level names.
    pub fields: Option<Vec<String>>,
    /// Relations to expand.
    pub expand: Vec<String>,
    /// `expand_limit[relation]` as sent.
    pub expand_limit: Vec<(String, String)>,
}

/// One field of one record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowRequest {
    /// Stream and connection.
    pub target: Target,
    /// The record key.
    pub key: String,
    /// A top-level name, or a dotted path below one.
    pub field: String,
}

/// A number about many records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateRequest {
    /// Stream and connection.
    pub target: Target,
    /// `count`, `sum`, `min`, `max` or `count_distinct`.
    pub metric: Option<String>,
    /// The field it is about.
    pub field: Option<String>,
    /// Group by this field's values.
    pub group_by: Option<String>,
    /// Group by this field's time.
    pub group_by_time: Option<String>,
    /// Bucket size.
    pub granularity: Option<String>,
    /// IANA zone of the buckets.
    pub time_zone: Option<String>,
    /// Most groups, as sent.
    pub limit: Option<String>,
    /// Filters.
    pub filter: Vec<FilterTerm>,
}

/// The bytes behind a `blob_ref`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobRequest {
    /// The blob.
    pub blob_id: String,
    /// Only under this connection.
    pub connection_id: Option<String>,
    /// Only under this connector (owners).
    pub connector_id: Option<String>,
}

/// Words looked for in every granted search field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words as typed; never empty.
    pub q: String,
    /// Only these streams; all when empty.
    pub streams: Vec<String>,
    /// Only this connection.
    pub connection_id: Option<String>,
    /// Filters, for one stream.
    pub filter: Vec<FilterTerm>,
    /// Not before this time.
    pub since: Option<String>,
    /// Before this time.
    pub until: Option<String>,
    /// `relevance` or `newest`.
    pub order: Option<String>,
    /// Page size, already defaulted and clamped.
    pub limit: u32,
    /// A page cursor.
    pub cursor: Option<String>,
}
