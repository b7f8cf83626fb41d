//! Sessions: what a person sees who types these commands, kept as transcripts in `sessions/*.md` and typed again here.
//!
//! A transcript is Markdown with `console` blocks. A line after `$ ` is given to a shell in a home of its own; `? 64`
//! below it is the exit code, where that is not 0; the rest is what was shown, standard error included. What differs
//! from run to run (ids, tokens, times, ports) is put in its place, see `redaction`; an id put there may be typed on a
//! later line. `<!-- place: NAME -->` says where the session happens, see `place`. A command that runs until it is told
//! to end is followed by `# Ctrl-C after: WORDS`.
//!
//! `UPDATE_EXPECT=1` writes what is shown now into the transcripts, as for every other snapshot here. The format is the
//! one `trycmd` made known; its own runner cannot type an id that an earlier line printed, nor have a server or an owner
//! beside the shell, which half of these sessions need.

mod place;
mod redaction;
mod transcript;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

use crate::support::Pdpp;
use place::Place;
use redaction::Redaction;
use transcript::{Step, Transcript};

/// Every code that `exit.rs` promises.
const CODES: [i32; 11] = [0, 1, 2, 3, 4, 5, 64, 69, 74, 77, 78];

macro_rules! sessions {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                happens_again(stringify!($name));
            }
        )*
    };
}

sessions! {
    audit backup collect completions connect connect_denied connections copy demo disconnect doctor events export grant
    import man mcp migrate owner program read_aggregate read_blob read_fetch read_field_window read_query_records read_schema
    read_search read_streams restore serve setup streams subjects token trouble verify
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions").join(format!("{name}.md"))
}

fn kept(name: &str) -> Transcript {
    let text = fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("sessions/{name}.md: {error}"));
    Transcript::parse(&text)
}

/// Types the session again, and compares what is shown.
fn happens_again(name: &str) {
    let mut transcript = kept(name);
    let place = Place::open(transcript.place());
    let mut redaction = Redaction::new(&place, &transcript);
    for step in transcript.steps_mut() {
        let (code, shown) = place.run(&redaction.restored(&step.command));
        step.code = code;
        step.shown = redaction.redacted(&shown);
    }
    expect_file![path(name)].assert_eq(&transcript.to_string());
}

/// The commands of the program, each as its manual page is called: `pdpp-grant-create`.
fn commands() -> BTreeSet<String> {
    let pdpp = Pdpp::new();
    let dir = pdpp.path("man");
    pdpp.ok(&["man", &dir.display().to_string()]);
    let pages = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    pages.map(|page| page.trim_end_matches(".1").to_owned()).collect()
}

/// Whether other commands stand below this one.
fn is_a_group(command: &str, all: &BTreeSet<String>) -> bool {
    all.iter().any(|other| other.starts_with(&format!("{command}-")))
}

/// Which command is typed: the words after `pdpp`, as far as they name one.
fn typed(step: &Step, all: &BTreeSet<String>) -> Option<String> {
    let after = step.command.split(['|', ';']).find_map(|part| {
        let words: Vec<&str> = part.split_whitespace().skip_while(|word| *word != "pdpp").collect();
        (!words.is_empty()).then_some(words)
    })?;
    let joined = |count: usize| after[..count].join("-");
    (1..=after.len()).rev().map(joined).find(|name| all.contains(name))
}

/// A new command does not go without its help, a success and a failure that somebody has looked at.
#[test]
fn every_command_has_its_sessions() {
    let all = commands();
    let mut seen: BTreeMap<String, [bool; 3]> = BTreeMap::new();
    for name in NAMES {
        for step in kept(name).steps() {
            let Some(command) = typed(step, &all) else { continue };
            let help = step.command.ends_with(" -h") || step.command.ends_with(" --help");
            let [helped, succeeded, failed] = seen.entry(command).or_default();
            *helped |= help;
            *succeeded |= !help && step.code == 0;
            *failed |= step.code != 0;
        }
    }
    let mut missing = Vec::new();
    for command in &all {
        let [helped, succeeded, failed] = seen.get(command).copied().unwrap_or_default();
        let wanted = [
            ("its help", helped),
            ("a success", succeeded || is_a_group(command, &all)),
            ("a failure", failed),
        ];
        missing
            .extend(wanted.iter().filter(|(_, there)| !there).map(|(what, _)| format!("{command}: {what}")));
    }
    assert!(missing.is_empty(), "no session shows\n  {}", missing.join("\n  "));
}

#[test]
fn every_exit_code_is_met() {
    let met: BTreeSet<i32> =
        NAMES.iter().flat_map(|name| kept(name).steps().map(|step| step.code).collect::<Vec<_>>()).collect();
    assert_eq!(met, BTreeSet::from(CODES));
}

#[test]
fn every_transcript_is_typed_again() {
    let files = fs::read_dir(path("x").parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let transcripts: BTreeSet<String> = files
        .filter(|file| file.extension().is_some_and(|end| end == "md"))
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(transcripts, NAMES.iter().map(ToString::to_string).collect());
}
