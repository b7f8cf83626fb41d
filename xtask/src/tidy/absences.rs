//! Proves the absences that `ARCHITECTURE.md` states.
//!
//! The page is the source: its list items are read as sentences of two shapes, and each is proved
//! over the whole dependency tree, through other packages too:
//!
//! - ``- `mcp` never reaches `store`, `access` or `auth`: …``
//! - ``- Nothing reaches `openssl`, `native-tls`: …``
//!
//! Only what stands before the first colon or full stop counts, so the reason may name anything.

use crate::tidy::graph::Graph;
use crate::tidy::tree::Tree;
use crate::tidy::{Complaint, layers, markdown};

const PAGE: &str = "ARCHITECTURE.md";
const SHAPE: &str = "state at least one absence as a list item: - `mcp` never reaches `store`: why; or - Nothing reaches `openssl`: why";

pub(super) fn check(tree: &Tree, graph: &Graph) -> Vec<Complaint> {
    let Some(page) = tree.text(PAGE) else {
        return vec![Complaint::error(PAGE, 1, "the map of the house is missing")];
    };
    let items = items(page);
    let absences: Vec<_> = items.iter().filter_map(|(line, item)| Some((*line, parse(item)?))).collect();
    if absences.is_empty() {
        return vec![Complaint::error(PAGE, 1, SHAPE)];
    }
    absences.iter().flat_map(|(line, absence)| prove(*line, absence, graph)).collect()
}

/// The list items of the page, each on one line, with the number of its first.
fn items(page: &str) -> Vec<(usize, String)> {
    let mut items = Vec::<(usize, String)>::new();
    let mut open = false;
    for line in markdown::lines(page).into_iter().filter(|line| line.language.is_none()) {
        let text = line.text.trim();
        if let Some(item) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
            items.push((line.number, item.to_owned()));
            open = true;
        } else if open && line.text.starts_with(' ') && !text.is_empty() {
            items.iter_mut().next_back().expect("an open item was pushed").1.extend([" ", text]);
        } else {
            open = false;
        }
    }
    items
}

#[derive(Debug, PartialEq, Eq)]
struct Absence<'a> {
    /// Empty for "nothing".
    from: Vec<&'a str>,
    never: Vec<&'a str>,
}

fn parse(item: &str) -> Option<Absence<'_>> {
    let sentence = item.split([':', '.']).next()?;
    if let Some((from, never)) = sentence.split_once(" never reaches ") {
        let from = markdown::code_spans(from);
        return (!from.is_empty()).then(|| Absence { from, never: markdown::code_spans(never) });
    }
    let never = sentence.strip_prefix("Nothing reaches ")?;
    Some(Absence { from: Vec::new(), never: markdown::code_spans(never) })
}

fn prove(line: usize, absence: &Absence<'_>, graph: &Graph) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut complain = |message: String| complaints.push(Complaint::error(PAGE, line, message));
    if absence.never.is_empty() {
        complain("this absence names nothing in backticks".to_owned());
    }
    for name in &absence.from {
        if !layers::is_known(&package(name)) {
            complain(format!("`{name}` is none of our crates"));
        }
    }
    let starts: Vec<_> = if absence.from.is_empty() {
        graph.members().map(|(name, _)| name.to_owned()).collect()
    } else {
        absence.from.iter().map(|name| package(name)).filter(|name| graph.member(name).is_some()).collect()
    };
    for start in &starts {
        let reached = graph.reach(start);
        for name in
            absence.never.iter().map(|name| package(name)).filter(|name| reached.contains(name.as_str()))
        {
            complain(format!(
                "`{start}` reaches `{name}`; `cargo tree -p {start} -i {name} -e normal` shows how"
            ));
        }
    }
    complaints
}

/// Our crates may be called by their folder.
fn package(name: &str) -> String {
    let prefixed = format!("pdpp-{name}");
    if layers::is_known(&prefixed) { prefixed } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(page: &str) -> Vec<String> {
        let graph = Graph::of_members(&[
            ("pdpp-mcp", &["pdpp-client"]),
            ("pdpp-client", &["reqwest", "pdpp-access"]),
            ("pdpp-access", &[]),
            ("pdpp-wire", &["serde"]),
        ]);
        check(&Tree::of(&[("ARCHITECTURE.md", page)]), &graph).iter().map(|c| c.message.clone()).collect()
    }

    #[test]
    fn a_true_absence_is_silent() {
        assert_eq!(
            complaints("- `wire` never reaches `tokio` or `axum`: it is pure.\n- Nothing reaches `openssl`."),
            [""; 0]
        );
    }

    #[test]
    fn an_absence_broken_through_another_crate_is_found() {
        let found = complaints("- `mcp` never reaches `store`, `access` or `auth`.");
        assert!(found.len() == 1 && found[0].contains("`pdpp-mcp` reaches `pdpp-access`"), "{found:?}");
    }

    #[test]
    fn an_item_may_go_on_in_the_next_line() {
        let found = complaints(
            "* `mcp` never reaches `store`,\n  `access`: it forwards.\n\nNothing reaches `reqwest`.\n",
        );
        assert!(found.len() == 1 && found[0].contains("`pdpp-mcp` reaches `pdpp-access`"), "{found:?}");
    }

    #[test]
    fn nothing_means_no_crate_at_all() {
        let found = complaints("- Nothing reaches `reqwest`: ever.");
        assert!(found.len() == 2 && found[0].contains("`pdpp-client` reaches `reqwest`"), "{found:?}");
    }

    #[test]
    fn a_page_that_states_no_absence_is_refused() {
        assert_eq!(complaints("# Map\n\nNothing to see."), [SHAPE]);
        let missing = check(&Tree::of(&[]), &Graph::default());
        assert!(missing[0].message.contains("missing"), "{missing:?}");
    }

    #[test]
    fn an_absence_about_an_unknown_crate_is_refused() {
        assert_eq!(complaints("- `wirre` never reaches `tokio`."), ["`wirre` is none of our crates"]);
    }
}
