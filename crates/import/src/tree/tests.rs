//! Archives as people have them, and archives made to break a reader.

use std::io::{Cursor, Read as _, Write as _};
use std::sync::Arc;

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::testing::MemoryTree;

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // Written by hand: the library refuses to write what a hostile archive holds.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What an import sees: each entry with its text, then what was left out.
#[track_caller]
fn check(files: &[(&str, Vec<u8>)], expected: Expect) {
    let tree = MemoryTree::new(files.iter().map(|(path, bytes)| (*path, bytes.clone())));
    expected.assert_eq(&describe(tree, Bounds::default()));
}

fn describe(tree: MemoryTree, bounds: Bounds) -> String {
    let scratch: Arc<dyn Scratch> = Arc::new(InMemory);
    let mut tree = match Nested::open(Box::new(tree), &scratch, bounds) {
        Ok(tree) => tree,
        Err(error) => return format!("refused: {error}"),
    };
    let mut told = Vec::new();
    for index in 0..tree.entries().len() {
        let path = tree.entries()[index].path.clone();
        let mut text = String::new();
        let read = tree.open(index).and_then(|mut bytes| bytes.read_to_string(&mut text).map(|_| ()));
        told.push(match read {
            Ok(()) => format!("{path} = {text}"),
            Err(error) => format!("{path} ! {error}"),
        });
    }
    told.extend(
        tree.left_out()
            .iter()
            .map(|complaint| format!("left out {}: {}", complaint.where_, complaint.message)),
    );
    told.join("\n")
}

#[test]
fn archives_are_opened_wherever_they_lie() {
    let inner = zip_of(&[("chat.txt", b"hello")]);
    check(
        &[
            ("a.zip", zip_of(&[("x/one.txt", b"1"), ("inner.zip", &inner)])),
            ("b.tar.gz", gzip(&tar_of(&[("two.txt", b"2")]))),
            ("c.tar", tar_of(&[("three.txt", b"3")])),
            ("log.txt.gz", gzip(b"a single file")),
            ("note.md", b"plain".to_vec()),
        ],
        expect![[r"
            note.md = plain
            log.txt.gz/log.txt = a single file
            c.tar/three.txt = 3
            b.tar.gz/two.txt = 2
            a.zip/x/one.txt = 1
            a.zip/inner.zip/chat.txt = hello"]],
    );
}

#[test]
fn documents_that_are_zips_stay_files() {
    let bytes = zip_of(&[("word/document.xml", b"<w/>")]);
    let mut tree = MemoryTree::new([("Plan.docx", bytes)]).opened();
    assert_eq!(tree.entries()[0].path, "Plan.docx");
    assert!(tree.open(0).is_ok());
}

#[test]
fn paths_that_climb_out_and_links_are_never_opened() {
    let mut builder = tar::Builder::new(Vec::new());
    let mut link = tar::Header::new_ustar();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    link.set_path("link").unwrap();
    link.set_link_name("/etc/passwd").unwrap();
    link.set_cksum();
    builder.append(&link, &[][..]).unwrap();
    check(
        &[
            ("evil.zip", zip_of(&[("../../outside.txt", b"x"), ("ok.txt", b"fine"), ("/etc/cron", b"x")])),
            ("evil.tar", tar_of(&[("../up.txt", b"x"), ("ok.txt", b"fine")])),
            ("links.tar", builder.into_inner().unwrap()),
        ],
        expect![[r"
            evil.tar/ok.txt = fine
            evil.zip/ok.txt = fine
            left out links.tar/link: It is a link or a device, not a file; it was not followed.
            left out evil.tar/entry 1: Its path leads out of the archive, or is no path; it was not opened.
            left out evil.zip/entry 1: Its path leads out of the archive, or is no path; it was not opened.
            left out evil.zip/entry 3: Its path leads out of the archive, or is no path; it was not opened."]],
    );
}

#[test]
fn bombs_are_refused_before_they_are_unpacked() {
    let zeros = vec![0_u8; 80 << 20];
    let files = [
        ("bomb.zip", zip_of(&[("zeros", &zeros)])),
        ("bomb.gz", gzip(&zeros)),
        ("note.md", b"read".to_vec()),
    ];
    let told = describe(MemoryTree::new(files), Bounds::default());
    assert!(told.starts_with("note.md = read"), "{told}");
    assert!(told.contains("left out bomb.zip: Cannot be read: would unpack to 83886080 bytes"), "{told}");
    assert!(told.contains("left out bomb.gz: Cannot be read: unpacks to more than"), "{told}");
}

#[test]
fn an_entry_that_holds_more_than_it_says_is_cut_off() {
    let mut lying = zip_of(&[("a.txt", b"0123456789")]);
    // The size stands in the local header and again in the directory; say one instead of ten.
    let sizes: Vec<usize> = (0..lying.len() - 4).filter(|at| lying[*at..*at + 4] == [10, 0, 0, 0]).collect();
    assert!(!sizes.is_empty());
    for at in sizes {
        lying[at] = 1;
    }
    let told = describe(MemoryTree::new([("lying.zip", lying)]), Bounds::default());
    assert!(told.contains('!') || told.contains("left out") || told.ends_with("= 0"), "{told}");
}

#[test]
fn depth_and_number_are_bounded() {
    let mut nested = zip_of(&[("core.txt", b"x")]);
    for _ in 0..4 {
        nested = zip_of(&[("more.zip", &nested)]);
    }
    check(
        &[("deep.zip", nested)],
        expect![[
            "left out deep.zip/more.zip/more.zip/more.zip: More than 3 archives lie inside each other here."
        ]],
    );
    let few = Bounds { entries: 2, ..Bounds::default() };
    let many = MemoryTree::new([("a", "1"), ("b", "2"), ("c", "3")]);
    assert_eq!(describe(many, few), "refused: holds more than 2 files");
    let packed = MemoryTree::new([("m.zip", zip_of(&[("a", b"1"), ("b", b"2"), ("c", b"3")]))]);
    assert!(describe(packed, few).contains("holds more than 2 files"));
}

#[test]
fn archives_in_an_archive_share_its_measure() {
    let zeros = zip_of(&[("zeros", &vec![0_u8; 40 << 20])]);
    let names: Vec<String> = (0..6).map(|number| format!("{number}.zip")).collect();
    let inner: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), zeros.as_slice())).collect();
    let files = [("many.zip", zip_of(&inner)), ("note.md", b"read".to_vec())];
    let scratch: Arc<dyn Scratch> = Arc::new(InMemory);
    let tree = Nested::open(Box::new(MemoryTree::new(files)), &scratch, Bounds::default()).unwrap();
    let unpacked: u64 = tree.entries().iter().map(|entry| entry.bytes).sum();
    assert!(unpacked < 150 << 20, "{unpacked}");
    assert!(!tree.left_out().is_empty());
    assert_eq!(tree.entries()[0].path, "note.md");
}

#[test]
fn damaged_archives_are_one_complaint_each() {
    let whole = zip_of(&[("a.txt", b"hello hello hello"), ("b.txt", b"world")]);
    for cut in [30, whole.len() / 2, whole.len() - 3] {
        let told = describe(
            MemoryTree::new([("cut.zip", whole[..cut].to_vec()), ("note.md", b"read".to_vec())]),
            Bounds::default(),
        );
        assert!(told.starts_with("note.md = read") && told.contains("left out cut.zip"), "{told}");
    }
    let mut spoiled = whole;
    let at = spoiled.windows(5).position(|part| part == b"a.txt").unwrap() + 6;
    spoiled[at] ^= 0xff;
    let told = describe(MemoryTree::new([("spoiled.zip", spoiled)]), Bounds::default());
    assert!(told.contains("a.txt !") && told.contains("b.txt = world"), "{told}");
    let half = gzip(&tar_of(&[("a.txt", &[b'x'; 5000]), ("b.txt", b"y")]));
    let told =
        describe(MemoryTree::new([("half.tar.gz", half[..half.len() / 2].to_vec())]), Bounds::default());
    assert!(told.contains("left out half.tar.gz"), "{told}");
}

#[test]
fn a_million_files_are_listed_and_asked_about_in_bounded_time() {
    let files = (0..1_000_000).map(|number| (format!("export/{number:07}.bin"), Vec::new()));
    let mut tree = MemoryTree::new(files).opened();
    let found = crate::detect(&mut tree, crate::formats());
    assert_eq!((found.claims.len(), found.unknown.len()), (0, 1_000_000));
}
