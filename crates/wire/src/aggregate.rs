//! Aggregates over the records a request may read.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::literal::AggregationObject;
use crate::{Links, Meta, StreamName};

/// The answer of the aggregate route: `value` when ungrouped, else `groups`, `limit` and
/// `other_count`. The six dimension members are always present, null when unused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Aggregation {
    /// Always `aggregation`.
    pub object: AggregationObject,
    /// The stream.
    pub stream: StreamName,
    /// What was computed.
    pub metric: Metric,
    /// Over which field; null for `count`.
    pub field: Option<String>,
    /// Grouped by the values of this field.
    pub group_by: Option<String>,
    /// Grouped by time buckets of this field.
    pub group_by_time: Option<String>,
    /// How long a bucket is.
    pub granularity: Option<Granularity>,
    /// The zone the buckets are cut in.
    pub time_zone: Option<String>,
    /// Always false here: aggregates are exact.
    pub approximate: bool,
    /// How many records were looked at, also those without a value.
    pub filtered_record_count: u64,
    /// The value, when ungrouped; null when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub value: Option<Value>,
    /// The groups, when grouped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Group>>,
    /// How many groups were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How many records fall in groups beyond the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_count: Option<u64>,
    /// Where this answer is.
    pub links: Links,
    /// Warnings.
    pub meta: Meta,
}

/// What an aggregate computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// How many records.
    Count,
    /// The sum of a numeric field.
    Sum,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// How many different values.
    CountDistinct,
}

/// The length of a time bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// One minute.
    Minute,
    /// One hour.
    Hour,
    /// One day.
    Day,
    /// Seven days from Monday.
    Week,
    /// One month.
    Month,
    /// Three months from January, April, July or October.
    Quarter,
    /// One year.
    Year,
}

/// One group and its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The value, or the bucket's first wall-clock moment; null for records without one.
    pub key: Value,
    /// How many records.
    pub count: u64,
}

impl Metric {
    /// The metric as it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::CountDistinct => "count_distinct",
        }
    }
}

/// Keeps a present null apart from an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
