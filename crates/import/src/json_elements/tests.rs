//! The cuts, on texts read three bytes at a time so that every border is crossed.

use std::io::{BufReader, Read as _};

use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(text: &[u8], path: &'static [&'static str], expected: Expect) {
    let mut elements = Elements::new(BufReader::with_capacity(3, text), path, 40);
    let mut told = Vec::new();
    while let Some(found) = elements.next().unwrap() {
        let json = |json: &[u8]| String::from_utf8_lossy(json).into_owned();
        told.push(match found {
            Found::Enter { depth } => format!("enter {depth}"),
            Found::Beside { depth, name, json: text } => format!("{depth} {name}={}", json(text)),
            Found::Element { number, json: text } => format!("#{number} {}", json(text)),
            Found::TooLong { number } => format!("#{number} too long"),
            Found::Broken { at } => format!("broken at {at}"),
        });
    }
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn a_root_array_gives_its_elements() {
    check(
        b"\xef\xbb\xbf [ {\"a\":\"]\\\"}\"} , 12,\n\"x\" , [1,[2]] ]",
        &[],
        expect![[r#"
        #1 {"a":"]\"}"}
        #2 12
        #3 "x"
        #4 [1,[2]]"#]],
    );
    check(b"[]", &[], expect![""]);
    check(b"{\"a\":1}", &[], expect![""]);
}

#[test]
fn arrays_below_objects_come_with_what_stands_beside_them() {
    check(
        br#"{"about":"x","chats":{"list":[{"name":"A\u00e9","id":7,"messages":[{"m":1},{"m":2}],"late":true},{"name":"B","messages":[]}]}}"#,
        &["chats", "list", "*", "messages"],
        expect![[r#"
            enter 0
            0 about="x"
            enter 1
            enter 3
            3 name="A\u00e9"
            3 id=7
            #1 {"m":1}
            #2 {"m":2}
            3 late=true
            enter 3
            3 name="B""#]],
    );
}

#[test]
fn a_long_element_is_skipped_and_the_next_one_read() {
    let long = format!("[{{\"a\":\"{}\"}},2]", "x".repeat(100));
    check(
        long.as_bytes(),
        &[],
        expect![[r"
        #1 too long
        #2 2"]],
    );
}

#[test]
fn a_text_that_stops_or_is_none_says_where() {
    check(
        b"[1,{\"a\":",
        &[],
        expect![[r"
        #1 1
        broken at 8"]],
    );
    check(
        b"[1 2]",
        &[],
        expect![[r"
        #1 1
        broken at 3"]],
    );
    check(b"", &[], expect!["broken at 0"]);
    check(b"{\"messages\":7}", &["messages"], expect!["enter 0"]);
}

#[test]
fn endless_nesting_is_refused_in_bounded_memory() {
    let deep = io::repeat(b'[').take(64 << 20);
    let mut elements = Elements::new(BufReader::new(deep), &[], 1 << 20);
    let mut last = None;
    while let Some(found) = elements.next().unwrap() {
        last = Some(matches!(found, Found::Broken { .. }));
    }
    assert_eq!(last, Some(true));
}
