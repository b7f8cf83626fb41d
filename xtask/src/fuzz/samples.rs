//! The records, names and credentials a fuzz run works with.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;
use crate::workspace::Workspace;

const MANIFEST: &str = "fixtures/exports/jsonl/manifest.json";
const RECORDS: &str = "fixtures/exports/jsonl/records.jsonl";
/// Enough to reach data; the fuzzer gains nothing from more.
const MOST_RECORD_KEYS: usize = 40;

/// A loaded data directory: what is in it, and two ways to read it.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) streams: Vec<String>,
    pub(super) fields: Vec<String>,
    pub(super) records: Vec<String>,
    pub(super) connections: Vec<String>,
    pub(super) client_token: String,
    pub(super) owner_token: String,
}

impl Samples {
    /// Loads the sample archive into `data` through the commands an owner would type.
    pub(super) fn load(workspace: &Workspace, pdpp: &Path, data: &Path) -> Result<Self> {
        let manifest = read_json(workspace, MANIFEST)?;
        let (streams, fields) = (stream_names(&manifest), field_names(&manifest));
        if streams.is_empty() {
            bail!("{MANIFEST} declares no stream");
        }
        let records = std::fs::read_to_string(workspace.path(RECORDS))
            .with_context(|| format!("{RECORDS} cannot be read"))?;

        let owner = |arguments: &[&str]| -> Result<Value> {
            let mut command = Command::new(pdpp);
            command.args(arguments).arg("--data").arg(data).arg("--json").current_dir(workspace.root());
            let line = process::shown(&command);
            let answer = process::capture(&mut command)?;
            serde_json::from_str(&answer).with_context(|| format!("`{line}` did not print JSON:\n{answer}"))
        };
        let receipt = owner(&["import", "--format", "jsonl", "--manifest", MANIFEST, RECORDS])?;
        let mut grant = vec!["grant", "create", "--client", "fuzz"];
        grant.extend(streams.iter().flat_map(|stream| ["--stream", stream.as_str()]));

        Ok(Self {
            client_token: access_token(&owner(&grant)?)?,
            owner_token: access_token(&owner(&["owner", "token"])?)?,
            connections: connection_ids(&receipt),
            records: record_keys(&records),
            streams,
            fields,
        })
    }
}

fn read_json(workspace: &Workspace, path: &str) -> Result<Value> {
    let text =
        std::fs::read_to_string(workspace.path(path)).with_context(|| format!("{path} cannot be read"))?;
    serde_json::from_str(&text).with_context(|| format!("{path} is not JSON"))
}

fn streams(manifest: &Value) -> impl Iterator<Item = &Value> {
    manifest.get("streams").and_then(Value::as_array).into_iter().flatten()
}

fn stream_names(manifest: &Value) -> Vec<String> {
    streams(manifest).filter_map(|stream| Some(stream.get("name")?.as_str()?.to_owned())).collect()
}

/// The top-level property names of every stream's JSON Schema, each once.
fn field_names(manifest: &Value) -> Vec<String> {
    let mut names: Vec<String> = streams(manifest)
        .filter_map(|stream| stream.pointer("/schema/properties")?.as_object())
        .flat_map(|properties| properties.keys().cloned())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn record_keys(lines: &str) -> Vec<String> {
    let key = |line: &str| match serde_json::from_str::<Value>(line).ok()?.get("key")? {
        Value::String(key) => Some(key.clone()),
        other => Some(other.to_string()),
    };
    lines.lines().filter_map(key).take(MOST_RECORD_KEYS).collect()
}

/// One archive may feed one connection or several.
fn connection_ids(receipt: &Value) -> Vec<String> {
    let several = receipt.get("connections").and_then(Value::as_array).into_iter().flatten();
    std::iter::once(receipt)
        .chain(several)
        .filter_map(|part| Some(part.get("connection_id")?.as_str()?.to_owned()))
        .collect()
}

fn access_token(answer: &Value) -> Result<String> {
    let token = answer.get("access_token").and_then(Value::as_str);
    Ok(token.context("the answer holds no `access_token`")?.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_come_from_the_manifest() {
        let manifest = json!({"streams": [
            {"name": "messages", "schema": {"properties": {"id": {}, "text": {}}}},
            {"name": "people", "schema": {"properties": {"id": {}, "name": {}}}},
        ]});
        assert_eq!(stream_names(&manifest), ["messages", "people"]);
        assert_eq!(field_names(&manifest), ["id", "name", "text"]);
    }

    #[test]
    fn keys_come_from_the_records() {
        assert_eq!(record_keys("{\"key\":\"m1\"}\nbroken\n{\"key\":[\"a\",1]}\n"), ["m1", r#"["a",1]"#]);
    }

    #[test]
    fn a_receipt_names_one_connection_or_several() {
        assert_eq!(connection_ids(&json!({"connection_id": "c1"})), ["c1"]);
        let several = json!({"connections": [{"connection_id": "c1"}, {"connection_id": "c2"}]});
        assert_eq!(connection_ids(&several), ["c1", "c2"]);
    }

    #[test]
    fn an_answer_without_a_token_is_an_error() {
        assert!(access_token(&json!({"grant_id": "g"})).is_err());
    }
}
