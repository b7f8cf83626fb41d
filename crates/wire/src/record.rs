//! Records as they are read: the projected payload in its envelope, tombstones, expanded relations.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use crate::literal::{ListObject, RecordObject};
use crate::{ConnectionId, Links, Meta, RecordKey, StreamName};

/// A record's projected payload, kept as JSON text so that a large record is not parsed again on
/// its way out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Data(Box<RawValue>);

impl Data {
    /// Takes the text of one JSON object.
    pub fn parse(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self)
    }

    /// The JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl From<Box<RawValue>> for Data {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl JsonSchema for Data {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Data".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// One live record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Always `record`.
    pub object: RecordObject,
    /// The canonical key.
    pub id: RecordKey,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// The projected payload: exactly the granted and requested fields the record has.
    pub data: Data,
    /// When the producer emitted it.
    pub emitted_at: String,
    /// The connection it came through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// The same as `connection_id`, under its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_instance_id: Option<ConnectionId>,
    /// The owner's own label of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The self-contained handle: enough, alone, to read this record again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
    /// Related records, by relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded: Option<BTreeMap<String, Option<Expanded>>>,
}

/// One record read by its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordBody {
    /// The source's id.
    pub connector_key: String,
    /// Always `record`.
    pub object: RecordObject,
    /// The canonical key.
    pub id: RecordKey,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// The projected payload.
    pub data: Data,
    /// When the producer emitted it.
    pub emitted_at: String,
    /// The connection it came through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// The same as `connection_id`, under its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_instance_id: Option<ConnectionId>,
    /// The owner's own label of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The self-contained handle of this record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
    /// The length in bytes of `data` as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_json_bytes: Option<u64>,
    /// Related records, by relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded: Option<BTreeMap<String, Option<Expanded>>>,
    /// Where this record is.
    pub links: Links,
    /// Warnings.
    pub meta: Meta,
}

/// A deleted record in a changes feed: what is gone, and when, without its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tombstone {
    /// Always `record`.
    pub object: RecordObject,
    /// The canonical key.
    pub id: RecordKey,
    /// The stream it belonged to.
    pub stream: StreamName,
    /// Always true.
    #[schemars(extend("const" = true))]
    pub deleted: bool,
    /// When it was deleted.
    pub deleted_at: String,
    /// When the producer emitted the delete.
    pub emitted_at: String,
    /// The connection it came through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// The same as `connection_id`, under its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_instance_id: Option<ConnectionId>,
    /// The owner's own label of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The self-contained handle the record had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
}

/// One entry of a records page.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RecordEntry {
    /// A live record.
    Live(Box<Record>),
    /// A deleted one; only in a changes feed.
    Deleted(Tombstone),
}

/// What a relation leads to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Expanded {
    /// `has_many`: a bounded list.
    Many(ExpandedList),
    /// `has_one`: the record.
    One(Box<Record>),
}

/// The first related records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpandedList {
    /// Always `list`.
    pub object: ListObject,
    /// Whether more related records exist than were returned.
    pub has_more: bool,
    /// The related records.
    pub data: Vec<Record>,
}

// Serde's own untagged enums buffer their input, and raw JSON text does not survive the buffer; so
// the two unions look at one telling member and then parse the text as what it is.

impl<'de> Deserialize<'de> for RecordEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Telling {
            #[serde(default)]
            deleted: bool,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let telling: Telling = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        if telling.deleted {
            return serde_json::from_str(raw.get()).map(Self::Deleted).map_err(de::Error::custom);
        }
        serde_json::from_str(raw.get()).map(Self::Live).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Expanded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Telling {
            object: String,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let telling: Telling = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        if telling.object == "list" {
            return serde_json::from_str(raw.get()).map(Self::Many).map_err(de::Error::custom);
        }
        serde_json::from_str(raw.get()).map(Self::One).map_err(de::Error::custom)
    }
}
