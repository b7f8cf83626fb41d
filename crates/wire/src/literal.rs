//! Members that always hold the same word, such as `"object": "list"`.
//!
//! Each is a type of its own, so that a body cannot be built with another body's word and the
//! published schema says `const`.

macro_rules! literals {
    ($( $(#[$doc:meta])* $name:ident = $word:literal; )+) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            /// The only value.
            #[default]
            #[serde(rename = $word)]
            Value,
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "const": $word })
            }
        }
    )+ };
}

literals! {
    /// `"search_result"`.
    SearchResultObject = "search_result";
    /// `"evidence_excerpt"`.
    EvidenceObject = "evidence_excerpt";
    /// `"field_window_read"`.
    FieldWindowReadObject = "field_window_read";
    /// `"GET"`.
    GetMethod = "GET";
    /// `"list"`.
    ListObject = "list";
    /// `"record"`.
    RecordObject = "record";
    /// `"stream"`.
    StreamObject = "stream";
    /// `"stream_metadata"`.
    StreamMetadataObject = "stream_metadata";
    /// `"schema"`.
    SchemaObject = "schema";
    /// `"compact"`.
    CompactDetail = "compact";
    /// `"connector"`.
    ConnectorObject = "connector";
    /// `"field_window"`.
    FieldWindowObject = "field_window";
    /// `"aggregation"`.
    AggregationObject = "aggregation";
    /// `"blob"`.
    BlobObject = "blob";
    /// `"stream_state"`.
    StreamStateObject = "stream_state";
    /// `"pdpp_discovery_index"`.
    DiscoveryIndexObject = "pdpp_discovery_index";
    /// `"resource_server"`.
    ResourceServerRole = "resource_server";
}
