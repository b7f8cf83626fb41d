//! Blobs go to files, or to whoever reads standard output.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::succeeded;
use crate::support::{Pdpp, Server, text};

const BYTES: &[u8] = b"\x89PNG\r\n\x1a\n not really a picture \x00\x01\x02";

struct Album {
    pdpp: Pdpp,
    server: Server,
    token: String,
    blob_id: String,
}

/// A stream with a blob in it, and a grant over it.
fn album() -> Album {
    let pdpp = Pdpp::new();
    let manifest = pdpp.write(
        "manifest.json",
        json!({
            "protocol_version": "0.1.0", "connector_key": "album", "version": "1", "display_name": "Album",
            "streams": [{
                "name": "pictures", "semantics": "mutable_state", "primary_key": ["id"],
                "schema": {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "string"},
                    "blob_ref": {"type": "object", "required": ["blob_id"], "properties": {
                        "blob_id": {"type": "string"}, "mime_type": {"type": "string"},
                        "sha256": {"type": "string"}, "size_bytes": {"type": "integer"},
                    }},
                }},
                "selection": {"fields": true, "resources": true},
            }],
        })
        .to_string(),
    );
    let first = json!({"stream": "pictures", "key": "p1", "emitted_at": "2026-01-01T00:00:00Z", "data": {"id": "p1"}});
    let records = pdpp.write("records.jsonl", format!("{first}\n"));
    pdpp.ok(&["import", "--manifest", &manifest, &records]);
    let owner = pdpp.owner_token();
    let server = pdpp.serve();
    let place =
        "/v1/blobs?connector_id=album&stream=pictures&record_key=p1&json_path=/blob_ref&mime_type=image/png";
    let stored = server.client(&owner).post(place, "application/octet-stream", BYTES);
    let blob_id = text(&stored.body["blob_id"]);
    let reference = json!({"blob_id": blob_id, "mime_type": "image/png", "size_bytes": BYTES.len()});
    let line = json!({"key": "p1", "data": {"id": "p1", "blob_ref": reference}, "emitted_at": "2026-01-01T00:00:00Z"});
    let ingest = "/v1/ingest/pictures?connector_id=album";
    assert_eq!(server.client(&owner).post(ingest, "application/x-ndjson", line.to_string()).status, 200);
    let (token, _) = pdpp.grant(&["--stream", "pictures"]);
    Album { pdpp, server, token, blob_id }
}

impl Album {
    fn run(&self, args: &[&str]) -> std::process::Output {
        let url = format!("http://{}", self.server.address());
        let all = [&["read"], args].concat();
        self.pdpp
            .command(&all)
            .env("PDPP_CLIENT_TOKEN", &self.token)
            .env("PDPP_PROVIDER_URL", url)
            .output()
            .unwrap()
    }
}

#[test]
fn a_blob_goes_into_a_file_of_its_own() {
    let album = album();
    let path = album.pdpp.path("picture.png");
    let file = path.display().to_string();
    let receipt = succeeded(&album.run(&["blob", &album.blob_id, "--output", &file]));
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!((&receipt["mime_type"], &receipt["size_bytes"]), (&json!("image/png"), &json!(BYTES.len())));
    assert_eq!(std::fs::read(&path).unwrap(), BYTES);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = album.run(&["blob", &album.blob_id, "--output", &file]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("--force"));
    succeeded(&album.run(&["blob", &album.blob_id, "-o", &file, "--force"]));
    let piped = album.run(&["blob", &album.blob_id]);
    assert!(piped.status.success() && piped.stdout == BYTES, "a pipe gets the bytes");
    let missing = album.run(&["blob", &format!("blob_sha256_{}", "0".repeat(64))]);
    assert_eq!(missing.status.code(), Some(5));
    let nowhere = album.run(&["blob", &album.blob_id, "--output", "/nonexistent/picture.png"]);
    assert_eq!(nowhere.status.code(), Some(74));
}

/// A record that holds one prints the command that reads it.
#[test]
fn a_fetched_record_leads_to_its_blob() {
    let album = album();
    let printed = succeeded(&album.run(&["fetch", "pictures", "p1", "--format", "table"]));
    assert!(printed.contains("preview_status=binary-only"), "{printed}");
    assert!(
        printed.contains(&format!("pdpp read blob http://{} {}", album.server.address(), album.blob_id)),
        "{printed}"
    );
}
