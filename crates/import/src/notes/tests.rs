//! An invented vault, an invented export of Notion, and notes that are spoilt.

use std::fmt::Write as _;

use expect_test::{expect, expect_file};

use super::*;
use crate::detect;
use crate::testing::{MemoryTree, read, survives_damage};

#[test]
fn the_sample_vault_is_read() {
    let kept = read(&NoteFolder, &mut MemoryTree::fixture("notes"));
    expect_file!["../../../../fixtures/exports/notes.snap"].assert_eq(&kept.describe());
}

#[test]
fn the_sample_export_of_notion_is_read() {
    let kept = read(&NoteFolder, &mut MemoryTree::fixture("notion"));
    expect_file!["../../../../fixtures/exports/notion.snap"].assert_eq(&kept.describe());
}

#[test]
fn every_sample_is_taken_whole_by_its_own_format() {
    let formats: [&dyn Format; 3] = [&crate::chatgpt::ChatGpt, &crate::claude::Claude, &NoteFolder];
    for (sample, place) in [("chatgpt", 0), ("claude", 1), ("notes", 2), ("notion", 2)] {
        let detected = detect(&mut MemoryTree::fixture(sample), &formats);
        let places: Vec<usize> = detected.claims.iter().map(|(place, _)| *place).collect();
        assert_eq!((places, detected.unknown), (vec![place], vec![]), "{sample}");
    }
}

#[test]
fn a_vault_takes_all_its_files_and_reads_none_of_its_settings() {
    let mut tree = MemoryTree::fixture("notes");
    let detected = detect(&mut tree, &[&NoteFolder]);
    let [(0, claim)] = detected.claims.as_slice() else { panic!("{detected:?}") };
    expect!["7 notes of a vault, 4 other files"].assert_eq(&claim.found);
    assert!(claim.account.is_none() && detected.unknown.is_empty(), "{detected:?}");
}

#[test]
fn where_a_vault_lies_does_not_change_its_records() {
    let here = MemoryTree::new([(".obsidian/app.json", "{}"), ("A.md", "[[C]]"), ("b/C.md", "x")]);
    let there = MemoryTree::new([
        ("x.zip/V/.obsidian/app.json", "{}"),
        ("x.zip/V/A.md", "[[C]]"),
        ("x.zip/V/b/C.md", "x"),
    ]);
    let told = |mut tree: MemoryTree| read(&NoteFolder, &mut tree).describe();
    assert_eq!(told(here), told(there));
}

#[test]
fn two_vaults_are_told_apart_by_their_folders() {
    let mut tree = MemoryTree::new([
        ("Work/.obsidian/a.json", "{}"),
        ("Work/A.md", "a"),
        ("Home/.obsidian/a.json", "{}"),
        ("Home/A.md", "a"),
        ("loose.md", "l"),
    ]);
    let detected = detect(&mut tree, &[&NoteFolder]);
    let accounts: Vec<_> = detected.claims.iter().map(|(_, claim)| claim.account.as_deref()).collect();
    assert_eq!(accounts, [None, Some("Home"), Some("Work")]);
}

#[test]
fn little_is_taken_where_notes_are_not_the_point() {
    let claimed = |paths: &[&str]| {
        let mut tree = MemoryTree::new(paths.iter().map(|path| (*path, "x")));
        let detected = detect(&mut tree, &[&NoteFolder]);
        let mut taken: Vec<&str> =
            detected.claims.iter().flat_map(|(_, claim)| &claim.entries).map(|index| paths[*index]).collect();
        taken.sort_unstable();
        taken.join(" ")
    };
    assert_eq!(claimed(&["README.md", "data.json", "photos/a.jpg"]), "");
    assert_eq!(claimed(&["README.md"]), "README.md");
    assert_eq!(claimed(&["photos/a.jpg", "list.txt"]), "");
    assert_eq!(
        claimed(&[
            "n/a.md",
            "n/b.txt",
            "n/c.png",
            "n/d.json",
            "n/assets/e.png",
            "n/x/f.png",
            "g.txt",
            "n/.git/h.md"
        ]),
        "n/a.md n/assets/e.png n/b.txt n/c.png"
    );
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&NoteFolder, &MemoryTree::fixture("notes"));
    survives_damage(&NoteFolder, &MemoryTree::fixture("notion"));
}

#[test]
fn reading_twice_gives_the_same_and_an_edit_changes_its_record_only() {
    let mut tree = MemoryTree::fixture("notes");
    let first = read(&NoteFolder, &mut tree);
    assert_eq!(first.records, read(&NoteFolder, &mut tree).records);
    tree.bytes_mut("Crew/Mara.md").extend_from_slice(b"And sings.\n");
    let second = read(&NoteFolder, &mut tree);
    let changed: Vec<_> = second.records.iter().filter(|draft| !first.records.contains(draft)).collect();
    assert!(matches!(changed.as_slice(), [draft] if draft.data["title"] == "Mara"), "{changed:?}");
}

#[test]
fn front_matter_that_unfolds_to_too_much_is_a_complaint_and_the_note_is_kept() {
    let mut text = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..20 {
        writeln!(text, "a{n}: &a{n} [{}]", [format!("*a{}", n - 1).as_str(); 10].join(", ")).unwrap();
    }
    text.push_str("---\nbody\n");
    let kept = read(&NoteFolder, &mut MemoryTree::new([("a.md", text.as_str())]));
    assert_eq!(
        kept.of("notes").next().map(|draft| draft.data["body"].as_str().unwrap()),
        Some(text.as_str())
    );
    assert!(matches!(kept.complaints.as_slice(), [one] if one.message.contains("unfolds to too much")));
}

#[test]
fn odd_bytes_are_still_notes() {
    let deep = format!("---\na: {}\n---\nx", "[".repeat(5000));
    let quotes = "> ".repeat(50_000);
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("nul.md", b"a\0b\0\0 #tag".to_vec()),
        ("deep.md", deep.into_bytes()),
        ("line.md", vec![b'x'; 1 << 20]),
        ("quotes.md", quotes.into_bytes()),
        ("half.md", b"\xff\xfea".to_vec()),
        ("same.md", b"first".to_vec()),
        ("same.md", b"second".to_vec()),
        ("huge.md", vec![b' '; (8 << 20) + 1]),
    ];
    let kept = read(&NoteFolder, &mut MemoryTree::new(files));
    assert_eq!(kept.of("notes").count(), 6);
    let told: Vec<_> = kept.complaints.iter().map(|one| format!("{}: {}", one.where_, one.message)).collect();
    expect![[r#"
        [
            "deep.md line 2: The front matter cannot be read: it is not YAML. The note was kept whole.",
            "huge.md: Cannot be read: larger than 8388608 bytes.",
            "same.md: A note of this name or id came before; the first was kept.",
        ]
    "#]]
    .assert_debug_eq(&told);
}
