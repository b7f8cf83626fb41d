//! What a guide says is shown by a test is shown by one that exists.
//!
//! In a table with a last column "Shown by", a cell names files and, after each, the tests in it:
//! `` `crates/x/tests/a.rs` `one_test`, `another_test` ``. An empty cell is a promise nobody keeps.

use crate::tidy::tree::Tree;
use crate::tidy::{Complaint, markdown};

const PAGES: &str = "docs/guide/";
const COLUMN: &str = "Shown by |";

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.markdown_files()
        .filter(|(page, _)| page.starts_with(PAGES))
        .flat_map(|(page, text)| check_page(tree, page, text))
        .collect()
}

fn check_page(tree: &Tree, page: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut in_table = false;
    for line in markdown::lines(text) {
        let row = line.text.trim();
        if !in_table {
            in_table = row.ends_with(COLUMN);
            continue;
        }
        in_table = row.starts_with('|');
        if in_table && !row.starts_with("| ---") {
            let found = check_cell(tree, row);
            complaints.extend(found.into_iter().map(|message| Complaint::error(page, line.number, message)));
        }
    }
    complaints
}

fn check_cell(tree: &Tree, row: &str) -> Vec<String> {
    let cell = row.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default();
    let (mut found, mut file, mut tests) = (Vec::new(), None, 0);
    for span in markdown::code_spans(cell) {
        if span.contains('/') {
            file = tree.text(span);
            if file.is_none() {
                found.push(format!("`{span}` is no file"));
            }
            continue;
        }
        tests += 1;
        if !file.is_some_and(|text| text.contains(&format!("fn {span}("))) {
            found.push(format!("`{span}` is no test of the file named before it"));
        }
    }
    if tests == 0 {
        found.push("no test shows this".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "# Rules\n\n| Rule | Shown by |\n| --- | --- |\n";

    fn complaints(row: &str) -> Vec<String> {
        let page = format!("{HEADER}{row}\n\nProse with `words`.\n");
        let test = ("crates/x/tests/a.rs", "//! Tests.\nfn codes_serve_once() {}\n");
        let found = check(&Tree::of(&[("docs/guide/rules.md", &page), test]));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_with_its_test_is_silent() {
        assert_eq!(complaints("| Once, and `x` | `crates/x/tests/a.rs` `codes_serve_once` |"), [""; 0]);
    }

    #[test]
    fn a_row_without_a_test_is_refused() {
        let found = ["docs/guide/rules.md:5: no test shows this"];
        assert_eq!(complaints("| Once, and `x` | |"), found);
        assert_eq!(complaints("| Once | `crates/x/tests/a.rs` |"), found);
    }

    #[test]
    fn a_test_or_file_that_does_not_exist_is_refused() {
        let found = complaints("| Once | `crates/x/tests/a.rs` `codes_serve_twice` |");
        assert_eq!(
            found,
            ["docs/guide/rules.md:5: `codes_serve_twice` is no test of the file named before it"]
        );
        let found = complaints("| Once | `crates/x/tests/b.rs` `codes_serve_once` |");
        assert!(found.len() == 2 && found[0].ends_with("`crates/x/tests/b.rs` is no file"), "{found:?}");
    }
}
