//! Folding, parameters, escapes, charsets, and files that end or nest where they should not.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::component::Fault;
use super::*;

#[track_caller]
fn check(container: Option<&'static str>, text: &[u8], expected: Expect) {
    let mut components = Components::new(std::io::BufReader::with_capacity(5, text), container);
    let mut told = String::new();
    while let Some(found) = components.next().unwrap() {
        match found {
            Found::Opened => writeln!(told, "opened").unwrap(),
            Found::Aside(property) => writeln!(told, "aside {}", describe(&property)).unwrap(),
            Found::Component(component) => nested(&mut told, &component, 0),
            Found::Fault(line, fault) => writeln!(told, "line {line}: {fault:?}").unwrap(),
        }
    }
    expected.assert_eq(&told);
}

fn describe(property: &Property) -> String {
    let Property { group, name, parameters, value, line } = property;
    let group = group.as_ref().map(|group| format!("{group}.")).unwrap_or_default();
    let parameters: Vec<String> = parameters.iter().map(|(name, value)| format!(";{name}={value}")).collect();
    format!("{line} {group}{name}{}: {value:?}", parameters.concat())
}

fn nested(told: &mut String, component: &Component, depth: usize) {
    let indent = "  ".repeat(depth);
    writeln!(told, "{indent}{} at {}", component.name, component.line).unwrap();
    for property in &component.properties {
        writeln!(told, "{indent}  {}", describe(property)).unwrap();
    }
    for child in &component.children {
        nested(told, child, depth + 1);
    }
}

#[test]
fn lines_are_unfolded_even_inside_a_letter() {
    check(
        None,
        b"BEGIN:VCARD\r\nNOTE:caf\xc3\r\n \xa9 and\r\n\t  more\r\nfn;TYPE=\"a;b:c\";type=x:Ann\r\nEND:VCARD\r\n",
        expect![[r#"
            VCARD at 1
              2 NOTE: "café and  more"
              5 FN;TYPE=a;b:c;TYPE=x: "Ann"
        "#]],
    );
}

#[test]
fn old_contacts_fold_quoted_printable_and_bare_base64() {
    check(
        None,
        b"BEGIN:VCARD\nN;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:M=FCl=\nler;J=\nan\nPHOTO;ENCODING=BASE64;JPEG:AAAA\nBBBB\n CCCC\n\nTEL;CELL:+1\nNOTE;ENCODING=QUOTED-PRINTABLE:100=25 =zz\nEND:VCARD",
        expect![[r#"
            VCARD at 1
              2 N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE: "Müller;Jan"
              5 PHOTO;ENCODING=BASE64;TYPE=JPEG: "AAAABBBBCCCC"
              9 TEL;TYPE=CELL: "+1"
              10 NOTE;ENCODING=QUOTED-PRINTABLE: "100% =zz"
        "#]],
    );
}

#[test]
fn a_container_is_walked_into_and_its_own_properties_stand_aside() {
    check(
        Some("VCALENDAR"),
        b"BEGIN:VCALENDAR\nX-WR-CALNAME:Home\nBEGIN:VEVENT\nUID:1\nBEGIN:VALARM\nACTION:AUDIO\nEND:VALARM\nEND:VEVENT\nDTSTART;TZID=(UTC+01:00) Berlin:20260101T000000\nEND:VCALENDAR\n",
        expect![[r#"
            opened
            aside 2 X-WR-CALNAME: "Home"
            VEVENT at 3
              4 UID: "1"
              VALARM at 5
                6 ACTION: "AUDIO"
            aside 9 DTSTART;TZID=(UTC+01:00) Berlin: "20260101T000000"
        "#]],
    );
}

#[test]
fn what_never_ends_or_was_never_begun_costs_only_itself() {
    check(
        Some("VCALENDAR"),
        b"END:VEVENT\nBEGIN:VEVENT\nUID:1\nBEGIN:VEVENT\nUID:2\nno property here\nBEGIN:VALARM\nEND:VEVENT\nBEGIN:VEVENT\nUID:3\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:4",
        expect![[r#"
            line 2: Unclosed
            line 6: NoProperty
            VEVENT at 4
              5 UID: "2"
              VALARM at 7
            line 9: Unclosed
            opened
            line 12: Unclosed
        "#]],
    );
}

#[test]
fn nesting_and_length_are_bounded() {
    let mut deep = String::from("BEGIN:A\n");
    (0..10_000).for_each(|level| writeln!(deep, "BEGIN:B{level}").unwrap());
    (0..10_000).rev().for_each(|level| writeln!(deep, "END:B{level}").unwrap());
    deep += "END:A\nBEGIN:C\nX:1\nEND:C\n";
    let mut components = Components::new(deep.as_bytes(), None);
    assert_eq!(components.next().unwrap(), Some(Found::Fault(9, Fault::TooDeep)));
    assert!(matches!(components.next().unwrap(), Some(Found::Component(a)) if a.name == "A"));
    assert!(matches!(components.next().unwrap(), Some(Found::Component(c)) if c.properties.len() == 1));

    let long =
        format!("BEGIN:C\nX:1\nY:{}\nZ:{}\nW:2\nEND:C\n", "y".repeat(MOST_BYTES), "z".repeat(MOST_BYTES - 3));
    let mut components = Components::new(long.as_bytes(), None);
    assert_eq!(components.next().unwrap(), Some(Found::Fault(3, Fault::TooLong)));
    let Some(Found::Component(component)) = components.next().unwrap() else { panic!() };
    let names: Vec<&str> = component.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["X", "W"]);
}

#[test]
fn escapes_and_lists_are_read_back() {
    assert_eq!(unescape(r"a\, b\; c\nd\\e\x\"), "a, b; c\nd\\e\\x\\");
    assert_eq!(split_list(r"a\,b,c\\,d", ','), ["a,b", "c\\", "d"]);
    assert_eq!(decode_base64("aGk").as_deref(), Some(b"hi".as_slice()));
    assert_eq!(decode_base64("a G k=\n").as_deref(), Some(b"hi".as_slice()));
    assert_eq!(decode_base64("%%"), None);
    assert_eq!((date_text("20260102"), date_text("2026-01-02")), (Some((2026, 1, 2)), Some((2026, 1, 2))));
    assert_eq!((date_text("2026-1-02x"), date_text("２０２６")), (None, None));
}

#[test]
fn letters_in_no_known_charset_are_read_as_western() {
    check(
        None,
        b"BEGIN:VCARD\nFN:Ren\xe9\0\nNOTE;CHARSET=nonsense:ok\nN;LABEL=\"1^n2^'3^^\":x\nEND:VCARD\n",
        expect![[r#"
            VCARD at 1
              2 FN: "René"
              3 NOTE;CHARSET=nonsense: "ok"
              4 N;LABEL=1
            2"3^: "x"
        "#]],
    );
}
