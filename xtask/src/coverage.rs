//! `coverage`: which tests name which requirement rows.
//!
//! A test names a row in its doc comment, as in `/// S2-R2-S1: …`. This task only lists; a row
//! that no test names is for the reader to notice.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::tidy::Tree;
use crate::workspace::Workspace;

pub(crate) fn coverage(workspace: &Workspace) -> Result<()> {
    let tree = Tree::read(workspace.root())?;
    let rows = collect(&tree);
    for (row, tests) in &rows {
        println!("{row}");
        for test in tests {
            println!("    {test}");
        }
    }
    println!("{} requirement rows are named by tests", rows.len());
    Ok(())
}

/// Rows in reading order, so that `R2` comes before `R10`.
fn collect(tree: &Tree) -> BTreeMap<Row, Vec<String>> {
    let mut rows = BTreeMap::<Row, Vec<String>>::new();
    for (path, text) in tree.rust_files() {
        let mut named = Vec::new();
        for line in text.lines().map(str::trim_start) {
            if let Some(comment) = line.strip_prefix("///") {
                named.extend(rows_in(comment));
            } else if let Some(name) = function_name(line) {
                for row in named.drain(..) {
                    rows.entry(row).or_default().push(format!("{name} ({path})"));
                }
            } else if !line.starts_with("#[") {
                named.clear();
            }
        }
    }
    rows
}

/// A row of the requirement documents: section, requirement, and sometimes scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    section: u32,
    requirement: u32,
    scenario: Option<u32>,
}

impl std::fmt::Display for Row {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "S{}-R{}", self.section, self.requirement)?;
        self.scenario.map_or(Ok(()), |scenario| write!(formatter, "-S{scenario}"))
    }
}

fn rows_in(comment: &str) -> impl Iterator<Item = Row> {
    comment.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter_map(parse_row)
}

fn parse_row(word: &str) -> Option<Row> {
    let mut parts = word.split('-');
    let mut number = |letter: char| parts.next().map(|part| part.strip_prefix(letter)?.parse().ok());
    let (section, requirement) = (number('S')??, number('R')??);
    let scenario = match number('S') {
        None => None,
        Some(scenario) => Some(scenario?),
    };
    parts.next().is_none().then_some(Row { section, requirement, scenario })
}

fn function_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[&str]) {
        let tree = Tree::of(&[("crates/api/tests/reads.rs", source)]);
        let found: Vec<_> =
            collect(&tree).into_iter().map(|(row, tests)| format!("{row}: {}", tests.join(", "))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_test_names_its_rows_in_its_doc_comment() {
        check(
            "/// S2-R2-S1 and S4-R2.\n#[tokio::test]\nasync fn tools_are_listed() {}\n",
            &[
                "S2-R2-S1: tools_are_listed (crates/api/tests/reads.rs)",
                "S4-R2: tools_are_listed (crates/api/tests/reads.rs)",
            ],
        );
    }

    #[test]
    fn rows_are_listed_in_numeric_order() {
        check(
            "/// S1-R10\nfn later() {}\n/// S1-R2\nfn earlier() {}\n",
            &["S1-R2: earlier (crates/api/tests/reads.rs)", "S1-R10: later (crates/api/tests/reads.rs)"],
        );
    }

    #[test]
    fn a_comment_on_something_else_names_no_test() {
        check("/// S1-R1\nstruct Thing;\nfn unrelated() {}\n", &[]);
        check("/// RS1-R1, S1, S1-R, S1-R1-S1-S1\nfn unrelated() {}\n", &[]);
    }
}
