//! `pdpp subjects`, and whose data every other command means.

use crate::support::{Pdpp, fixture, text};

/// What the sample import takes.
fn import<'a>(manifest: &'a str, records: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["import", "--manifest", manifest, records][..], more].concat()
}

fn records(pdpp: &Pdpp, args: &[&str]) -> u64 {
    let streams = pdpp.json(&[&["streams", "--json"], args].concat());
    streams.as_array().unwrap().iter().map(|stream| stream["record_count"].as_u64().unwrap()).sum()
}

#[test]
fn a_command_works_on_the_data_of_the_owner_it_names_alone() {
    let pdpp = Pdpp::with_sample();
    let (manifest, lines) = (fixture("manifest.json"), fixture("records.jsonl"));
    let (code, said) = pdpp.fails(&import(&manifest, &lines, &["--subject", "ana"]));
    assert!(code == 64 && said.contains("pdpp subjects create ana"), "{said}");
    pdpp.ok(&["subjects", "create", "ana"]);
    assert_eq!((records(&pdpp, &[]), records(&pdpp, &["--subject", "ana"])), (156, 0));
    pdpp.ok(&import(&manifest, &lines, &["--subject", "ana"]));
    assert_eq!((records(&pdpp, &[]), records(&pdpp, &["--subject", "ana"])), (156, 156));
    let create = ["grant", "create", "--client", "assistant", "--stream", "messages", "--json"];
    let granted = pdpp.json(&[&create[..], &["--subject", "ana"]].concat());
    let id = text(&granted["grant_id"]);
    let all = |args: &[&str]| pdpp.json(&[&["grant", "list", "--json"], args].concat()).to_string();
    assert!(all(&["--subject", "ana"]).contains(&id) && !all(&[]).contains(&id));
    let (_, said) = pdpp.fails(&["grant", "revoke", &id]);
    assert!(said.contains("no grant") || said.contains("There is no"), "{said}");
    pdpp.ok(&["grant", "revoke", &id, "--subject", "ana"]);
}

/// A token carries its owner; the server serves each theirs.
#[test]
fn one_server_serves_each_owners_token_their_own_data() {
    let pdpp = Pdpp::with_sample();
    pdpp.ok(&["subjects", "create", "ana"]);
    let (own, anas) = (pdpp.owner_token(), pdpp.json(&["owner", "token", "--subject", "ana", "--json"]));
    let server = pdpp.serve();
    let count = |token: &str| {
        let streams = server.client(token).get("/v1/streams").body;
        streams["data"].as_array().unwrap().len()
    };
    assert_eq!((count(&own), count(&text(&anas["access_token"]))), (3, 0));
    let entries = |args: &[&str]| pdpp.ok(&[&["audit", "--json"], args].concat()).contains("\"streams\"");
    assert!(entries(&[]) && entries(&["--subject", "ana"]));
}

/// Where one owner was made and nobody is the usual one, nobody need be named.
#[test]
fn the_only_owner_need_not_be_named_and_one_of_several_must_be() {
    let pdpp = Pdpp::new();
    pdpp.ok(&["subjects", "create", "ana"]);
    let (manifest, lines) = (fixture("manifest.json"), fixture("records.jsonl"));
    pdpp.ok(&import(&manifest, &lines, &[]));
    assert_eq!(records(&pdpp, &["--subject", "ana"]), 156);
    pdpp.ok(&["subjects", "create", "ben"]);
    let (code, said) = pdpp.fails(&["streams"]);
    assert!(code == 64 && said.contains("--subject NAME"), "{said}");
    std::fs::write(pdpp.data().join("pdpp.toml"), "subject = \"ben\"\n").unwrap();
    assert_eq!(records(&pdpp, &[]), 0);
    assert_eq!(records(&pdpp, &["--subject", "ana"]), 156, "a flag wins over the file");
}

/// A quota bounds imports and requests, and says what is used of it.
#[test]
fn an_operator_bounds_what_an_owner_keeps_and_asks() {
    let pdpp = Pdpp::new();
    let (manifest, lines) = (fixture("manifest.json"), fixture("records.jsonl"));
    pdpp.ok(&["subjects", "create", "ana"]);
    let (code, said) = pdpp.fails(&["subjects", "quota", "nina", "--records", "1"]);
    assert!(code == 64 && said.contains("pdpp subjects create nina"), "{said}");
    pdpp.ok(&["subjects", "quota", "ana", "--records", "100", "--requests-per-minute", "2"]);
    pdpp.ok(&["subjects", "quota", "ana", "--bytes", "1000000"]);
    let quota = |args: &[&str]| pdpp.json(&[&["subjects", "quota", "ana", "--json"], args].concat());
    assert_eq!(
        quota(&[])["quota"],
        serde_json::json!({"records": 100, "bytes": 1_000_000, "requests_per_minute": 2})
    );
    let output = pdpp.command(&import(&manifest, &lines, &[])).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(said.contains("messages m_0077: The quota is 100 records, 100 are used"), "{said}");
    assert_eq!(records(&pdpp, &[]), 100);
    let used = quota(&[])["used"].clone();
    assert_eq!(used["records"], 100);
    assert!(used["bytes"].as_u64().unwrap() > 1_000, "{used}");
    assert_eq!(pdpp.json(&["subjects", "show", "ana", "--json"])["used"], used);
    let token = text(&pdpp.json(&["owner", "token", "--json"])["access_token"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    let statuses: Vec<_> = (0..3).map(|_| client.get("/v1/streams").status).collect();
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(quota(&["--none", "--records", "7"])["quota"]["bytes"], serde_json::Value::Null);
    pdpp.ok(&["subjects", "quota", "ana", "--none"]);
    pdpp.ok(&import(&manifest, &lines, &[]));
    assert_eq!(records(&pdpp, &[]), 156);
    assert!(!pdpp.ok(&["subjects", "show", "ana"]).contains("QUOTA"));
}

const SECRET: &str = "hunter2";

/// A password that was given in any way is in nothing that is printed.
#[test]
fn a_databases_password_is_never_printed() {
    let pdpp = Pdpp::with_sample();
    let url = |scheme: &str| format!("{scheme}://ana:{SECRET}@127.0.0.1:1/pdpp");
    let shown = |args: &[&str], env: Option<&str>| {
        let mut command = pdpp.command(args);
        let output = command.envs(env.map(|url| ("PDPP_DATABASE_URL", url))).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    };
    for args in [&["streams"][..], &["doctor"], &["doctor", "--json"], &["serve", "--listen", "127.0.0.1:0"]]
    {
        for scheme in ["mysql", "postgres"] {
            let url = url(scheme);
            for (code, said) in
                [shown(&[args, &["--database-url", &url]].concat(), None), shown(args, Some(&url))]
            {
                assert!(code != 0 && !said.contains(SECRET), "{args:?}: {said}");
            }
        }
    }
    let (code, said) = shown(&["streams"], Some(&url("mysql")));
    assert!(code == 64 && said.contains("postgres://USER"), "{said}");
    let (_, said) = shown(&["streams", "--help"], Some(&url("postgres")));
    assert!(said.contains("PDPP_DATABASE_URL") && !said.contains(SECRET), "{said}");
    std::fs::write(pdpp.data().join("pdpp.toml"), format!("database_url = \"{}\n", url("postgres"))).unwrap();
    let (code, said) = shown(&["streams"], None);
    assert!(code == 64 && said.contains("pdpp.toml") && !said.contains(SECRET), "{said}");
}

#[test]
fn what_needs_a_data_directory_says_so_where_there_is_a_database() {
    let pdpp = Pdpp::with_sample();
    let file = pdpp.path("backup.tar").display().to_string();
    for args in [&["backup", &file][..], &["restore", &file], &["verify"]] {
        let (code, said) = pdpp.fails(&[args, &["--database-url", "postgres://127.0.0.1:1/pdpp"]].concat());
        assert!(code == 64 && said.contains("needs a data directory") && said.contains("pg_dump"), "{said}");
    }
}
