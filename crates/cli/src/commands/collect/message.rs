//! What a connector says, one JSON object per line.

use serde::Deserialize;
use serde_json::Value;

/// One line from a connector. Members we do not know are left alone: a newer connector may say more.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Message {
    /// A record; read again, strictly, by the code that reads all record lines.
    Record {
        stream: String,
    },
    /// Where a stream could be gone on with.
    State {
        stream: String,
        cursor: Value,
    },
    /// A question for a person; the connector waits.
    Interaction(Question),
    /// Something the connector had to leave out.
    SkipResult {
        stream: Option<String>,
        reason: String,
        message: Option<String>,
    },
    DetailCoverage,
    DetailGap {
        stream: Option<String>,
        message: Option<String>,
    },
    Progress {
        message: Option<String>,
    },
    /// The end.
    Done {
        status: Status,
        error: Option<Failure>,
    },
}

/// A question for a person.
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub(super) request_id: String,
    pub(super) kind: String,
    pub(super) message: String,
    /// A JSON Schema of the answer, whose properties are asked one by one.
    #[serde(default)]
    pub(super) schema: Option<Value>,
    /// How long the connector waits.
    #[serde(default)]
    pub(super) timeout_seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Succeeded,
    Failed,
    Cancelled,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Failure {
    pub(super) message: String,
    #[serde(default)]
    pub(super) code: Option<String>,
}
