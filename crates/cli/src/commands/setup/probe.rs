//! Starts the adapter as a host would, and asks it for its tools.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use super::host::Entry;

/// A host gives up after a while, and so do we.
const PATIENCE: Duration = Duration::from_secs(20);
/// As much of a complaint as fits on a few lines.
const MAX_COMPLAINT: u64 = 2_000;

/// How many tools it lists, or in words why it does not.
pub(super) async fn tools(entry: &Entry) -> Result<usize, String> {
    let mut command = Command::new(&entry.command);
    command
        .args(&entry.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (Some(mut input), Some(output), Some(mut errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its streams cannot be reached".to_owned());
    };
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "pdpp-setup", "version": env!("CARGO_PKG_VERSION")},
        },
    });
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let talk = async {
        input.write_all(format!("{hello}\n{ready}\n{list}\n").as_bytes()).await.ok()?;
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await.ok()? {
            let answer: Value = serde_json::from_str(&line).ok()?;
            if answer.get("id") == Some(&json!(2)) {
                return Some(answer.pointer("/result/tools")?.as_array()?.len());
            }
        }
        None
    };
    let answered = timeout(PATIENCE, talk).await;
    // It ends when nobody speaks to it any more.
    drop(input);
    match answered {
        Ok(Some(count)) => Ok(count),
        Ok(None) => {
            let mut said = Vec::new();
            let _ = timeout(Duration::from_secs(1), (&mut errors).take(MAX_COMPLAINT).read_to_end(&mut said))
                .await;
            let said = String::from_utf8_lossy(&said);
            let complaint = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            Err(complaint.trim().to_owned())
        }
        Err(_) => Err(format!("it did not answer within {} seconds", PATIENCE.as_secs())),
    }
}
