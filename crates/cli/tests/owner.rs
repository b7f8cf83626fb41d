//! `pdpp owner`.

use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::support::Pdpp;

fn piped(pdpp: &Pdpp, args: &[&str], input: &str) -> Output {
    let mut command = pdpp.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn once_a_passphrase_exists_widening_access_asks_for_it() {
    let pdpp = Pdpp::with_sample();
    let before = pdpp.owner_token();
    let server = pdpp.serve();
    assert_eq!(server.client(&before).get("/v1/streams").status, 200);
    assert!(piped(&pdpp, &["owner", "reset", "--passphrase-stdin"], "correct horse\n").status.success());
    assert_eq!(server.client(&before).get("/v1/streams").status, 401, "a reset ends owner tokens");
    let (code, said) = pdpp.fails(&["owner", "token"]);
    assert!(code == 64 && said.contains("--passphrase-stdin"), "{said}");
    let create = ["grant", "create", "--client", "x", "--stream", "messages", "--passphrase-stdin"];
    assert!(!piped(&pdpp, &create, "wrong\n").status.success());
    assert!(piped(&pdpp, &create, "correct horse\n").status.success());
    assert!(piped(&pdpp, &["owner", "token", "--passphrase-stdin"], "correct horse\n").status.success());
}

#[test]
fn a_short_passphrase_is_refused() {
    let pdpp = Pdpp::new();
    let output = piped(&pdpp, &["owner", "reset", "--passphrase-stdin"], "short\n");
    assert_eq!(output.status.code(), Some(64));
}

#[cfg(unix)]
#[test]
fn the_data_directory_is_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let pdpp = Pdpp::with_sample();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&pdpp.data()), 0o700);
    for entry in std::fs::read_dir(pdpp.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}
