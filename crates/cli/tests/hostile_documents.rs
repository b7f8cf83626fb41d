//! Attached documents that make their reader run away: cut off in a process of its own, told, and the rest is loaded.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::Pdpp;

/// A PDF whose pages all show the same packed stream.
fn pdf(content: &[u8], pages: usize) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content).unwrap();
    let packed = packed.finish().unwrap();
    let mut bytes = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    let mut object = |bytes: &mut Vec<u8>, body: &[u8]| {
        places.push(bytes.len());
        let number = places.len();
        bytes.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(b"\nendobj\n");
    };
    object(&mut bytes, b"<< /Type /Catalog /Pages 2 0 R >>");
    let kids = (0..pages).fold(String::new(), |mut kids, page| {
        write!(kids, "{} 0 R ", page + 4).unwrap();
        kids
    });
    object(&mut bytes, format!("<< /Type /Pages /Count {pages} /Kids [{kids}] >>").as_bytes());
    let mut stream = format!("<< /Filter /FlateDecode /Length {} >>\nstream\n", packed.len()).into_bytes();
    stream.extend_from_slice(&packed);
    stream.extend_from_slice(b"\nendstream");
    object(&mut bytes, &stream);
    for _ in 0..pages {
        object(&mut bytes, b"<< /Type /Page /Parent 2 0 R /Contents 3 0 R /Resources << >> >>");
    }
    let table = bytes.len();
    bytes.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).as_bytes());
    for place in &places {
        bytes.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let trailer =
        format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", places.len() + 1);
    bytes.extend_from_slice(trailer.as_bytes());
    bytes
}

fn docx(xml: &[u8]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    writer.write_all(xml).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn documents_that_run_away_are_cut_off_and_the_rest_is_loaded() {
    let pdpp = Pdpp::new();
    let folder = pdpp.path("vault");
    fs::create_dir(&folder).unwrap();
    let mut xml = b"<w:document xmlns:w=\"w\"><w:p><w:t>the small beginning</w:t></w:p><w:p ".to_vec();
    xml.resize(150 << 20, b' ');
    for (name, bytes) in [
        // Thirty million commands in sixty kilobytes: each takes a hundred times its room once it is read.
        ("memory.pdf", pdf(&b"q\n".repeat(30_000_000), 1)),
        // A page that takes a moment, five thousand times.
        ("time.pdf", pdf(&b"0 0 m\n".repeat(200_000), 5_000)),
        ("huge.docx", docx(&xml)),
        (
            "fine.docx",
            docx(b"<w:document xmlns:w=\"w\"><w:p><w:t>the fine document</w:t></w:p></w:document>"),
        ),
        ("good.md", b"# Good\n\nThe good note.\n".to_vec()),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let import = pdpp.watched_import(&[folder.to_str().unwrap()]);
    assert!(import.status.success(), "{}", import.said);
    let told = import.complaints();
    for name in ["memory.pdf", "time.pdf"] {
        let complaint =
            told.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {told}"));
        assert!(complaint.contains("resource_limit") && complaint.contains("kept without"), "{complaint}");
    }
    assert_eq!(import.receipt["blobs"], 4, "the documents themselves are kept: {}", import.receipt);
    let server = pdpp.serve();
    let owner = server.client(&pdpp.owner_token());
    for words in ["good+note", "fine+document", "small+beginning"] {
        let hits = owner.get(&format!("/v1/search?q={words}")).body;
        assert_eq!(hits["data"].as_array().unwrap().len(), 1, "{words}: {hits}");
    }
    pdpp.is_well();
}
