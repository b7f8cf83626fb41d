//! Lines good and bad, over the sample notebook's manifest.

use std::fmt::Write as _;
use std::io::{BufReader, Read};

use expect_test::{Expect, expect};
use pdpp_store::Operation;
use pdpp_testkit::sample;

use super::*;

fn now() -> Instant {
    Instant::parse("2026-03-01").unwrap()
}

fn describe(item: io::Result<Item>) -> String {
    match item {
        Err(error) => format!("broken: {error}"),
        Ok(Item::Complaint(Complaint { where_, code, message })) => format!("{where_}: {code}: {message}"),
        Ok(Item::Record { stream, line_no, record, .. }) => {
            let what = match &record.operation {
                Operation::Upsert(data) => format!("{} members", data.len()),
                Operation::Delete => "delete".to_owned(),
            };
            format!("line {line_no}: {stream} {} {what} {}", record.key, record.emitted_at.to_rfc3339())
        }
    }
}

#[track_caller]
fn check(text: &[u8], expected: Expect) {
    let manifest = sample::notes::manifest();
    let mut told = String::new();
    for item in Jsonl::new(BufReader::new(text), &manifest, now()).unwrap() {
        writeln!(told, "{}", describe(item)).unwrap();
    }
    expected.assert_eq(&told);
}

#[test]
fn records_come_out_with_their_line() {
    check(
        br#"{"stream":"notes","key":"n1","data":{"id":"n1","title":"T"},"emitted_at":"2026-01-01T00:00:00Z"}

{"stream":"days","key":["anna","2026-02-01"],"data":{"person":"anna","day":"2026-02-01"}}
{"stream":"notes","key":"n1","op":"delete"}"#,
        expect![[r#"
            line 1: notes n1 2 members 2026-01-01T00:00:00.000Z
            line 3: days ["anna","2026-02-01"] 2 members 2026-03-01T00:00:00.000Z
            line 4: notes n1 delete 2026-03-01T00:00:00.000Z
        "#]],
    );
}

#[test]
fn a_bad_line_is_complained_about_and_the_next_one_read() {
    check(
        b"{\n\xff\n[]\n{\"key\":\"n\",\"data\":{}}\n{\"stream\":\"mail\",\"key\":\"n\"}\n\
          {\"stream\":\"notes\",\"key\":\"n\",\"data\":{\"id\":\"n\"}}\n\
          {\"stream\":\"notes\",\"key\":\"n\",\"data\":{\"id\":\"other\",\"title\":\"t\"}}\n\
          {\"stream\":\"notes\",\"key\":\"n\",\"data\":{\"id\":\"n\",\"title\":\"t\"}}\n",
        expect![[r"
            line 1: malformed_ndjson: The line is not one JSON object with each name once.
            line 2: invalid_utf8: The line is not UTF-8.
            line 3: malformed_ndjson: The line is not a JSON object.
            line 4: malformed_ndjson: `stream` is missing.
            line 5: not_found: `stream` names no stream of the manifest.
            line 6: schema_violation: the record breaks /required.
            line 7: invalid_record_identity: The key differs from the primary key in the data.
            line 8: notes n 2 members 2026-03-01T00:00:00.000Z
        "]],
    );
}

#[test]
fn the_whole_sample_is_read_without_complaint() {
    let manifest = sample::chat::manifest();
    let records = sample::chat::home();
    let text = sample::ndjson(&records);
    let items: Vec<_> = Jsonl::new(text.as_bytes(), &manifest, now()).unwrap().collect();
    assert_eq!(items.len(), records.len());
    assert!(items.iter().all(|item| matches!(item, Ok(Item::Record { .. }))));
}

#[test]
fn the_only_stream_of_a_manifest_needs_no_name() {
    let mut document = sample::notes::manifest().document().clone();
    document["streams"].as_array_mut().unwrap().truncate(1);
    let manifest = Manifest::from_document(document).unwrap();
    let line = br#"{"key":"n","data":{"id":"n","title":"t"}}"#;
    let items: Vec<_> = Jsonl::new(line.as_slice(), &manifest, now()).unwrap().collect();
    assert!(matches!(&items[..], [Ok(Item::Record { stream, .. })] if stream.as_str() == "notes"));
}

#[test]
fn a_record_says_how_long_its_text_was() {
    let manifest = sample::notes::manifest();
    let line = br#"{"stream":"notes","key":"n","data":{"id":"n","title":"t"}}"#;
    let text = [line.as_slice(), b"\r\n"].concat();
    let items: Vec<_> = Jsonl::new(text.as_slice(), &manifest, now()).unwrap().collect();
    assert!(matches!(&items[..], [Ok(Item::Record { bytes, .. })] if *bytes == line.len()));
}

#[test]
fn a_line_beyond_the_bound_is_one_complaint() {
    let manifest = sample::notes::manifest();
    let long = io::repeat(b'[').take(MAX_LINE_BYTES as u64 + 1);
    let rest = b"\n{\"stream\":\"notes\",\"key\":\"n\",\"op\":\"delete\"}\n".as_slice();
    let told: Vec<_> =
        Jsonl::new(BufReader::new(long.chain(rest)), &manifest, now()).unwrap().map(describe).collect();
    expect![[r#"
        [
            "line 1: resource_limit: The line is longer than 50 MiB.",
            "line 2: notes n delete 2026-03-01T00:00:00.000Z",
        ]
    "#]]
    .assert_debug_eq(&told);
}

#[test]
fn a_reader_that_breaks_ends_the_reading() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
    let manifest = sample::notes::manifest();
    let mut items = Jsonl::new(BufReader::new(Broken), &manifest, now()).unwrap();
    assert!(items.next().is_some_and(|item| item.is_err()));
    assert!(items.next().is_none());
}
