//! Whole exports made to break an import: each is reported or refused in bounded memory, the rest is loaded, and
//! nothing is written but the store.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::exports::{exports, samples};
use crate::support::Pdpp;

const NOTE: &str = "# Good\n\nThe good note.\n";

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_of(files: &[(&str, tar::EntryType, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, kind, content) in files {
        let mut header = tar::Header::new_ustar();
        let bytes = if *kind == tar::EntryType::Regular { content.as_bytes() } else { &[] };
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        // Written by hand: the library refuses to write what a hostile archive holds.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        if *kind != tar::EntryType::Regular {
            header.as_old_mut().linkname[..content.len()].copy_from_slice(content.as_bytes());
        }
        header.set_cksum();
        builder.append(&header, bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A folder with the good note and whatever a test puts beside it.
fn folder(pdpp: &Pdpp, files: &[(&str, Vec<u8>)]) -> String {
    named_folder(pdpp, "export", &[files, &[("good.md", NOTE.as_bytes().to_vec())]].concat())
}

fn named_folder(pdpp: &Pdpp, name: &str, files: &[(&str, Vec<u8>)]) -> String {
    let folder = pdpp.path(name);
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder.display().to_string()
}

/// Everything the store holds, as text.
fn everything(pdpp: &Pdpp) -> String {
    let out = pdpp.path("everything");
    pdpp.ok(&["export", out.to_str().unwrap()]);
    let mut all = String::new();
    let mut pending = vec![out];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                all.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
            }
        }
    }
    all
}

#[test]
fn bombs_are_refused_and_the_rest_is_loaded() {
    let pdpp = Pdpp::new();
    let zeros = vec![0_u8; 100 << 20];
    let single = zip_of(&[("mail/huge.mbox", &zeros)]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&zeros).unwrap();
    // Each stays below what any archive may unpack to; together they do not.
    let part = zip_of(&[("huge.mbox", &zeros[..50 << 20])]);
    let names: Vec<String> = (0..40).map(|number| format!("{number}.zip")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), part.as_slice())).collect();
    let mut deep = zip_of(&[("core.md", b"# Core\n")]);
    for _ in 0..8 {
        deep = zip_of(&[("more.zip", &deep)]);
    }
    let files = [
        ("single.zip", single),
        ("single.mbox.gz", gzip.finish().unwrap()),
        ("many.zip", zip_of(&many)),
        ("deep.zip", deep),
    ];
    let path = folder(&pdpp, &files);
    let import = pdpp.watched_import(&[&path]);
    let told = import.complaints();
    for place in ["single.zip", "single.mbox.gz", "many.zip/", "deep.zip/more.zip/more.zip/more.zip"] {
        assert!(told.contains(place), "{place} is not among {told}");
    }
    assert!(told.contains("would unpack to") && told.contains("too_deep"), "{told}");
    assert!(import.status.success() && everything(&pdpp).contains("The good note."), "{}", import.said);
    pdpp.is_well();
}

#[test]
fn paths_that_lead_out_are_never_opened() {
    let pdpp = Pdpp::new();
    let bad = [
        "../../outside.md",
        "/tmp/pdpp-outside.md",
        "C:\\outside.md",
        "..\\..\\outside.md",
        "a/../../outside.md",
    ];
    let named: Vec<(&str, &[u8])> = bad.iter().map(|name| (*name, &b"# Smuggled\n"[..])).collect();
    let tarred: Vec<_> = bad.iter().map(|name| (*name, tar::EntryType::Regular, "# Smuggled\n")).collect();
    let path = folder(&pdpp, &[("bad.zip", zip_of(&named)), ("bad.tar", tar_of(&tarred))]);
    let import = pdpp.watched_import(&[&path]);
    let told = import.complaints();
    assert!(import.status.success(), "{}", import.said);
    assert_eq!(told.matches("leads out of the archive").count(), 2 * bad.len(), "{told}");
    assert!(!everything(&pdpp).contains("Smuggled"));
    assert!(!pdpp.path("outside.md").exists() && !Path::new("/tmp/pdpp-outside.md").exists());
    pdpp.is_well();
}

#[cfg(unix)]
#[test]
fn links_are_told_and_never_followed() {
    let pdpp = Pdpp::new();
    let secret = pdpp.write("secret.md", "# Private\n\nThe canary sings.\n");
    let outside = pdpp.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("far.md"), "# Far\n\nThe canary sings.\n").unwrap();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("zipped.md", &secret, SimpleFileOptions::default()).unwrap();
    zip.add_symlink("zipped", outside.to_str().unwrap(), SimpleFileOptions::default()).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    let short = "../secret.md";
    let tar = tar_of(&[
        ("tarred.md", tar::EntryType::Symlink, short),
        ("hard.md", tar::EntryType::Link, short),
        ("pipe.md", tar::EntryType::Fifo, ""),
    ]);
    let path = folder(&pdpp, &[("links.zip", zip), ("links.tar", tar)]);
    let export = Path::new(&path);
    std::os::unix::fs::symlink(&secret, export.join("linked.md")).unwrap();
    std::os::unix::fs::symlink(&outside, export.join("linked")).unwrap();
    std::os::unix::fs::symlink(export, export.join("circle")).unwrap();
    let import = pdpp.watched_import(&[&path]);
    let told = import.complaints();
    for place in [
        "linked.md",
        "export/linked\"",
        "circle",
        "links.zip/zipped.md",
        "links.zip/zipped\"",
        "tarred.md",
        "hard.md",
        "pipe.md",
    ] {
        assert!(told.contains(place), "{place} is not among {told}");
    }
    let all = everything(&pdpp);
    assert!(all.contains("The good note.") && !all.contains("canary"), "{all}");
    pdpp.is_well();
}

#[test]
fn a_zip_of_a_million_entries_is_refused_before_its_directory_is_read() {
    let pdpp = Pdpp::new();
    let path = folder(&pdpp, &[("million.zip", million_entries())]);
    let import = pdpp.watched_import(&[&path]);
    assert!(import.status.success(), "{}", import.said);
    assert!(import.complaints().contains("holds more than 250000 files"), "{}", import.complaints());
    assert!(import.peak_mib < 100, "{} MiB", import.peak_mib);
    pdpp.is_well();
}

/// One empty file under a million names: written without a library, which would take minutes.
fn million_entries() -> Vec<u8> {
    const COUNT: u64 = 1_000_000;
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend_from_slice(&[20, 0, 0, 0, 0, 0, 0, 0, 33, 0]);
    bytes.extend_from_slice(&[0; 12]);
    bytes.extend_from_slice(&[10, 0, 0, 0]);
    bytes.extend_from_slice(b"0000000.md");
    let start = bytes.len() as u64;
    for number in 0..COUNT {
        bytes.extend_from_slice(b"PK\x01\x02\x14\x00\x14\x00\x00\x00\x00\x00\x00\x00\x21\x00");
        bytes.extend_from_slice(&[0; 12]);
        bytes.extend_from_slice(&[10, 0]);
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(format!("{number:07}.md").as_bytes());
    }
    let size = bytes.len() as u64 - start;
    let end = bytes.len() as u64;
    bytes.extend_from_slice(b"PK\x06\x06");
    bytes.extend_from_slice(&44_u64.to_le_bytes());
    bytes.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [COUNT, COUNT, size, start] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    bytes.extend_from_slice(&end.to_le_bytes());
    bytes.extend_from_slice(&[1, 0, 0, 0]);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend_from_slice(&[0xff; 12]);
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

#[test]
fn wrong_charsets_and_zeros_stop_nothing() {
    let pdpp = Pdpp::new();
    let latin = b"name,note\nJos\xe9,caf\xe9 \xff\xfe\n".to_vec();
    let utf16: Vec<u8> =
        "\u{feff}name\tplace\nÇelik\tİzmir\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mbox = b"From a Fri Jan  2 03:04:05 2026\nFrom: a@x.example\nSubject: Z\0ro \xff\nMessage-ID: <z@x>\nContent-Type: text/plain; charset=no-such\n\nbody \0\0 \xfe end\n".to_vec();
    // Tables beside an export somebody knows are left alone, so they come in a folder of their own.
    let tables = [("latin.csv", latin), ("wide.tsv", utf16)];
    // A table with zeros in it is no text, and refused.
    let zeros = [
        ("zeros.csv", b"name,note\nAna,a\0b\n".to_vec()),
        (
            "zeros.json",
            b"[{\"id\":1,\"note\":\"a\\u0000b\"},{\"id\":2,\"note\":\"\0\"},{\"id\":3,\"note\":\"fine\"}]"
                .to_vec(),
        ),
        (
            "zeros.jsonl",
            b"{\"id\":\"a\",\"note\":\"x\"}\n\0\0\0\n{\"id\":\"b\",\"note\":\"y\\u0000\"}\n".to_vec(),
        ),
    ];
    let files = [
        ("mail/box.mbox", mbox),
        ("notes/zeros.md", b"# Z\0ro\n\nwords \0 \xff here\n".to_vec()),
        ("chat/_chat.txt", b"[12/30/23, 9:58:01 PM] A\0na: hel\xfflo\n[12/30/23, 9:58:02 PM] Ben: \0\n[12/30/23, 9:58:03 PM] Ana: bye\n".to_vec()),
    ];
    let (path, tables) = (folder(&pdpp, &files), named_folder(&pdpp, "tables", &tables));
    let import = pdpp.watched_import(&[&path, &tables]);
    assert!(import.status.success(), "{}", import.said);
    let all = everything(&pdpp);
    for word in ["good note", "Jos\u{e9}", "İzmir", "body", "here", "bye"] {
        assert!(all.contains(word), "no {word} in {all}");
    }
    let refused = pdpp.watched_import(&[&named_folder(&pdpp, "zeros", &zeros)]);
    assert_eq!(refused.status.code(), Some(64), "{}", refused.said);
    assert!(refused.said.contains("nothing here is an export"), "{}", refused.said);
    pdpp.is_well();
}

#[test]
fn documents_that_grow_or_nest_without_end_are_read_within_bounds() {
    let pdpp = Pdpp::new();
    let levels = (1..40).map(|level| format!("<!ENTITY a{level} \"&a{0};&a{0};&a{0};&a{0};\">", level - 1));
    let laughs = format!(
        "<!DOCTYPE x [<!ENTITY a0 \"ha\">{}]><w:document xmlns:w=\"w\"><w:p><w:t>before &a39; after</w:t></w:p></w:document>",
        levels.collect::<String>()
    );
    let alias =
        |level: i32| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(","));
    let aliases = (1..30).map(alias).collect::<Vec<_>>().concat();
    let yaml = format!("---\na0: &a0 [lol]\n{aliases}tags: *a29\n---\n# Laughing\n\nThe aliased note.\n");
    let nested_yaml = format!("---\nx: {}\n---\n# Nested\n\nThe nested note.\n", "[".repeat(200_000));
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let deep_row = format!("{{\"id\":1,\"x\":{deep}}}");
    let telegram = format!(
        "{{\"name\":\"Liv\",\"type\":\"personal_chat\",\"id\":7,\"messages\":[{{\"id\":1,\"type\":\"message\",\"date\":\"2024-03-01T08:00:00\",\"from\":\"Liv\",\"from_id\":\"user7\",\"text\":{deep}}},{{\"id\":2,\"type\":\"message\",\"date\":\"2024-03-01T08:00:00\",\"date_unixtime\":\"1709280000\",\"from\":\"Liv\",\"from_id\":\"user7\",\"text\":\"after the deep\"}}]}}"
    );
    let tables = [
        ("deep.json", deep.clone().into_bytes()),
        ("deep_row.json", format!("[{deep_row},{{\"id\":2,\"x\":\"the second row\"}}]").into_bytes()),
        ("deep_line.jsonl", format!("{deep_row}\n{{\"id\":2,\"x\":\"the second line\"}}\n").into_bytes()),
    ];
    let files = [
        ("laughs.docx", zip_of(&[("word/document.xml", laughs.as_bytes())])),
        ("laughing.md", yaml.into_bytes()),
        ("nested.md", nested_yaml.into_bytes()),
        ("chat/result.json", telegram.into_bytes()),
    ];
    let (path, tables) = (folder(&pdpp, &files), named_folder(&pdpp, "tables", &tables));
    let import = pdpp.watched_import(&[&path, &tables]);
    assert!(import.status.success(), "{}", import.said);
    let all = everything(&pdpp);
    for words in [
        "The good note.",
        "The aliased note.",
        "The nested note.",
        "after the deep",
        "before  after",
        "the second row",
        "the second line",
    ] {
        assert!(all.contains(words), "no {words:?}; {}", import.complaints());
    }
    pdpp.is_well();
}

/// Every sample as the zip a service would send.
fn zipped(name: &str) -> Vec<u8> {
    let root = exports().join(name);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut pending = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { pending.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    for path in files {
        let inside = path.strip_prefix(&root).unwrap().to_str().unwrap();
        writer.start_file(inside, SimpleFileOptions::default()).unwrap();
        writer.write_all(&fs::read(&path).unwrap()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn cut_and_spoiled_archives_of_every_service_leave_the_store_well() {
    for (number, name) in samples().into_iter().enumerate() {
        let pdpp = Pdpp::new();
        let whole = zipped(&name);
        let first = pdpp.write("whole.zip", &whole);
        let import = pdpp.watched_import(&[&first]);
        assert!(import.added() > 0, "{name}: {}", import.said);
        for tenths in [3, 9] {
            let cut = pdpp.write("cut.zip", &whole[..whole.len() * tenths / 10]);
            let import = pdpp.watched_import(&[&cut]);
            assert!(!import.status.success() && import.said.contains("cut.zip"), "{name}: {}", import.said);
        }
        for seed in 0..3_u64 {
            let mut spoiled = whole.clone();
            let mut state = seed * 1_000_003 + number as u64 + 1;
            for _ in 0..=whole.len() / 2_000 {
                // Enough to reach every part of the archive in some run, and the same every time.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 33).unwrap() % spoiled.len();
                spoiled[at] ^= 1 << (state >> 30 & 7);
            }
            let path = pdpp.write("spoiled.zip", &spoiled);
            pdpp.watched_import(&[&path]);
        }
        pdpp.is_well();
    }
}
