//! Aggregates as numbers and as pictures.

use serde_json::json;

use super::{Reader, failed};

#[test]
fn groups_have_bars() {
    let reader = Reader::new(&["--stream", "messages"]);
    let answer = reader.json(&["aggregate", "messages", "--group-by", "author", "--limit", "3"]);
    assert_eq!(answer["groups"][0], json!({"key": "Ana", "count": 32}));
    let printed =
        reader.ok(&["aggregate", "messages", "--group-by", "author", "--limit", "3", "--format", "table"]);
    assert!(printed.starts_with("count by author of 132 records\n"), "{printed}");
    let ana = printed.lines().find(|line| line.starts_with("Ana")).unwrap();
    let chidi = printed.lines().find(|line| line.starts_with("Chidi")).unwrap();
    let blocks = |line: &str| line.chars().filter(|c| *c == '█').count();
    assert!(ana.contains(" 32  █") && blocks(ana) > blocks(chidi) && blocks(chidi) > 10, "{printed}");
    assert!(printed.contains("40 more records are in groups not shown"), "{printed}");
}

#[test]
fn time_has_a_line_of_blocks() {
    let reader = Reader::new(&["--stream", "messages"]);
    let question = [
        "aggregate",
        "messages",
        "--group-by-time",
        "sent_at",
        "--granularity",
        "month",
        "--format",
        "table",
    ];
    let printed = reader.ok(&question);
    assert!(printed.contains("\n█▇▁\n2025-09-01 to 2025-11-01, each month\n"), "{printed}");
    assert!(printed.contains("2025-10-01  62  "), "{printed}");
}

#[test]
fn a_single_number_stands_alone() {
    let reader = Reader::new(&["--stream", "messages"]);
    let printed =
        reader.ok(&["aggregate", "messages", "--metric", "sum", "--field", "stars", "--format", "table"]);
    assert!(printed.starts_with("sum(stars): ") && printed.contains("of 132 records"), "{printed}");
    let filtered = reader.json(&["aggregate", "messages", "--filter", "author=Ana"]);
    assert_eq!(filtered["value"], json!(32));
    let check = |args: &[&str], code: i32, said: &str| {
        let (got, line) = failed(&reader.run(args));
        assert!(got == code && line.contains(said), "{args:?}: {got} {line}");
    };
    check(&["aggregate", "messages", "--group-by", "text"], 1, "invalid_request");
    check(&["aggregate", "messages", "--group-by-time", "sent_at"], 2, "--granularity");
    check(
        &["aggregate", "messages", "--group-by", "a", "--group-by-time", "b", "--granularity", "day"],
        2,
        "--group-by",
    );
}
