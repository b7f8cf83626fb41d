//! `pdpp completions` and `pdpp man`.

use std::fs;

use crate::support::Pdpp;

#[test]
fn every_shell_gets_its_completions() {
    let pdpp = Pdpp::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = pdpp.ok(&["completions", shell]);
        assert!(script.contains("pdpp") && script.contains("backup"), "{shell}");
    }
    let (code, said) = pdpp.fails(&["completions", "tcsh"]);
    assert!(code == 64 && said.contains("possible values"), "{said}");
}

#[test]
fn every_command_has_a_manual_page() {
    let pdpp = Pdpp::new();
    let dir = pdpp.path("man").display().to_string();
    pdpp.ok(&["man", &dir]);
    for page in ["pdpp.1", "pdpp-grant.1", "pdpp-grant-create.1", "pdpp-backup.1", "pdpp-read-search.1"] {
        let text = fs::read_to_string(pdpp.path("man").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(!pdpp.path("man").join("pdpp-reference.1").exists());
}

/// One sentence each, and the same words as in the reference.
#[test]
fn every_command_explains_itself() {
    let pdpp = Pdpp::new();
    for command in [
        &["demo"] as &[&str],
        &["grant"],
        &["grant", "create"],
        &["audit"],
        &["backup"],
        &["restore"],
        &["export"],
        &["verify"],
        &["doctor"],
        &["completions"],
        &["man"],
        &["streams"],
        &["connections"],
        &["owner"],
    ] {
        let help = pdpp.ok(&[command, &["--help"]].concat());
        assert!(help.contains("Usage: pdpp "), "{help}");
        let (code, said) = pdpp.fails(&[command, &["--no-such-flag"]].concat());
        assert!(code == 64 && said.contains("--no-such-flag"), "{command:?}: {code} {said}");
    }
}
