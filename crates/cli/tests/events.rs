//! `pdpp events`, and events from the first call to the last: through tools, under fire, on the command line.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Hook, McpHost, Pdpp, Receiver, Server, fixture, text};

const PATH: &str = "/v1/event-subscriptions";
const NDJSON: &str = "application/x-ndjson";

fn serve(pdpp: &Pdpp) -> Server {
    Server::start(pdpp.command(&["serve", "--listen", "127.0.0.1:0", "--allow-loopback-callbacks"]))
}

fn message(id: &str, words: &str) -> Value {
    json!({"stream": "messages", "key": id, "data": {"id": id, "channel_id": "c1", "author": "Ana", "text": words,
           "sent_at": "2026-01-01T00:00:00Z"}})
}

/// A token for the texts of messages, whose events may be sent to the receiver.
fn granted(pdpp: &Pdpp, receiver: &Receiver) -> (String, String) {
    pdpp.grant(&["--stream", "messages:text", "--callback-host", receiver.host()])
}

fn subscribe(client: &Client, receiver: &Receiver) -> (String, String) {
    let body = json!({ "callback_url": receiver.url() }).to_string();
    let made = client.post(PATH, "application/json", body);
    assert_eq!(made.status, 201, "{}", made.body);
    let id = text(&made.body["subscription_id"]);
    for _ in 0..500 {
        if client.get(&format!("{PATH}/{id}")).body["status"] == "active" {
            return (id, text(&made.body["secret"]));
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the receiver was not verified: {}", client.get(&format!("{PATH}/{id}/deliveries")).body)
}

fn is_news(hook: &Hook) -> bool {
    hook.kind() == "pdpp.records.changed"
}

#[test]
fn the_whole_journey_through_tools_alone() {
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (token, _) = granted(&pdpp, &receiver);
    let server = serve(&pdpp);
    let mut command = pdpp.command(&["mcp", "--provider-url", &format!("http://{}", server.address())]);
    command.env("PDPP_CLIENT_TOKEN", &token);
    let mut host = McpHost::start(command);
    let said = |result: &Value| text(&result["content"][0]["text"]);
    let data = |result: &Value| result["structuredContent"]["data"].clone();

    let found = host.call("discover_event_subscription_capabilities", &json!({}));
    assert_eq!(found["structuredContent"]["supported"], json!(true), "{found}");
    assert!(said(&found).contains("callback=https_or_localhost"), "{found}");
    let elsewhere = json!({"callback_url": "http://127.0.0.1:9/other"});
    assert_eq!(host.refused("create_event_subscription", &elsewhere), "callback_not_allowed");
    let made = host.call("create_event_subscription", &json!({"callback_url": receiver.url()}));
    let id = text(&data(&made)["subscription_id"]);
    let secret = text(&data(&made)["secret"]);
    assert!(said(&made).contains(&format!("one_time_secret={secret}")), "{made}");
    let challenge = receiver.wait(|hook| hook.kind() == "pdpp.subscription.verify");
    assert!(challenge.is_signed_with(&secret));
    let arguments = json!({"subscription_id": id});
    let mut status = String::new();
    for _ in 0..500 {
        status = text(&data(&host.call("get_event_subscription", &arguments))["status"]);
        if status == "active" {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(status, "active");
    assert!(said(&host.call("list_event_subscriptions", &json!({}))).contains(&id));
    host.call("send_test_event", &arguments);
    assert!(receiver.wait(|hook| hook.kind() == "pdpp.subscription.test").is_signed_with(&secret));

    let new = pdpp.write("new.jsonl", message("m_new", "The mast is back.").to_string());
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &new]);
    let news = receiver.wait(is_news);
    assert!(news.is_signed_with(&secret) && !news.event.to_string().contains("mast"), "{news:?}");
    let (stream, since) = (&news.event["data"]["stream"], &news.event["data"]["changes_since"]);
    let read = host.call("query_records", &json!({"stream": stream, "changes_since": since}));
    assert!(said(&read).contains("The mast is back."), "{read}");
    assert_eq!(data(&read)["data"].as_array().unwrap().len(), 1, "{read}");

    let renewed =
        host.call("update_event_subscription", &json!({"subscription_id": id, "rotate_secret": true}));
    assert_ne!(text(&data(&renewed)["secret"]), secret);
    let gone = host.call("delete_event_subscription", &arguments);
    assert!(said(&gone).contains("204 No Content"), "{gone}");
    assert_eq!(host.refused("get_event_subscription", &arguments), "not_found");
    assert!(!server.log().contains("whsec_"), "no secret is logged");
}

#[test]
fn every_acknowledged_change_is_announced_although_the_server_is_killed_again_and_again() {
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (token, _) = granted(&pdpp, &receiver);
    let owner = pdpp.owner_token();
    let mut server = serve(&pdpp);
    let (_, secret) = subscribe(&server.client(&token), &receiver);
    let mut acknowledged = BTreeSet::new();
    for round in 0..6 {
        let client = server.client(&owner);
        let writer = thread::spawn(move || write_until_gone(&client, round));
        thread::sleep(Duration::from_millis(150 + 130 * round));
        server.kill();
        acknowledged.extend(writer.join().unwrap());
        server = serve(&pdpp);
    }
    let client = server.client(&token);
    let mut read = BTreeSet::new();
    let mut told = BTreeSet::new();
    // An attempt that was cut off is made again when its lease has ended.
    for _ in 0..600 {
        for hook in receiver.hooks().into_iter().filter(is_news) {
            if told.insert(hook.id.clone()) {
                assert!(hook.is_signed_with(&secret));
                read.extend(shown(&client, &hook));
            }
        }
        if read.is_superset(&acknowledged) {
            break;
        }
        thread::sleep(Duration::from_millis(200));
    }
    let missing: Vec<_> = acknowledged.difference(&read).collect();
    assert!(missing.is_empty(), "never announced: {missing:?} of {}", acknowledged.len());
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
}

/// Writes messages, hidden fields of messages, and channels, until nobody answers. Gives the keys of new messages.
fn write_until_gone(client: &Client, round: u64) -> Vec<String> {
    let mut keys = Vec::new();
    for number in 0.. {
        let id = format!("k_{round}_{number}");
        let line = json!({"key": id, "data": {"id": id, "channel_id": "c1", "author": "Ana", "text": "under fire",
                          "sent_at": "2026-01-01T00:00:00Z"}});
        let hidden = json!({"key": "c1", "data": {"id": "c1", "name": format!("name {number}")}});
        let put = |stream: &str, line: &Value| {
            client.try_post(
                &format!("/v1/ingest/{stream}?connector_id=harbour-chat"),
                NDJSON,
                line.to_string(),
            )
        };
        match put("messages", &line) {
            Some(answer) if answer.status == 200 => keys.push(id),
            _ => return keys,
        }
        if put("channels", &hidden).is_none() {
            return keys;
        }
    }
    keys
}

/// The keys an event's token shows, page by page; never none, and never of another stream.
fn shown(client: &Client, hook: &Hook) -> Vec<String> {
    let data = &hook.event["data"];
    assert_eq!(data["stream"], json!("messages"), "{}", hook.event);
    let mut path =
        format!("/v1/streams/messages/records?limit=100&changes_since={}", text(&data["changes_since"]));
    let mut keys = Vec::new();
    loop {
        let page = client.get(&path);
        assert_eq!(page.status, 200, "{}", page.body);
        keys.extend(page.body["data"].as_array().unwrap().iter().map(|record| text(&record["id"])));
        match page.body["links"]["next"].as_str() {
            Some(next) => next.clone_into(&mut path),
            None => break,
        }
    }
    assert!(!keys.is_empty(), "an event shows something: {}", hook.event);
    keys
}

#[test]
fn a_change_only_in_fields_outside_the_grant_is_not_announced() {
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (token, grant) = granted(&pdpp, &receiver);
    let server = serve(&pdpp);
    subscribe(&server.client(&token), &receiver);
    let mut hidden = message("m_0002", "");
    let owner = server.client(&pdpp.owner_token());
    let record = owner.get("/v1/streams/messages/records/m_0002").body;
    hidden["data"] = record["data"].clone();
    hidden["data"]["private_note"] = json!("for nobody");
    let file = pdpp.write("hidden.jsonl", hidden.to_string());
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &file]);
    let file = pdpp.write("seen.jsonl", message("m_seen", "for all").to_string());
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &file]);
    let news = receiver.wait(is_news);
    assert_eq!(shown(&server.client(&token), &news), ["m_seen"]);
    pdpp.ok(&["grant", "revoke", &grant]);
    receiver.wait(|hook| hook.kind() == "pdpp.grant.revoked");
    assert_eq!(receiver.hooks().len(), 3, "challenge, change, end: {:?}", receiver.hooks());
}

#[test]
fn this_machine_is_called_only_with_the_switch() {
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (token, _) = granted(&pdpp, &receiver);
    let server = pdpp.serve();
    let body = json!({ "callback_url": receiver.url() }).to_string();
    let refused = server.client(&token).post(PATH, "application/json", body);
    assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!("invalid_request")));
    let document = server.anonymous().get("/.well-known/oauth-protected-resource").body;
    let block = &document["capabilities"]["client_event_subscriptions"];
    assert_eq!(block["callback_url"]["localhost_exception"], json!(false));
}

#[test]
fn the_owner_sees_switches_off_and_takes_back() {
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = serve(&pdpp);
    let client = server.client(&token);
    let body = json!({ "callback_url": receiver.url() }).to_string();
    let refused = client.post(PATH, "application/json", body);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let message = text(&refused.body["error"]["message"]);
    assert!(
        message.contains(&format!("pdpp events allow {} --client local-assistant", receiver.host())),
        "{message}"
    );
    assert_eq!(pdpp.ok(&["events", "list"]), "(none)\n");
    pdpp.ok(&["events", "allow", receiver.host(), "--client", "assistant"]);
    let (id, _) = subscribe(&client, &receiver);
    let listed = pdpp.ok(&["events", "list"]);
    assert!(
        listed.contains(&id) && listed.contains("local-assistant") && listed.contains(receiver.host()),
        "{listed}"
    );
    let shown = pdpp.json(&["events", "show", &id, "--json"]);
    assert_eq!(
        (&shown["status"], &shown["deliveries"][0]["outcome"]),
        (&json!("active"), &json!("delivered"))
    );
    pdpp.ok(&["events", "disable", &id]);
    let row = client.get(&format!("{PATH}/{id}")).body;
    assert_eq!((&row["status"], &row["disabled_reason"]), (&json!("disabled"), &json!("owner_disabled")));
    assert!(pdpp.fails(&["events", "disable", &id]).1.contains("already disabled"));
    assert!(pdpp.fails(&["events", "show", "sub_none"]).1.contains("there is no subscription"));
    assert_eq!(pdpp.fails(&["events", "allow", "not a host", "--client", "assistant"]).0, 64);
    assert!(
        pdpp.fails(&["events", "allow", "hooks.example.org", "--client", "nobody"]).1.contains("no client")
    );
    let back = pdpp.ok(&["events", "allow", receiver.host(), "--client", "assistant", "--remove"]);
    assert!(back.contains("0 subscriptions ended"), "{back}");
}

#[cfg(unix)]
#[test]
fn secrets_are_not_in_the_store_in_the_clear() {
    use std::os::unix::fs::PermissionsExt as _;
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (token, _) = granted(&pdpp, &receiver);
    let mut server = serve(&pdpp);
    let (_, secret) = subscribe(&server.client(&token), &receiver);
    server.terminate();
    let key = std::fs::metadata(pdpp.data().join("events.key")).unwrap();
    assert_eq!((key.permissions().mode() & 0o777, key.len()), (0o600, 32));
    for file in ["store.db", "store.db-wal", "ledger.db", "ledger.db-wal"] {
        let bytes = std::fs::read(pdpp.data().join(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{file}");
    }
}

#[test]
fn an_adapter_without_a_server_says_that_events_are_unavailable() {
    let pdpp = Pdpp::with_sample();
    let receiver = Receiver::start();
    let (_, grant) = granted(&pdpp, &receiver);
    let mut host = McpHost::start(pdpp.command(&["mcp", "--grant", &grant]));
    let found = host.call("discover_event_subscription_capabilities", &json!({}));
    assert_eq!(found["structuredContent"]["supported"], json!(false), "{found}");
    let wish = json!({"callback_url": "https://hooks.example.org/"});
    assert_eq!(host.refused("create_event_subscription", &wish), "events_unavailable");
    let server = serve(&pdpp);
    let found = host.call("discover_event_subscription_capabilities", &json!({}));
    assert_eq!(found["structuredContent"]["supported"], json!(true), "a server runs: {found}");
    drop(server);
}

#[test]
fn the_listener_verifies_and_prints() {
    let pdpp = Pdpp::with_sample();
    let mut command = pdpp.command(&["events", "listen", "--count", "2"]);
    let mut listener = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(listener.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    let url = said.trim().rsplit_once(' ').unwrap().1.to_owned();
    let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let forged =
        Client::new(&host, None).post("/", "application/json", r#"{"data":{"subscription_id":"sub_x"}}"#);
    assert_eq!(forged.status, 400);
    let (token, _) = pdpp.grant(&["--stream", "messages", "--callback-host", &host]);
    let server = serve(&pdpp);
    let client = server.client(&token);
    let made = client.post(PATH, "application/json", json!({ "callback_url": url }).to_string());
    assert_eq!(made.status, 201, "{}", made.body);
    let id = text(&made.body["subscription_id"]);
    client.post(&format!("{PATH}/{id}/test-event"), "application/json", "{}");
    let output = listener.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let kinds: Vec<String> =
        printed.lines().map(|line| text(&serde_json::from_str::<Value>(line).unwrap()["type"])).collect();
    assert_eq!(kinds, ["pdpp.subscription.verify", "pdpp.subscription.test"], "{printed}");
    assert_eq!(pdpp.fails(&["events", "listen", "--listen", "0.0.0.0:0"]).0, 64);
}
