//! Disks that are full or cannot be written: one line that says so, the right code, nothing half done.

use std::fs;
use std::process::Command;

use crate::support::{Pdpp, fixture};

/// The command where no file may grow beyond so many blocks of 512 bytes; the engine's own side file needs 64. The signal that would end it is ignored, so
/// that writing fails as on a full disk.
fn cramped(pdpp: &Pdpp, blocks: u32, args: &[&str]) -> Command {
    let script = format!("trap '' 25; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_pdpp")]).args(args);
    command.env_clear().env("PDPP_DATA", pdpp.data()).env("HOME", pdpp.path("")).env("PATH", "/usr/bin:/bin");
    command
}

#[track_caller]
fn fails(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_full_disk_stops_an_import_with_one_line() {
    let pdpp = Pdpp::new();
    let mut command =
        cramped(&pdpp, 80, &["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")]);
    let (code, said) = fails(&mut command);
    assert_eq!(code, 74, "{said}");
    assert_eq!(said.trim().lines().count(), 1, "{said}");
}

#[test]
fn a_full_disk_leaves_no_half_of_a_backup_or_an_export() {
    let pdpp = Pdpp::with_sample();
    let file = pdpp.path("all.tar").display().to_string();
    for args in [&["backup", &file] as &[&str], &["export", "--format", "sqlite", &file]] {
        let (code, said) = fails(&mut cramped(&pdpp, 100, args));
        assert_eq!(code, 74, "{args:?}: {said}");
        let left: Vec<_> =
            fs::read_dir(pdpp.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name == "all.tar"), "{left:?}");
    }
    pdpp.ok(&["verify"]);
}

#[test]
fn a_full_disk_half_way_through_a_restore_changes_nothing() {
    let pdpp = Pdpp::with_sample();
    let file = pdpp.path("all.tar").display().to_string();
    pdpp.ok(&["backup", &file]);
    let target = pdpp.path("target").display().to_string();
    let (code, said) = fails(&mut cramped(&pdpp, 100, &["restore", &file, "--data", &target]));
    assert_eq!(code, 74, "{said}");
    assert!(!pdpp.path("target").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let pdpp = Pdpp::with_sample();
    for (args, said) in [
        (vec!["backup", "/proc/all.tar"], "cannot write in /proc"),
        (vec!["export", "/proc/all"], "cannot make /proc/all"),
        (vec!["export", "--format", "sqlite", "/proc/all"], "cannot write in /proc"),
        (vec!["demo", "--once", "--keep", "/proc/demo"], "/proc/demo"),
        (vec!["man", "/proc/man"], "cannot write in /proc/man"),
    ] {
        let (code, line) = pdpp.fails(&args);
        assert!(code == 74 && line.contains(said), "{args:?}: {code} {line}");
    }
}

#[test]
fn output_nobody_can_take_is_an_error_and_a_closed_pipe_is_none() {
    let pdpp = Pdpp::with_sample();
    pdpp.grant(&["--stream", "messages"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = pdpp.command(&["grant", "list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{}", String::from_utf8_lossy(&output.stderr));
    let script = "\"$0\" completions bash | head -1";
    let output = Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {script}"), env!("CARGO_BIN_EXE_pdpp")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
