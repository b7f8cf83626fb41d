//! `coverage`: which tests name which requirement rows, and that no row is without one.
//!
//! A test names its rows in its doc comment, as in `/// S2-R2-S1: …` or `/// S0-R3, S0-R3-S1: …`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use anyhow::{Result, bail};

use crate::tidy::Tree;
use crate::workspace::Workspace;

/// The requirement documents: in each, the number of scenarios of each requirement.
const DOCUMENTS: [&[u32]; 5] = [&[2, 2, 1, 2, 3], &[3, 3, 1, 1, 2], &[1, 2, 1, 2, 3], &[2, 2, 2], &[5, 2]];

/// Lists the tests of each row.
pub(crate) fn coverage(workspace: &Workspace) -> Result<()> {
    let named = collect(&Tree::read(workspace.root())?);
    for (row, tests) in &named {
        println!("{row}");
        for test in tests {
            println!("    {test}");
        }
    }
    println!("{} requirement rows are named by tests", named.len());
    Ok(())
}

/// Prints how many tests each row has, and fails when one has none.
pub(crate) fn rows(workspace: &Workspace) -> Result<()> {
    let named = collect(&Tree::read(workspace.root())?);
    let count = |row: &Row| named.get(row).map_or(0, Vec::len);
    println!("row       tests");
    for row in required() {
        println!("{:<9} {:>5}", row.to_string(), count(&row));
    }
    let (missing, invented) = compare(&named);
    if !missing.is_empty() {
        bail!(
            "no test names {}: name the row in the doc comment of the test that shows it",
            joined(&missing)
        );
    }
    if !invented.is_empty() {
        bail!("tests name {}, which no requirement document has", joined(&invented));
    }
    Ok(())
}

/// The tests of each row, as a page of the reference.
pub(crate) fn page(workspace: &Workspace) -> Result<String> {
    let named = collect(&Tree::read(workspace.root())?);
    let shown = required().filter(|row| named.contains_key(row)).count();
    let mut page = format!(
        "# Requirement rows and their tests\n\n{shown} of {} rows of the requirement documents for the MCP adapter are \
         named by tests. A build in which one is not fails.\n\n| Row | Tests |\n| --- | --- |\n",
        required().count()
    );
    for row in required() {
        let tests = named.get(&row).map_or(&[][..], Vec::as_slice).iter();
        let tests: Vec<_> = tests.filter_map(|test| test.split_once(' ')).collect();
        let tests: Vec<_> = tests.iter().map(|(name, place)| format!("`{name}` {place}")).collect();
        writeln!(page, "| {row} | {} |", tests.join("<br>"))?;
    }
    Ok(page)
}

/// Rows without tests, and rows that tests name and no document has.
fn compare(named: &BTreeMap<Row, Vec<String>>) -> (Vec<Row>, Vec<Row>) {
    let missing = required().filter(|row| !named.contains_key(row)).collect();
    let invented = named.keys().filter(|row| !required().any(|known| known == **row)).copied().collect();
    (missing, invented)
}

/// Every row, in reading order.
fn required() -> impl Iterator<Item = Row> {
    (0..).zip(DOCUMENTS).flat_map(|(section, requirements)| {
        (1..).zip(requirements).flat_map(move |(requirement, scenarios)| {
            let row = move |scenario| Row { section, requirement, scenario };
            std::iter::once(row(None)).chain((1..=*scenarios).map(move |scenario| row(Some(scenario))))
        })
    })
}

fn joined(rows: &[Row]) -> String {
    rows.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Rows in reading order, so that `R2` comes before `R10`.
fn collect(tree: &Tree) -> BTreeMap<Row, Vec<String>> {
    let mut rows = BTreeMap::<Row, Vec<String>>::new();
    for (path, text) in tree.rust_files() {
        let (mut named, mut is_test) = (Vec::new(), false);
        for line in text.lines().map(str::trim_start) {
            if let Some(comment) = line.strip_prefix("///") {
                named.extend(rows_in(comment));
            } else if line.starts_with("#[") {
                is_test |= line.contains("test]") || line.contains("::test(");
            } else {
                if let Some(name) = function_name(line).filter(|_| is_test) {
                    named.sort_unstable();
                    named.dedup();
                    for row in &named {
                        rows.entry(*row).or_default().push(format!("{name} ({path})"));
                    }
                }
                named.clear();
                is_test = false;
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

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            "/// S1-R10\n#[test]\nfn later() {}\n/// S1-R2\n#[test]\nfn earlier() {}\n",
            &["S1-R2: earlier (crates/api/tests/reads.rs)", "S1-R10: later (crates/api/tests/reads.rs)"],
        );
    }

    #[test]
    fn a_comment_on_something_else_names_no_test() {
        check("/// S1-R1\nstruct Thing;\n#[test]\nfn unrelated() {}\n", &[]);
        check("/// S1-R1\nfn helper() {}\n", &[]);
        check("/// RS1-R1, S1, S1-R, S1-R1-S1-S1\n#[test]\nfn unrelated() {}\n", &[]);
    }

    #[test]
    fn several_rows_stand_in_one_line() {
        check(
            "/// S0-R3, S0-R3-S1: shown inline. Again S0-R3.\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn inline() {}\n",
            &["S0-R3: inline (crates/api/tests/reads.rs)", "S0-R3-S1: inline (crates/api/tests/reads.rs)"],
        );
    }

    #[test]
    fn the_documents_have_sixty_two_rows() {
        let rows: Vec<_> = required().collect();
        let scenarios = rows.iter().filter(|row| row.scenario.is_some()).count();
        assert_eq!((rows.len(), scenarios), (62, 42));
        assert_eq!(rows[0].to_string(), "S0-R1");
        assert_eq!(rows[61].to_string(), "S4-R2-S2");
    }

    #[test]
    fn a_row_without_a_test_and_a_test_without_a_row_are_noticed() {
        let every = |left_out: &str| {
            let tests = required().map(|row| row.to_string()).filter(|row| row != left_out);
            let sources: Vec<_> = tests.map(|row| format!("/// {row}\n#[test]\nfn shows() {{}}\n")).collect();
            collect(&Tree::of(&[("crates/mcp/tests/it/all.rs", &sources.concat())]))
        };
        assert_eq!(compare(&every("")), (vec![], vec![]));
        let mut named = every("S3-R2-S1");
        named.insert(Row { section: 9, requirement: 1, scenario: None }, vec![]);
        let (missing, invented) = compare(&named);
        assert_eq!((joined(&missing), joined(&invented)), ("S3-R2-S1".into(), "S9-R1".into()));
    }
}
