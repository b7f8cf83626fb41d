//! Data in a database: prepared once, then every command as over a directory, and several nodes at once.

use pdpp_testkit::PostgresServer;
use serde_json::json;

use crate::support::{Pdpp, Server, fixture, text};

fn sample(pdpp: &Pdpp) {
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")]);
}

#[test]
fn a_database_is_prepared_once_and_says_so_until_then() {
    let (database, pdpp) = (PostgresServer::of_this_run().empty(), Pdpp::new());
    let (code, said) = pdpp.fails(&["streams", "--database-url", &database.url()]);
    assert!(code == 74 && said.contains("run `pdpp migrate`"), "{code} {said}");
    let (code, said) = pdpp.fails(&["migrate"]);
    assert!(code == 64 && said.contains("--database-url"), "{said}");
    let url = database.url();
    let migrate = ["migrate", "--database-url", &url];
    assert!(pdpp.ok(&migrate).contains("is ready (version "));
    assert!(pdpp.ok(&migrate).contains("is up to date (version "));
    let said = pdpp.json(&[&migrate[..], &["--json"]].concat());
    assert_eq!(said["from"], said["to"]);
    let (code, said) = pdpp.fails(&["migrate", "--database-url", &url, "--partitions", "0"]);
    assert!(code == 64 && said.contains("--partitions"), "{said}");
}

#[test]
fn a_database_that_does_not_answer_is_named_without_its_password() {
    let pdpp = Pdpp::new();
    let (code, said) = pdpp.fails(&["streams", "--database-url", "postgres://ana:hunter2@127.0.0.1:1/pdpp"]);
    assert!(code == 74 && said.contains("postgres://ana@127.0.0.1:1/pdpp"), "{code} {said}");
    assert!(said.contains("see that the database runs") && !said.contains("hunter2"), "{said}");
}

/// A node without the key that all share is a wrong setting, which is not tried again and again.
#[test]
fn a_node_without_the_shared_key_is_told_how_to_get_one() {
    let database = PostgresServer::of_this_run().empty();
    let pdpp = Pdpp::over(&database);
    std::fs::remove_file(pdpp.data().join("events.key")).unwrap();
    let (code, said) = pdpp.fails(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(code == 64 && said.contains("--secrets-key-file"), "{code} {said}");
    let doctor = pdpp.ok(&["doctor"]);
    assert!(doctor.contains("note   events: there is no key for webhook secrets"), "{doctor}");
}

/// Import, grant, read, search, revoke, audit: what an owner does, with the data on a server.
#[test]
fn every_command_works_over_a_database() {
    let database = PostgresServer::of_this_run().empty();
    let pdpp = Pdpp::over(&database);
    sample(&pdpp);
    let streams = pdpp.json(&["streams", "--json"]);
    let counts: u64 = streams.as_array().unwrap().iter().map(|s| s["record_count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 156);
    let (token, grant_id) = pdpp.grant(&["--stream", "messages:id,text,sent_at"]);
    let found = pdpp.ok(&["read", "search", "berth", "--data", &pdpp.data().display().to_string()]);
    assert!(found.contains("Berth"), "{found}");
    let server = pdpp.serve();
    let client = server.client(&token);
    let page = client.get("/v1/streams/messages/records?limit=2");
    assert_eq!((page.status, page.body["data"].as_array().map(Vec::len)), (200, Some(2)), "{}", page.body);
    assert!(page.body["data"][0]["data"].get("author").is_none(), "{}", page.body);
    let hits = client.get("/v1/search?q=berth");
    assert_eq!(hits.body["meta"]["index"]["state"], json!("current"), "{}", hits.body);
    assert!(hits.body.to_string().contains("Berth"), "{}", hits.body);
    pdpp.ok(&["grant", "revoke", &grant_id]);
    assert_eq!(client.get("/v1/streams/messages/records").status, 403);
    let audit = pdpp.ok(&["audit", "--json"]);
    assert!(audit.lines().count() >= 3, "{audit}");
    let health = server.anonymous().get("/readyz");
    assert_eq!(health.status, 200, "{}", health.body);
    let doctor = pdpp.ok(&["doctor"]);
    assert!(doctor.contains("156 records"), "{doctor}");
}

/// What one node acknowledged the next request on another finds; what one revokes no other serves.
#[test]
fn nodes_over_one_database_are_one_server() {
    let database = PostgresServer::of_this_run().empty();
    let (one, two) = (Pdpp::over(&database), Pdpp::over(&database));
    sample(&one);
    let token = one.owner_token();
    let (reader, grant_id) = one.grant(&["--stream", "messages"]);
    let (first, second) = (one.serve(), two.serve());
    let line = json!({"key": "m_new", "data": {"id": "m_new", "channel_id": "c_garden", "author": "Ana",
        "text": "a porpoise in the basin", "sent_at": "2026-01-01T00:00:00Z"}});
    let accepted = first.client(&token).post(
        "/v1/ingest/messages?connector_id=harbour-chat",
        "application/x-ndjson",
        line.to_string(),
    );
    assert_eq!(accepted.body["records_accepted"], json!(1), "{}", accepted.body);
    let client = second.client(&reader);
    assert_eq!(client.get("/v1/streams/messages/records/m_new").status, 200);
    let hits = client.get("/v1/search?q=porpoise");
    assert_eq!(hits.body["data"][0]["record_key"], json!("m_new"), "{}", hits.body);
    // A page begun on one node goes on at another.
    let page = first.client(&reader).get("/v1/streams/messages/records?limit=5");
    let next = text(&page.body["links"]["next"]);
    let rest = client.get(&next);
    assert_eq!((rest.status, rest.body["data"].as_array().map(Vec::len)), (200, Some(5)), "{}", rest.body);
    two.ok(&["grant", "revoke", &grant_id]);
    for server in [&first, &second] {
        assert_eq!(server.client(&reader).get("/v1/streams/messages/records").status, 403);
    }
}

/// Owners share a database and nothing else.
#[test]
fn owners_of_one_database_see_their_own() {
    let database = PostgresServer::of_this_run().empty();
    let pdpp = Pdpp::over(&database);
    for owner in ["ana", "ben"] {
        pdpp.ok(&["subjects", "create", owner]);
    }
    let records = fixture("records.jsonl");
    let manifest = fixture("manifest.json");
    pdpp.ok(&["import", "--subject", "ana", "--manifest", &manifest, &records]);
    let count = |owner: &str| {
        let streams = pdpp.json(&["streams", "--json", "--subject", owner]);
        streams.as_array().unwrap().len()
    };
    assert_eq!((count("ana"), count("ben")), (3, 0));
    let token = text(&pdpp.json(&["owner", "token", "--subject", "ben", "--json"])["access_token"]);
    let server = pdpp.serve();
    let hits = server.client(&token).get("/v1/search?q=berth");
    assert_eq!(hits.body["meta"]["count"], json!(0), "{}", hits.body);
    let listed = pdpp.ok(&["subjects", "list"]);
    assert!(listed.contains("ana") && listed.contains("ben"), "{listed}");
}

/// A client that asks each node in turn may not ask more often for it.
#[test]
fn nodes_count_requests_together() {
    let database = PostgresServer::of_this_run().empty();
    let (one, two) = (Pdpp::over(&database), Pdpp::over(&database));
    sample(&one);
    let (reader, _) = one.grant(&["--stream", "messages"]);
    let serve = ["serve", "--listen", "127.0.0.1:0", "--requests-per-minute", "40"];
    let nodes = [Server::start(one.command(&serve)), Server::start(two.command(&serve))];
    let mut served = 0;
    for turn in 0..60 {
        let answer = nodes[turn % 2].client(&reader).get("/v1/streams");
        assert!(matches!(answer.status, 200 | 429), "{}", answer.body);
        served += usize::from(answer.status == 200);
    }
    assert!((38..=44).contains(&served), "{served} were served in one minute");
}

/// A database that comes from a backup has forgotten what was revoked since, and what clients were told since.
#[test]
fn a_database_that_was_brought_back_revives_no_access() {
    let database = PostgresServer::of_this_run().empty();
    let pdpp = Pdpp::over(&database);
    sample(&pdpp);
    let (reader, grant_id) = pdpp.grant(&["--stream", "messages:id,text,sent_at"]);
    let changes = |since: &str| {
        let server = pdpp.serve();
        server.client(&reader).get(&format!("/v1/streams/messages/records?limit=500&changes_since={since}"))
    };
    let told = text(&changes("beginning").body["next_changes_since"]);
    assert_eq!(changes(&told).status, 200);
    let kept = pdpp.json(&["migrate", "--restored", "--keep-grants", "--json"]);
    assert_eq!((&kept["kept_grants"], &kept["revoked_grants"]), (&json!(true), &json!(0)));
    let anew = changes(&told);
    assert_eq!((anew.status, &anew.body["error"]["code"]), (410, &json!("cursor_expired")), "{}", anew.body);
    assert_eq!(changes("beginning").status, 200, "access was kept");
    let said = pdpp.ok(&["migrate", "--restored"]);
    assert!(said.contains("1 grant and 1 token ended"), "{said}");
    assert_eq!(changes("beginning").status, 401);
    let shown = pdpp.ok(&["grant", "list"]);
    assert!(!shown.contains("active") || !shown.contains(&grant_id), "{shown}");
    let audit = pdpp.ok(&["audit", "--json"]);
    let restored = audit.lines().filter(|line| line.contains(r#""action":"restore""#)).count();
    assert_eq!(restored, 2, "every owner is told: {audit}");
    // What was not brought back needs none of it.
    assert!(pdpp.ok(&["migrate", "--restored"]).contains("0 grants and 0 tokens ended"));
    let (code, said) = pdpp.fails(&["migrate", "--keep-grants"]);
    assert!(code == 64 && said.contains("--restored"), "{code} {said}");
}

/// A node that would look for attachments where they are not does not start.
#[test]
fn a_node_that_looks_for_attachments_elsewhere_does_not_start() {
    let database = PostgresServer::of_this_run().empty();
    let pdpp = Pdpp::over(&database);
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")]);
    let (home, other) = (pdpp.path("attachments"), pdpp.path("elsewhere"));
    let (home, other) = (home.display().to_string(), other.display().to_string());
    let token = pdpp.owner_token();
    let serve = |place: &str| pdpp.command(&["serve", "--listen", "127.0.0.1:0", "--blobs-url", place]);
    let server = Server::start(serve(&home));
    let path = "/v1/blobs?connector_id=harbour-chat&stream=messages&record_key=m_0001&json_path=%40record&mime_type=text%2Fplain";
    let stored = server.client(&token).post(path, "text/plain", "words".to_owned());
    assert!(stored.status < 300, "{}", stored.body);
    drop(server);
    let (code, said) = pdpp.fails(&["serve", "--listen", "127.0.0.1:0", "--blobs-url", &other]);
    assert_eq!(code, 64, "{said}");
    assert!(said.contains(&format!("are in {home}, and {other} is another place")), "{said}");
    std::fs::create_dir_all(&other).unwrap();
    let moved = pdpp.ok(&["migrate", "--attachments-moved", "--blobs-url", &other]);
    assert!(moved.contains(&format!("its attachments are in {other}")), "{moved}");
    drop(Server::start(serve(&other)));
    let swept = pdpp.json(&["migrate", "--sweep-attachments", "--blobs-url", &other, "--json"]);
    let nothing = serde_json::json!({"seen": 0, "removed": 0, "removed_bytes": 0});
    assert_eq!(swept["swept_attachments"], nothing);
    let nowhere = pdpp.path("nowhere").display().to_string();
    let (code, said) = pdpp.fails(&["migrate", "--sweep-attachments", "--blobs-url", &nowhere]);
    assert!(code != 0 && said.contains("is another place"), "{code} {said}");
}
