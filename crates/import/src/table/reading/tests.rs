//! One value at a time.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

const NAMED: [(Readings, &str); 11] = [
    (BOOLEAN, "boolean"),
    (INTEGER, "integer"),
    (NUMBER, "number"),
    (COMMA_NUMBER, "comma"),
    (DATE, "date"),
    (DATE_TIME, "date-time"),
    (DAY_FIRST, "day/month"),
    (MONTH_FIRST, "month/day"),
    (SECONDS, "seconds"),
    (MILLISECONDS, "milliseconds"),
    (OBJECT, "object"),
];

#[track_caller]
fn check(values: &[&str], expected: Expect) {
    let told = values.iter().map(|text| {
        let cell = Cell::Plain(text);
        let seen = cell.seen();
        let readings =
            NAMED.iter().filter(|(reading, _)| seen.readings & reading != 0).map(|(reading, name)| {
                format!(
                    "{name}={}",
                    cell.read_as(*reading, seen.timed).map_or("?".to_owned(), |value| value.to_string())
                )
            });
        let readings = readings.collect::<Vec<_>>().join(" ");
        format!("{text}: {}", if readings.is_empty() { "text" } else { &readings })
    });
    expected.assert_eq(&told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn numbers_are_what_comes_back_the_same() {
    check(
        &[
            "0",
            "-17",
            "12.50",
            "1e5",
            "007",
            "+49123",
            "1.234,50",
            "1,5",
            "1.234",
            "1234567890123456",
            ".5",
            "5.",
            "٣",
        ],
        expect![[r"
            0: integer=0 number=0 comma=0
            -17: integer=-17 number=-17 comma=-17
            12.50: number=12.5
            1e5: text
            007: text
            +49123: text
            1.234,50: comma=1234.5
            1,5: comma=1.5
            1.234: number=1.234 comma=1234
            1234567890123456: text
            .5: text
            5.: text
            ٣: text"]],
    );
}

#[test]
fn dates_are_told_by_their_shape() {
    check(
        &[
            "2024-02-29",
            "2023-02-29",
            "29.02.2024",
            "1.2.24",
            "2024-02-29T10:00:00Z",
            "2024-02-29 10:00",
            "2024-02-29 10:00:30.5 +0100",
            "2024-02-29 10:00:00 UTC",
            "29.02.2024 23:59",
            "31/01/2024",
            "01/31/2024 9:05 PM",
            "03/04/2024",
            "20240229",
            "1700000000",
            "1700000000123",
            "12:30",
            "2024-02-29Tlater",
        ],
        expect![[r#"
            2024-02-29: date="2024-02-29" date-time="2024-02-29T00:00:00Z"
            2023-02-29: text
            29.02.2024: date="2024-02-29" date-time="2024-02-29T00:00:00Z"
            1.2.24: date="2024-02-01" date-time="2024-02-01T00:00:00Z"
            2024-02-29T10:00:00Z: date-time="2024-02-29T10:00:00Z"
            2024-02-29 10:00: date-time="2024-02-29T10:00:00Z"
            2024-02-29 10:00:30.5 +0100: date-time="2024-02-29T09:00:30.5Z"
            2024-02-29 10:00:00 UTC: date-time="2024-02-29T10:00:00Z"
            29.02.2024 23:59: date-time="2024-02-29T23:59:00Z"
            31/01/2024: day/month="2024-01-31"
            01/31/2024 9:05 PM: month/day="2024-01-31T21:05:00Z"
            03/04/2024: day/month="2024-04-03" month/day="2024-03-04"
            20240229: integer=20240229 number=20240229 comma=20240229
            1700000000: integer=1700000000 number=1700000000 comma=1700000000 seconds="2023-11-14T22:13:20Z"
            1700000000123: integer=1700000000123 number=1700000000123 comma=1700000000123 milliseconds="2023-11-14T22:13:20.123Z"
            12:30: text
            2024-02-29Tlater: text"#]],
    );
}

#[test]
fn words_are_words() {
    check(
        &["yes", "FALSE", "maybe", "no.", "", "2024-13-01"],
        expect![[r"
        yes: boolean=true
        FALSE: boolean=false
        maybe: text
        no.: text
        : text
        2024-13-01: text"]],
    );
}

#[test]
fn json_keeps_its_own_types() {
    let seen = |value: &Value| Cell::Json(value).seen().readings;
    assert_eq!(seen(&json!("12")) & (INTEGER | NUMBER), 0);
    assert_eq!(seen(&json!("true")) & BOOLEAN, 0);
    assert_ne!(seen(&json!("2024-01-02")) & DATE, 0);
    assert_ne!(seen(&json!(u64::MAX)) & INTEGER, 0);
    assert_eq!(Cell::Json(&json!(12)).read_as(TEXT, false), Some(json!("12")));
    assert_eq!(
        Cell::Json(&json!(1_700_000_000)).read_as(SECONDS, false),
        Some(json!("2023-11-14T22:13:20Z"))
    );
}
