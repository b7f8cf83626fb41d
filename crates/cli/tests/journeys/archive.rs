//! A small archive worth asking about: a long note, a picture, and a running adapter over them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::{Pdpp, text};

pub(crate) const NEEDLE: &str = "third flowerpot";
pub(crate) const LONG_CHARS: usize = 20_000;
/// The smallest picture there is: a 1×1 GIF.
pub(crate) const PICTURE: &[u8] =
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

pub(crate) struct Archive {
    pdpp: Pdpp,
    grant: String,
}

impl Archive {
    pub(crate) fn new() -> Self {
        let pdpp = Pdpp::new();
        let manifest = pdpp.write("manifest.json", manifest().to_string());
        let lines = [
            note("n_long", "Where things are", &long_text(), None),
            note("n_rain", "Weather", "Rain on the roof again, and nobody at the door.", None),
            note(
                "n_photo",
                "Old harbour",
                "A harbour photograph from before the crane fell.",
                Some("pending"),
            ),
        ];
        let records = pdpp.write("records.jsonl", lines.map(|line| line.to_string()).join("\n"));
        pdpp.ok(&["import", "--manifest", &manifest, &records]);
        upload_picture(&pdpp);
        let (_, grant) = pdpp.grant(&["--stream", "notes"]);
        Self { pdpp, grant }
    }

    /// The adapter on this archive, without a server.
    pub(crate) fn adapter(&self, further: &[&str]) -> Adapter {
        let data = self.pdpp.data().display().to_string();
        let arguments = [&["mcp", "--data", &data, "--grant", &self.grant], further].concat();
        let mut command = self.pdpp.command(&arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Adapter { child, stdin, stdout, next_id: 0 }
    }
}

/// One running `pdpp mcp`.
pub(crate) struct Adapter {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Adapter {
    pub(crate) fn hello(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "journey", "version": "1"}});
        assert!(self.request("initialize", &params)["result"]["instructions"].is_string());
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        writeln!(self.stdin, "{message}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the adapter has gone");
            let answer: Value =
                serde_json::from_str(&line).expect("standard output carries the protocol only");
            if answer["id"] == self.next_id {
                return answer;
            }
        }
    }

    /// The whole result of a call that must succeed.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = answer["result"].clone();
        assert!(result["isError"] != true, "{tool} {arguments}: {result}");
        result
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The long note: one sentence worth finding in the middle.
pub(crate) fn long_text() -> String {
    let needle = format!("The key lies under the {NEEDLE}.");
    let filler = "Rain on the roof, wind in the ropes — und niemand an der Tür. ";
    let before: String = filler.chars().cycle().take(LONG_CHARS / 2).collect();
    let after: String = filler.chars().cycle().take(LONG_CHARS / 2 - needle.chars().count()).collect();
    format!("{before}{needle}{after}")
}

fn note(key: &str, title: &str, body: &str, photo: Option<&str>) -> Value {
    let mut data = json!({"id": key, "title": title, "body": body, "written_at": "2026-03-01T09:00:00Z"});
    if photo.is_some() {
        data["thumbnail"] = json!({"caption": "none yet"});
    }
    json!({"stream": "notes", "key": key, "data": data, "emitted_at": "2026-03-01T09:00:00Z"})
}

/// Stores the bytes for the record, then the record that refers to them.
fn upload_picture(pdpp: &Pdpp) {
    let token = pdpp.owner_token();
    let server = pdpp.serve();
    let owner = server.client(&token);
    let path = "/v1/blobs?connector_id=desk&stream=notes&record_key=n_photo&mime_type=image%2Fgif";
    let receipt = owner.try_post(path, "application/octet-stream", PICTURE).unwrap();
    assert_eq!(receipt.status, 200, "{}", receipt.body);
    let mut record = note("n_photo", "Old harbour", "A harbour photograph from before the crane fell.", None);
    record["data"]["blob_ref"] = json!({
        "blob_id": text(&receipt.body["blob_id"]), "mime_type": "image/gif",
        "size_bytes": PICTURE.len(), "sha256": text(&receipt.body["sha256"]),
    });
    let line = json!({"key": "n_photo", "data": record["data"]}).to_string();
    let answer = owner.try_post("/v1/ingest/notes?connector_id=desk", "application/x-ndjson", line).unwrap();
    assert_eq!(answer.body["records_accepted"], 1, "{}", answer.body);
}

fn manifest() -> Value {
    json!({
        "protocol_version": "0.1.0", "connector_key": "desk", "version": "1", "display_name": "Desk",
        "streams": [{
            "name": "notes", "description": "What was written down.", "semantics": "mutable_state",
            "display": {"label": "Notes", "detail": "Titles and texts"},
            "primary_key": ["id"], "cursor_field": "written_at", "consent_time_field": "written_at",
            "selection": {"fields": true, "resources": true},
            "schema": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"},
                "title": {"type": "string", "x_pdpp_role": "primary-title"},
                "body": {"type": "string", "x_pdpp_role": "body"},
                "written_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
                "thumbnail": {"type": "object"},
                "blob_ref": {"type": "object", "required": ["blob_id"], "properties": {
                    "blob_id": {"type": "string"}, "mime_type": {"type": "string"},
                    "sha256": {"type": "string"}, "size_bytes": {"type": "integer"},
                }},
            }},
            "query": {
                "range_filters": {"written_at": ["gte", "lt"]},
                "search": {"lexical_fields": ["title", "body"]},
                "aggregations": {"count": true},
            },
        }],
    })
}
