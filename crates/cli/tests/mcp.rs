//! `pdpp mcp`.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{McpHost, Pdpp, text};

/// The adapter over a running server.
fn remote(pdpp: &Pdpp, address: &str, token: &str) -> Command {
    let mut command = pdpp.command(&["mcp", "--provider-url", &format!("http://{address}")]);
    command.env("PDPP_CLIENT_TOKEN", token);
    command
}

fn streams(result: &Value) -> Vec<String> {
    let listed = result["structuredContent"]["data"]["data"].as_array();
    listed.into_iter().flatten().map(|stream| text(&stream["name"])).collect()
}

fn tool_names(host: &mut McpHost) -> Vec<String> {
    let tools = host.request("tools/list", &json!({}));
    tools["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// S3-R1: the adapter reads over a grant-scoped client token, and what it reads stays inside the grant.
#[test]
fn an_assistant_reads_from_a_server() {
    let pdpp = Pdpp::with_sample();
    let (token, grant_id) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let mut host = McpHost::start(remote(&pdpp, server.address(), &token));
    assert_eq!(host.welcome["serverInfo"]["name"], json!("pdpp-mcp-server"));
    let names = tool_names(&mut host);
    assert!(names.contains(&"list_streams".to_owned()) && names.contains(&"search".to_owned()), "{names:?}");
    assert_eq!(streams(&host.call("list_streams", &json!({}))), ["messages"]);
    pdpp.ok(&["grant", "revoke", &grant_id]);
    assert_eq!(host.refused("list_streams", &json!({})), "grant_revoked");
    let (code, rest, said) = host.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    assert!(said.contains(&format!("http://{}", server.address())), "{said}");
    assert!(said.contains("PDPP_CLIENT_TOKEN") && !said.contains(&token), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// S3-R1: a data directory on this machine is read under grants too, never as the owner.
#[test]
fn an_assistant_reads_a_data_directory_without_a_server() {
    let pdpp = Pdpp::with_sample();
    let (_, grant_id) = pdpp.grant(&["--stream", "messages"]);
    let mut host = McpHost::start(pdpp.command(&["mcp", "--grant", &grant_id, "--server-name", "mine"]));
    assert_eq!(host.welcome["serverInfo"]["name"], json!("mine"));
    let result = host.call("list_streams", &json!({}));
    assert_eq!(streams(&result), ["messages"]);
    assert_eq!(result["structuredContent"]["provider_url"], json!("http://localhost"));
    pdpp.ok(&["grant", "revoke", &grant_id]);
    assert_eq!(host.refused("list_streams", &json!({})), "grant_revoked");
    let (code, rest, _) = host.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    let ledger = pdpp.ok(&["audit", "--json", "--grant", &grant_id]);
    let entries: Vec<Value> = ledger.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len(), 2, "{ledger}");
    for entry in &entries {
        assert_eq!((&entry["door"], entry.get("token_id")), (&json!("mcp_local"), None), "{entry}");
        assert_eq!(entry["client_id"], json!("local-assistant"));
    }
    assert_eq!(entries[0]["refused"], json!("grant_revoked"));
}

#[test]
fn an_expired_grant_opens_nothing() {
    let pdpp = Pdpp::with_sample();
    let (_, grant_id) = pdpp.grant(&["--stream", "messages", "--expires", "2s"]);
    let mut host = McpHost::start(pdpp.command(&["mcp", "--grant", &grant_id]));
    std::thread::sleep(Duration::from_millis(2_100));
    assert_eq!(host.refused("list_streams", &json!({})), "grant_expired");
}

/// Whoever reads the host's log sees why an assistant gets nothing.
#[test]
fn a_grant_that_has_ended_is_said_at_the_start() {
    let pdpp = Pdpp::with_sample();
    let (_, grant_id) = pdpp.grant(&["--stream", "messages"]);
    pdpp.ok(&["grant", "revoke", &grant_id]);
    let (code, rest, said) = McpHost::start(pdpp.command(&["mcp", "--grant", &grant_id])).end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    assert!(said.contains("revoked") && said.contains("Every call will be refused."), "{said}");
}

#[test]
fn several_grants_of_one_client_are_read_together() {
    let pdpp = Pdpp::with_sample();
    let (_, first) = pdpp.grant(&["--stream", "messages"]);
    let (_, second) = pdpp.grant(&["--stream", "channels"]);
    let mut host = McpHost::start(pdpp.command(&["mcp", "--grant", &first, "--grant", &second]));
    let mut names = streams(&host.call("list_streams", &json!({})));
    names.sort();
    assert_eq!(names, ["channels", "messages"]);
    pdpp.ok(&["grant", "revoke", &first]);
    assert_eq!(streams(&host.call("list_streams", &json!({}))), ["channels"]);
}

#[test]
fn grants_that_cannot_be_read_under_are_named() {
    let pdpp = Pdpp::with_sample();
    let (_, own) = pdpp.grant(&["--stream", "messages"]);
    let (_, same) = pdpp.grant(&["--stream", "messages:text"]);
    let (_, once) = pdpp.grant(&["--stream", "channels", "--single-use"]);
    let other = text(
        &pdpp.json(&["grant", "create", "--client", "other", "--stream", "channels", "--json"])["grant_id"],
    );
    let check = |grants: &[&str], said: &str| {
        let args: Vec<&str> =
            ["mcp"].into_iter().chain(grants.iter().flat_map(|grant| ["--grant", *grant])).collect();
        let output = pdpp.run(&args);
        let line = stderr(&output);
        assert!(output.status.code() == Some(64) && line.contains(said), "{grants:?}: {line}");
        assert!(output.stdout.is_empty());
    };
    check(&["grt_nowhere"], "pdpp grant list");
    check(&["no grant"], "grant id");
    check(&[&own, &same], "the same stream");
    check(&[&own, &other], "one client");
    check(&[&once], "single-use");
    let output = pdpp.run(&["mcp", "--grant", &own, "--provider-url", "http://localhost:1"]);
    assert_eq!(output.status.code(), Some(64), "{}", stderr(&output));
}

#[test]
fn standard_output_is_the_protocols_even_when_logs_are_noisy() {
    let pdpp = Pdpp::with_sample();
    let (token, grant_id) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let local = pdpp.command(&["mcp", "--grant", &grant_id]);
    for mut command in [remote(&pdpp, server.address(), &token), local] {
        command.env("PDPP_LOG", "trace").env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
        let mut host = McpHost::start(command);
        for _ in 0..3 {
            assert_eq!(streams(&host.call("list_streams", &json!({}))), ["messages"]);
        }
        host.refused("no_such_tool", &json!({}));
        let (code, rest, said) = host.end();
        assert_eq!((code, rest.as_str()), (Some(0), ""));
        assert!(said.lines().count() > 1, "it was asked to talk");
        assert!(!said.contains(&token), "the token is in the log");
    }
}

#[test]
fn help_and_version_leave_standard_output_alone() {
    let pdpp = Pdpp::new();
    for args in [["mcp", "--help"], ["mcp", "-h"], ["mcp", "--version"]] {
        let output = pdpp.run(&args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
    assert!(stderr(&pdpp.run(&["mcp", "--help"])).contains("--provider-url"));
}

#[test]
fn a_wrong_call_is_64_and_says_how() {
    let pdpp = Pdpp::new();
    let check = |args: &[&str], said: &str| {
        let output = pdpp.run(args);
        let line = stderr(&output);
        assert!(output.status.code() == Some(64) && line.contains(said), "{args:?}: {line}");
        assert!(output.stdout.is_empty(), "{args:?}");
    };
    check(&["mcp"], "Missing --provider-url");
    check(&["mcp"], "Usage: pdpp mcp");
    check(&["mcp", "--provider-url", " "], "Missing --provider-url");
    check(&["mcp", "--provider-url", "ftp://data.example"], "not a valid http or https URL");
    check(&["mcp", "--provider-url", "http://data.example"], "unencrypted");
    check(&["mcp", "--tools", "all-of-them"], "--tools");
    check(&["mcp", "--no-such-flag"], "--no-such-flag");
}

/// A cache directory with a server's credential file in the older place.
fn cache(pdpp: &Pdpp, content: &str) -> PathBuf {
    let root = pdpp.path("cache");
    std::fs::create_dir_all(root.join("clients")).unwrap();
    std::fs::write(root.join("clients/data.example.json"), content).unwrap();
    root
}

/// S3-R1: with the owner's authority around it the adapter does not start, and looks at no credential.
#[test]
fn an_owner_variable_stops_it_before_the_credential_is_opened() {
    let pdpp = Pdpp::with_sample();
    let root = cache(&pdpp, "not even JSON");
    let root = root.to_str().unwrap();
    let (_, grant_id) = pdpp.grant(&["--stream", "messages"]);
    for name in ["PDPP_OWNER_TOKEN", "PDPP_OWNER_SESSION_COOKIE"] {
        let url = ["mcp", "--provider-url", "https://data.example", "--cache-root", root];
        for args in [&url[..], &["mcp", "--grant", &grant_id]] {
            let output = pdpp.command(args).env(name, "secret-of-the-owner").output().unwrap();
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(77), "{said}");
            assert!(said.contains("Refusing to start") && said.contains(name), "{said}");
            assert!(!said.contains("secret-of-the-owner") && !said.contains("clients"), "{said}");
            assert!(output.stdout.is_empty());
        }
        // An empty variable says nothing, and a missing address comes first.
        let empty = pdpp.command(&url).env(name, "").output().unwrap();
        assert_eq!(empty.status.code(), Some(78));
        assert_eq!(pdpp.command(&["mcp"]).env(name, "x").output().unwrap().status.code(), Some(64));
    }
}

#[test]
fn a_credential_that_cannot_be_used_is_77_or_78() {
    let pdpp = Pdpp::new();
    let check = |content: Option<&str>, code: i32, said: &str| {
        let root = cache(&pdpp, content.unwrap_or_default());
        if content.is_none() {
            std::fs::remove_file(root.join("clients/data.example.json")).unwrap();
        }
        let args = ["mcp", "--provider-url", "https://data.example", "--cache-root", root.to_str().unwrap()];
        let output = pdpp.run(&args);
        let line = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(line.contains(said) && line.contains("pdpp connect https://data.example"), "{line}");
        assert!(output.stdout.is_empty() && !line.contains("secret-1"));
    };
    check(None, 78, "No scoped PDPP credential");
    check(None, 78, "not_connected");
    check(Some("{\"credential\":"), 78, "credential_invalid");
    check(Some("{}"), 78, "credential_invalid");
    let expired = r#"{"credential": {"access_token": "secret-1", "expires_at": "2020-01-01T00:00:00Z"}}"#;
    check(Some(expired), 78, "credential_expired");
    let owner = r#"{"credential": {"access_token": "secret-1", "pdpp_token_kind": "OWNER"}}"#;
    check(Some(owner), 77, "owner_token_refused");
}

#[test]
fn a_kept_credential_is_used_and_its_file_named() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let key = server.address().replace(':', "_");
    let file = json!({"credential": {"access_token": token}}).to_string();
    for root in [".config/pdpp", "work/.pdpp"] {
        let folder = pdpp.path(root).join("clients");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{key}.json"));
        std::fs::write(&path, &file).unwrap();
        std::fs::create_dir_all(pdpp.path("work")).unwrap();
        let mut command = pdpp.command(&["mcp"]);
        command.env("PDPP_PROVIDER_URL", format!("http://{}/", server.address()));
        command.current_dir(pdpp.path("work"));
        let mut host = McpHost::start(command);
        assert_eq!(streams(&host.call("list_streams", &json!({}))), ["messages"]);
        let (_, _, said) = host.end();
        assert!(said.contains(&format!("{key}.json")) && said.contains(server.address()), "{said}");
        assert!(!said.contains(&token), "{said}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_server_that_is_gone_is_an_answer_the_model_can_read() {
    let pdpp = Pdpp::new();
    let mut host = McpHost::start(remote(&pdpp, "127.0.0.1:1", "token"));
    assert_eq!(host.refused("list_streams", &json!({})), "rs_unreachable");
    assert_eq!(host.end().0, Some(0));
}

#[test]
fn the_read_tools_alone_can_be_listed() {
    let pdpp = Pdpp::new();
    let mut command = remote(&pdpp, "127.0.0.1:1", "token");
    command.args(["--tools", "read", "--result-detail", "compact"]);
    let mut host = McpHost::start(command);
    let mut names = tool_names(&mut host);
    names.sort();
    assert_eq!(names, ["aggregate", "fetch", "query_records", "read_record_field", "schema", "search"]);
}
