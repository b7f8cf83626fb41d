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
        let readings = NAMED.iter().filter(|(reading, _)| seen.readings & reading != 0).map(|(reading, name)| {
            format!("{name}={}", cell.read_as(*reading, seen.timed).map_or("?".to_owned(), |value| value.to_string()))
        });
        format!("{text}: {}", readings.collect::<Vec<_>>().join(" "))
    });
    expected.assert_eq(&told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn numbers_are_what_comes_back_the_same() {
    check(
        &["0", "-17", "12.50", "1e5", "007", "+49123", "1.234,50", "1,5", "1.234", "1234567890123456", ".5", "5.", "٣"],
        expect![""],
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
        expect![""],
    );
}

#[test]
fn words_are_words() {
    check(&["yes", "FALSE", "maybe", "no.", "", "2024-13-01"], expect![""]);
}

#[test]
fn json_keeps_its_own_types() {
    let seen = |value: &Value| Cell::Json(value).seen().readings;
    assert_eq!(seen(&json!("12")) & (INTEGER | NUMBER), 0);
    assert_eq!(seen(&json!("true")) & BOOLEAN, 0);
    assert_ne!(seen(&json!("2024-01-02")) & DATE, 0);
    assert_ne!(seen(&json!(u64::MAX)) & INTEGER, 0);
    assert_eq!(Cell::Json(&json!(12)).read_as(TEXT, false), Some(json!("12")));
    assert_eq!(Cell::Json(&json!(1_700_000_000)).read_as(SECONDS, false), Some(json!("2023-11-14T22:13:20Z")));
}
