//! The file a credential is kept in: whose it is, who can read it, what happens when it is broken.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{CHAT, Town};
use crate::support::text;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// 9.2-20, 9.3-13: made for its owner alone whatever the umask says, and repaired when somebody opened it.
#[test]
fn the_file_is_for_its_owner_alone() {
    let town = Town::new();
    let mut shell = Command::new("sh");
    let line = format!(
        "umask 000; exec '{}' connect {} --no-browser --json {}",
        env!("CARGO_BIN_EXE_pdpp"),
        town.url(),
        CHAT.join(" ")
    );
    shell.args(["-c", &line]).env_clear().env("HOME", town.asker.path("")).env("PATH", "/usr/bin:/bin");
    let mut asking = crate::support::Asking::start(shell);
    let consent = town.desk.follow(&asking.until("/oauth/authorize?"));
    let approved = town.desk.approve(&crate::support::query(&consent), None);
    town.desk.open(&crate::support::back(&approved));
    let (code, printed, said) = asking.end();
    assert_eq!(code, 0, "{said}");
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let path = text(&printed["path"]);
    let path = Path::new(&path);
    assert_eq!(mode(path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(
        std::fs::read_to_string(path.parent().unwrap().with_file_name(".gitignore")).unwrap(),
        "*\n!.gitignore\n"
    );
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    town.ok(&["read", "streams"]);
    assert_eq!(mode(path), 0o600, "closed again");
}

/// 9.3-13: a file that somebody else put there is not used. Only root can give a file away.
#[test]
fn a_file_of_another_user_is_refused() {
    let town = Town::new();
    let path = text(&town.connected(&CHAT)["path"]);
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_err() {
        return;
    }
    let (code, said) = town.fails(&["read", "streams", &town.url()]);
    assert!(code == 2 && said.contains("belongs to another user"), "{said}");
    let (code, said) = town.fails(&["token", &town.url()]);
    assert!(code == 69 && said.contains("credential_invalid"), "{said}");
}

#[test]
fn a_half_written_file_says_so_and_is_replaced() {
    let town = Town::new();
    let path = text(&town.connected(&CHAT)["path"]);
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (code, said) = town.fails(&["read", "streams", &town.url()]);
    assert!(code == 2 && said.contains("credential_invalid") && said.contains("pdpp connect"), "{said}");
    assert!(!said.contains("rt_"), "no token is shown: {said}");
    town.connected(&CHAT);
    town.ok(&["read", "streams"]);
}

#[test]
fn an_expired_credential_that_cannot_be_renewed_says_so() {
    let town = Town::new();
    let path = text(&town.connected(&[&CHAT[..], &["--single-use"]].concat())["path"]);
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(kept["credential"].get("refresh_token"), None);
    kept["credential"]["expires_at"] = json!("2020-01-01T00:00:00Z");
    std::fs::write(&path, kept.to_string()).unwrap();
    let (code, said) = town.fails(&["read", "streams", &town.url()]);
    assert!(code == 2 && said.contains("credential_expired"), "{said}");
    assert_eq!(town.fails(&["token", &town.url()]).0, 69);
}

/// A directory that cannot be written to: one line, the code for disks, and the token is given back.
#[test]
fn a_cache_that_cannot_be_written_keeps_nothing() {
    let town = Town::new();
    let blocked = town.asker.write("blocked", "a file, where a directory is needed");
    let mut asking = town.connect(&[&["--no-browser", "--cache-root", &blocked][..], &CHAT].concat());
    let consent = town.desk.follow(&asking.until("/oauth/authorize?"));
    let approved = town.desk.approve(&crate::support::query(&consent), None);
    town.desk.open(&crate::support::back(&approved));
    let (code, printed, said) = asking.end();
    assert!(code == 74 && printed.is_empty() && said.contains("cannot be kept"), "{code} {said}");
    let ledger = town.pdpp.ok(&["audit", "--json"]);
    assert!(ledger.contains("token.revoke"), "{ledger}");
}

/// Two servers have two files, an older file is still read, and a server is named when there are several.
#[test]
fn each_server_has_its_own_file() {
    let town = Town::new();
    let path = text(&town.connected(&CHAT)["path"]);
    let other = Town::new();
    let root = Path::new(&path).parent().unwrap().parent().unwrap().display().to_string();
    let older = Path::new(&path).with_file_name(format!("{}.json", other.server.address().replace(':', "_")));
    let (token, _) = other.pdpp.grant(&["--stream", "channels"]);
    std::fs::write(
        &older,
        json!({"provider_url": other.url(), "credential": {"access_token": token}}).to_string(),
    )
    .unwrap();
    let (code, said) = town.fails(&["read", "streams"]);
    assert!(code == 2 && said.contains("several servers") && said.contains(&other.url()), "{said}");
    assert!(town.ok(&["read", "streams", &other.url()]).contains("channels"));
    assert!(town.ok(&["read", "streams", "--url", &town.url(), "--cache-root", &root]).contains("messages"));
    assert_eq!(town.fails(&["token"]).0, 64, "which server?");
}
