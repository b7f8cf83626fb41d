//! Documents built here, letter by letter, so that none has to be copied from anywhere.

use std::io::{Cursor, Write as _};

use expect_test::{Expect, expect};
use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

#[track_caller]
fn check(media_type: &str, name: Option<&str>, bytes: &[u8], expected: Expect) {
    expected.assert_eq(extract_text(media_type, name, bytes).as_deref().unwrap_or("(none)"));
}

fn docx(pieces: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, xml) in pieces {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(xml.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn word(body: &str) -> String {
    format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>")
}

fn pdf(operations: Vec<Operation>) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
    });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let content = Content { operations }.encode().unwrap();
    let content = document.add_object(Stream::new(dictionary! {}, content));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources,
    });
    let tree = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    document.objects.insert(pages, Object::Dictionary(tree));
    let root = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", root);
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn put(operator: &str, operands: Vec<Object>) -> Operation {
    Operation::new(operator, operands)
}

fn letter() -> Vec<u8> {
    pdf(vec![
        put("BT", vec![]),
        put("Tf", vec!["F1".into(), 12.into()]),
        put("Td", vec![100.into(), 600.into()]),
        put("Tj", vec![Object::string_literal("Harbour dues")]),
        put("Td", vec![0.into(), (-14).into()]),
        put(
            "TJ",
            vec![Object::Array(vec![
                Object::string_literal("Berth"),
                (-300).into(),
                Object::string_literal("sev"),
                20.into(),
                Object::string_literal("en"),
            ])],
        ),
        put("Td", vec![200.into(), 0.into()]),
        put("Tj", vec![Object::string_literal("120.00")]),
        put("ET", vec![]),
    ])
}

#[test]
fn the_text_of_a_pdf_keeps_lines_and_words_apart() {
    let expected = expect![[r"
        Harbour dues
        Berth seven 120.00"]];
    check("application/pdf", None, &letter(), expected);
    check("application/octet-stream", None, &letter()[..40], expect!["(none)"]);
    let named = extract_text("application/octet-stream", Some("dues.PDF"), &letter()).unwrap();
    assert_eq!(extract_text("application/octet-stream", None, &letter()).unwrap(), named);
}

#[test]
fn a_damaged_pdf_has_no_text_and_does_no_harm() {
    let whole = letter();
    for part in 0..40 {
        extract_text("application/pdf", None, &whole[..whole.len() * part / 40]);
        let mut spoiled = whole.clone();
        for place in (part..whole.len()).step_by(41) {
            spoiled[place] ^= 0x15;
        }
        extract_text("application/pdf", None, &spoiled);
    }
    check("application/pdf", None, b"no pdf", expect!["(none)"]);
    check("application/pdf", None, b"", expect!["(none)"]);
}

#[test]
fn the_text_of_a_word_document_is_read() {
    let document = docx(&[
        (
            "word/document.xml",
            &word(
                "<w:p><w:r><w:t>Fish &amp; chips</w:t></w:r><w:r><w:tab/><w:t xml:space=\"preserve\"> &#8364;5</w:t></w:r></w:p><w:p><w:r><w:t>two</w:t><w:br/><w:t>lines</w:t><w:delText>gone</w:delText><w:instrText>PAGE</w:instrText></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
            ),
        ),
        ("word/footnotes.xml", &word("<w:p><w:r><w:t>a note</w:t></w:r></w:p>")),
    ]);
    let expected = expect![[r"
        Fish & chips	 €5
        two
        lines
        a	b
        a note"]];
    check(WORD, None, &document, expected);
    assert!(extract_text("application/octet-stream", Some("menu.docx"), &document).is_some());
    assert!(extract_text("application/zip", Some("menu.docx"), &document).is_some());
    check(WORD, None, &docx(&[("other.xml", "<x/>")]), expect!["(none)"]);
    check(WORD, None, b"no zip", expect!["(none)"]);
}

#[test]
fn entities_that_grow_are_never_replaced() {
    let levels = (1..30).map(|level| format!("<!ENTITY a{level} \"&a{0};&a{0};\">", level - 1));
    let declared = format!("<!DOCTYPE x [<!ENTITY a0 \"ha\">{}", levels.collect::<Vec<_>>().concat());
    let xml = format!("{declared}]><w:p xmlns:w=\"w\"><w:t>before &a29; after</w:t></w:p>");
    check(WORD, None, &docx(&[("word/document.xml", &xml)]), expect!["before  after"]);
}

#[test]
fn output_and_unpacking_are_bounded() {
    let long = word(&"<w:p><w:t>words and words</w:t></w:p>".repeat(400_000));
    let text = extract_text(WORD, None, &docx(&[("word/document.xml", &long)])).unwrap();
    assert!((MOST_TEXT - 100..=MOST_TEXT).contains(&text.len()), "{}", text.len());
    let bomb = docx(&[("word/document.xml", &" ".repeat(MOST_UNPACKED + 10_000_000))]);
    assert_eq!(extract_text(WORD, None, &bomb), None);
    assert_eq!(
        extract_text("text/plain", None, "é".repeat(2 * MOST_TEXT).as_bytes()).unwrap().len(),
        MOST_TEXT
    );
    let deep = word(&"<w:p>".repeat(500_000));
    assert_eq!(extract_text(WORD, None, &docx(&[("word/document.xml", &deep)])), None);
}

#[test]
fn pages_and_plain_texts_are_decoded() {
    check("text/html; charset=iso-8859-1", None, b"<p>Gr\xfc\xdfe</p>", expect!["Grüße"]);
    check("text/html", None, b"<meta charset=\"koi8-r\"><p>\xf0\xd2\xc9\xd7\xc5\xd4</p>", expect!["Привет"]);
    check(
        "text/plain",
        None,
        b"caf\xe9\r\nau lait\r\n",
        expect![[r"
        café
        au lait"]],
    );
    check(
        "text/csv",
        None,
        b"a,b\n1,2\n",
        expect![[r"
        a,b
        1,2"]],
    );
    check("application/octet-stream", Some("notes.txt"), b"words", expect!["words"]);
    check("text/plain", Some("page.html"), b"<b>bold</b>", expect!["bold"]);
    check(
        "text/calendar",
        None,
        b"BEGIN:VCALENDAR\nSUMMARY:Regatta\n",
        expect![[r"
        BEGIN:VCALENDAR
        SUMMARY:Regatta"]],
    );
    check(
        "message/rfc822",
        None,
        b"Subject: hi\n\nthere",
        expect![[r"
        Subject: hi

        there"]],
    );
    check("application/ld+json", None, b"{\"a\":1}", expect![[r#"{"a":1}"#]]);
}

#[test]
fn other_kinds_have_no_text() {
    check("image/png", Some("x.png"), b"\x89PNG", expect!["(none)"]);
    check("application/octet-stream", None, b"\x00\x01", expect!["(none)"]);
    check("text/plain", None, b"\0\0\0\0binary\0\0\0", expect!["(none)"]);
    check("text/plain", None, b"   \n", expect!["(none)"]);
    check("text/rtf", Some("x.rtf"), b"{\\rtf1 x}", expect!["(none)"]);
    check("image/svg+xml", None, b"<svg/>", expect!["(none)"]);
}
