//! `pdpp backup` and `pdpp restore`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::support::{Pdpp, text};

fn backup(pdpp: &Pdpp, name: &str) -> String {
    let file = pdpp.path(name).display().to_string();
    pdpp.ok(&["backup", &file]);
    file
}

/// The sample with an attachment.
fn with_blob() -> Pdpp {
    let pdpp = Pdpp::with_sample();
    let (server, token) = (pdpp.serve(), pdpp.owner_token());
    let path = "/v1/blobs?connector_id=harbour-chat&stream=messages&record_key=m_0001&json_path=%40record&mime_type=text%2Fplain";
    assert_eq!(server.client(&token).post(path, "text/plain", "rope and flour".to_owned()).status, 200);
    pdpp
}

fn left_beside(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".pdpp-")).collect()
}

#[test]
fn what_is_backed_up_under_a_running_server_comes_back_whole() {
    let pdpp = with_blob();
    let server = pdpp.serve();
    fs::write(pdpp.data().join("pdpp.toml"), "resource_name = \"Mine\"\n").unwrap();
    let file = backup(&pdpp, "all.tar");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(left_beside(&pdpp.path("")), Vec::<String>::new());
    drop(server);
    let elsewhere = pdpp.path("elsewhere").display().to_string();
    let told = pdpp.json(&["restore", &file, "--data", &elsewhere, "--json"]);
    assert_eq!(told["parts"], json!(5), "two databases, a blob, the settings and the key of events: {told}");
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        fs::read_to_string(Path::new(&elsewhere).join("pdpp.toml")).unwrap(),
        "resource_name = \"Mine\"\n"
    );
    let verified = pdpp.json(&["verify", "--data", &elsewhere, "--json"]);
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert!(verified["passages"].as_u64().unwrap() > 100, "the index was made again");
    assert_eq!(pdpp.json(&["streams", "--json"]), pdpp.json(&["streams", "--data", &elsewhere, "--json"]));
    assert_eq!(left_beside(&pdpp.path("")), Vec::<String>::new());
}

/// Ruling: a restore ends all access unless it is told otherwise, and no change token survives it.
#[test]
fn tokens_and_change_tokens_from_before_are_refused_after() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let owner = pdpp.owner_token();
    let server = pdpp.serve();
    let sync = |token: &str, since: &str| {
        server.client(token).get(&format!("/v1/streams/messages/records?limit=500&changes_since={since}"))
    };
    let page = sync(&token, "beginning");
    let change_token = text(&page.body["next_changes_since"]);
    assert_eq!(sync(&token, &change_token).status, 200);
    let file = backup(&pdpp, "all.tar");
    drop(server);
    for keep in [false, true] {
        let target = pdpp.path(if keep { "kept" } else { "plain" }).display().to_string();
        let mut args = vec!["restore", &file, "--data", &target];
        args.extend(keep.then_some("--keep-grants"));
        pdpp.ok(&args);
        let mut command = pdpp.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("PDPP_DATA", &target);
        let server = crate::support::Server::start(command);
        let read = |token: &str| server.client(token).get("/v1/streams/messages/records?limit=1").status;
        assert_eq!((read(&token), read(&owner)), if keep { (200, 200) } else { (401, 401) });
        let fresh = text(&pdpp.json(&["owner", "token", "--data", &target, "--json"])["access_token"]);
        let asking = if keep { &token } else { &fresh };
        let path = format!("/v1/streams/messages/records?changes_since={change_token}");
        let answer = server.client(asking).get(&path);
        let code = text(&answer.body["error"]["code"]);
        // Another reader's token is no cursor at all; the same reader's belongs to a history that is gone.
        assert_eq!(code, if keep { "cursor_expired" } else { "invalid_cursor" }, "{}", answer.body);
    }
}

#[test]
fn data_that_is_there_is_kept_aside_and_only_with_force() {
    let pdpp = Pdpp::with_sample();
    let file = backup(&pdpp, "all.tar");
    let (code, said) = pdpp.fails(&["restore", &file]);
    assert!(code == 64 && said.contains("--force"), "{code} {said}");
    let server = pdpp.serve();
    let (code, said) = pdpp.fails(&["restore", &file, "--force"]);
    assert!(code == 1 && said.contains("in use"), "{code} {said}");
    assert_eq!(server.client(&pdpp.owner_token()).get("/v1/streams").status, 200, "the server goes on");
    drop(server);
    let told = pdpp.json(&["restore", &file, "--force", "--json"]);
    let aside = text(&told["set_aside"]);
    assert!(Path::new(&aside).join("store.db").exists(), "{told}");
    assert!(pdpp.ok(&["verify"]).starts_with("all is well"));
    let ledger = pdpp.ok(&["audit"]);
    assert!(ledger.contains("restore"), "{ledger}");
}

#[test]
fn a_damaged_or_cut_backup_changes_nothing() {
    let pdpp = with_blob();
    let file = backup(&pdpp, "all.tar");
    let whole = fs::read(&file).unwrap();
    let target = pdpp.path("target").display().to_string();
    let check = |bytes: &[u8], said: &str| {
        let broken = pdpp.write("broken.tar", bytes);
        let (code, line) = pdpp.fails(&["restore", &broken, "--data", &target]);
        assert!(code != 0 && line.contains(said), "{code} {line}");
        assert!(!Path::new(&target).exists(), "nothing is half there");
        assert_eq!(left_beside(&pdpp.path("")), Vec::<String>::new());
    };
    check(&whole[..whole.len() / 2], "");
    check(&whole[..4096], "");
    check(b"", "no backup");
    check(b"something else entirely, and long enough to look like a header".repeat(40).as_slice(), "");
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xFF;
    check(&flipped, "damaged");
    let needle = b"rope and flour";
    let at = whole.windows(needle.len()).rposition(|window| window == needle).unwrap();
    let mut other = whole.clone();
    other[at] ^= 1;
    check(&other, "damaged");
}

#[test]
fn a_backup_says_what_is_wrong() {
    let pdpp = Pdpp::new();
    let file = pdpp.path("all.tar").display().to_string();
    let (code, said) = pdpp.fails(&["backup", &file]);
    assert!(code == 1 && said.contains("pdpp import"), "{code} {said}");
    let pdpp = Pdpp::with_sample();
    let file = backup(&pdpp, "all.tar");
    let (code, said) = pdpp.fails(&["backup", &file]);
    assert!(code == 64 && said.contains("there already"), "{code} {said}");
    pdpp.ok(&["backup", &file, "--force"]);
    let nowhere = pdpp.path("no/such/folder/all.tar").display().to_string();
    let (code, said) = pdpp.fails(&["backup", &nowhere]);
    assert!(code == 74 && said.contains("cannot write"), "{code} {said}");
    let (code, said) = pdpp.fails(&["restore", &pdpp.path("nothing.tar").display().to_string()]);
    assert!(code == 74 && said.contains("cannot open"), "{code} {said}");
    fs::remove_dir_all(pdpp.data().join("search")).unwrap();
    pdpp.ok(&["backup", &file, "--force"]);
}

/// The passphrase guards a restore, because what it brings back may be more than what is there.
#[test]
fn a_restore_asks_for_the_passphrase() {
    let pdpp = Pdpp::with_sample();
    let mut reset = pdpp.command(&["owner", "reset", "--passphrase-stdin"]);
    let secret = pdpp.write("secret", "correct horse\n");
    reset.stdin(fs::File::open(&secret).unwrap());
    assert!(reset.output().unwrap().status.success());
    let file = backup(&pdpp, "all.tar");
    let target = pdpp.path("target").display().to_string();
    let (code, said) = pdpp.fails(&["restore", &file, "--data", &target]);
    assert!(code == 64 && said.contains("passphrase"), "{code} {said}");
    assert!(!Path::new(&target).exists());
    let mut restore = pdpp.command(&["restore", &file, "--data", &target, "--passphrase-stdin"]);
    restore.stdin(fs::File::open(&secret).unwrap());
    let output = restore.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
