//! Reads the questions out of the page people read.

use serde_json::Value;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/parity.md");

/// One row.
pub(super) struct Question {
    pub(super) name: String,
    pub(super) rest: String,
    /// The tool and its arguments, where a tool can ask this.
    pub(super) call: Option<(String, String)>,
    pub(super) command: String,
    /// What kind of answer it has.
    pub(super) kind: String,
    /// The code, where it is refused.
    pub(super) code: Option<String>,
}

/// Every code that some row expects.
pub(super) fn asked_codes() -> Vec<String> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 5);
    rows.filter(|line| !line.starts_with("| ---") && !line.starts_with("| Question"))
        .filter_map(|line| row(line).code)
        .collect()
}

/// The codes the page explains instead of asking for them.
pub(super) fn not_asked() -> Vec<String> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (_, section) = page.split_once("## Not asked here").unwrap();
    let cells =
        section.lines().filter(|line| line.starts_with("| `")).map(|line| line.split(" | ").next().unwrap());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The rows of a section.
pub(super) fn questions(section: &str) -> Vec<Question> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (_, rest) = page.split_once(&format!("## {section}\n")).unwrap_or_else(|| panic!("no '{section}'"));
    let body = rest.split("\n## ").next().unwrap();
    body.lines().filter(|line| line.starts_with("| ")).skip(2).map(row).collect()
}

fn row(line: &str) -> Question {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [name, rest, tool, arguments, command, answer] = cells.as_slice() else { panic!("{line}") };
    let bare = |cell: &str| cell.trim_matches('`').to_owned();
    let refused = answer.starts_with('`');
    let arguments = bare(arguments);
    if *tool != "–" {
        let checked: Result<Value, _> = serde_json::from_str(&arguments);
        assert!(checked.is_ok(), "{arguments}");
    }
    Question {
        name: (*name).to_owned(),
        rest: bare(rest),
        call: (*tool != "–").then(|| (bare(tool), arguments)),
        command: bare(command),
        kind: if refused { String::new() } else { (*answer).to_owned() },
        code: refused.then(|| bare(answer)),
    }
}
