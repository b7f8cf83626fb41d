//! Small address books from invented people, and everything that can be wrong with one.

use expect_test::expect_file;

use super::*;
use crate::testing::{MemoryTree, read, survives_damage};

#[test]
fn invented_address_books_become_records() {
    let kept = read(&Vcf, &mut MemoryTree::fixture("contacts"));
    expect_file!["../../../../fixtures/exports/contacts.snap"].assert_eq(&kept.describe());
}

#[test]
fn pictures_are_claimed_only_beside_a_group() {
    let mut tree = MemoryTree::fixture("contacts");
    let found = crate::detect(&mut tree, &[&Vcf]);
    assert_eq!(found.claims[0].1.found, "5 address books");
    let unknown: Vec<&str> = found.unknown.iter().map(|index| tree.entries()[*index].path.as_str()).collect();
    assert_eq!(unknown, ["phones/holiday.jpg", "phones/notes.vcf"]);
}

#[test]
fn damage_is_survived() {
    survives_damage(&Vcf, &MemoryTree::fixture("contacts"));
}

#[test]
fn the_same_file_gives_the_same_records_and_an_edit_changes_one() {
    let tree = MemoryTree::fixture("contacts");
    let first = read(&Vcf, &mut tree.clone());
    assert_eq!(first.describe(), read(&Vcf, &mut tree.clone()).describe());
    let mut edited = tree;
    for path in ["Contacts/All Contacts/All Contacts.vcf", "Contacts/My Contacts/My Contacts.vcf"] {
        let bytes = edited.bytes_mut(path);
        *bytes = String::from_utf8_lossy(bytes).replace("TITLE:Rigger", "TITLE:Captain").into_bytes();
    }
    let second = read(&Vcf, &mut edited);
    assert_eq!(first.records.len(), second.records.len());
    let changed = first.records.iter().zip(&second.records).filter(|(a, b)| a != b);
    let changed: Vec<_> = changed.map(|(a, b)| (a.key == b.key, &b.data["title"])).collect();
    assert_eq!(changed, [(true, &serde_json::json!("Captain"))]);
}

#[test]
fn keys_are_given_once() {
    let kept = read(&Vcf, &mut MemoryTree::fixture("contacts"));
    let keys: std::collections::BTreeSet<_> =
        kept.records.iter().map(|draft| (&draft.stream, &draft.key)).collect();
    assert_eq!(keys.len(), kept.records.len());
}

#[test]
fn hostile_cards_come_to_their_end() {
    let many = format!("BEGIN:VCARD\nFN:Ann\n{}END:VCARD\n", "NICKNAME:a,b\n".repeat(20_000));
    let nested = "BEGIN:VCARD\nAGENT:\n".repeat(5000);
    let long = format!("BEGIN:VCARD\nFN:Ann\nNOTE:{}\nEND:VCARD\n", "x".repeat(9 * 1024 * 1024));
    for text in
        ["BEGIN:VCARD", "BEGIN:VCARD\nEND:VCARD", "BEGIN:VCARD\n\0:\0\nEND:VCARD", &many, &nested, &long]
    {
        read(&Vcf, &mut MemoryTree::new([("a.vcf", text)]));
    }
}
