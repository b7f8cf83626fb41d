//! Every route is documented, and shown by a test that exists.
//!
//! `docs/reference` is generated, so a route cannot be missing from it; what can be missing is the
//! test its row names. The table has the columns Method, Path, Caller, What it does and Shown by.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::tidy::tree::Tree;
use crate::tidy::{Complaint, markdown};

const OPENAPI: &str = "docs/reference/openapi.json";
const ROUTES: &str = "docs/reference/routes.md";
const PAGES: [&str; 5] =
    [OPENAPI, ROUTES, "docs/reference/errors.md", "docs/reference/settings.md", "docs/reference/commands.md"];
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let missing: Vec<_> = PAGES
        .iter()
        .filter(|page| !tree.contains(page))
        .map(|page| Complaint::error(page, 1, "missing: run `cargo xtask generate`"))
        .collect();
    if !missing.is_empty() {
        return missing;
    }
    let rows = rows(tree.text(ROUTES).unwrap_or_default());
    let mut complaints = check_documented(tree.text(OPENAPI).unwrap_or_default(), &rows);
    complaints.extend(check_shown(tree, &rows));
    complaints
}

#[derive(Debug)]
struct Row {
    line: usize,
    method: String,
    path: String,
    tests: Vec<String>,
}

fn check_documented(openapi: &str, rows: &[Row]) -> Vec<Complaint> {
    let Ok(document) = serde_json::from_str::<Value>(openapi) else {
        return vec![Complaint::error(OPENAPI, 1, "this is not JSON")];
    };
    let documented: BTreeSet<_> = rows.iter().map(|row| (row.method.as_str(), row.path.as_str())).collect();
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    paths
        .flat_map(|(path, item)| {
            item.as_object().into_iter().flatten().map(move |(method, _)| (method, path))
        })
        .filter(|(method, _)| METHODS.contains(&method.as_str()))
        .filter(|(method, path)| !documented.contains(&(method.as_str(), path.as_str())))
        .map(|(method, path)| {
            Complaint::error(ROUTES, 1, format!("no row for {} {path}", method.to_ascii_uppercase()))
        })
        .collect()
}

fn check_shown(tree: &Tree, rows: &[Row]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    if rows.is_empty() {
        let message = "no table with the columns Method, Path and Shown by";
        complaints.push(Complaint::error(ROUTES, 1, message));
    }
    for row in rows {
        let route = format!("{} {}", row.method.to_ascii_uppercase(), row.path);
        if row.tests.is_empty() {
            complaints.push(Complaint::error(ROUTES, row.line, format!("no test shows {route}")));
        }
        for test in row.tests.iter().filter(|test| !is_a_test(tree, test)) {
            let message = format!("{route} is shown by `{test}`, which is no test in crates/");
            complaints.push(Complaint::error(ROUTES, row.line, message));
        }
    }
    complaints
}

/// A test may be written with the module it is in: `records::list::a_page_is_bounded`.
fn is_a_test(tree: &Tree, test: &str) -> bool {
    let name = test.rsplit("::").next().unwrap_or(test);
    let definition = format!("fn {name}(");
    tree.rust_files().any(|(path, text)| path.starts_with("crates/") && text.contains(&definition))
}

/// The rows of every table that has the columns, whatever their order.
fn rows(page: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut columns: Option<[usize; 3]> = None;
    for line in markdown::lines(page) {
        let Some(cells) = cells(line.text) else {
            columns = None;
            continue;
        };
        let Some([method, path, shown_by]) = columns else {
            columns = find_columns(&cells);
            continue;
        };
        if cells.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))) {
            continue;
        }
        let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
        rows.push(Row {
            line: line.number,
            method: cell(method).trim_matches('`').to_ascii_lowercase(),
            path: cell(path).trim_matches('`').to_owned(),
            tests: markdown::code_spans(cell(shown_by)).into_iter().map(str::to_owned).collect(),
        });
    }
    rows
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn find_columns(header: &[&str]) -> Option<[usize; 3]> {
    let column = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
    Some([column("method")?, column("path")?, column("shown by")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAPI_TEXT: &str =
        r#"{"paths": {"/v1/streams": {"get": {}, "parameters": []}, "/v1/blobs": {"post": {}}}}"#;
    const HEADER: &str =
        "# Routes\n\n| Method | Path | Caller | What it does | Shown by |\n| --- | --- | --- | --- | --- |\n";
    const STREAMS: &str = "| GET | `/v1/streams` | anyone | Lists. | `streams_are_listed` |\n";
    const BLOBS: &str = "| POST | `/v1/blobs` | owner | Stores. | `api::blobs::a_blob_is_stored` |\n";
    const TESTS: &str = "//! Tests.\nasync fn streams_are_listed() {}\nfn a_blob_is_stored() {}\n";

    fn complaints(rows: &str) -> Vec<String> {
        let routes = format!("{HEADER}{rows}");
        let mut files: Vec<_> = PAGES.iter().map(|page| (*page, "")).collect();
        files.extend([(OPENAPI, OPENAPI_TEXT), (ROUTES, &routes), ("crates/api/tests/all.rs", TESTS)]);
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn documented_routes_with_tests_are_silent() {
        assert_eq!(complaints(&format!("{STREAMS}{BLOBS}")), [""; 0]);
    }

    #[test]
    fn a_route_without_a_row_is_refused() {
        assert_eq!(complaints(STREAMS), ["docs/reference/routes.md:1: no row for POST /v1/blobs"]);
    }

    #[test]
    fn a_row_without_a_test_is_refused() {
        let found = complaints(&format!("{BLOBS}| GET | `/v1/streams` | anyone | Lists. | |\n"));
        assert_eq!(found, ["docs/reference/routes.md:6: no test shows GET /v1/streams"]);
    }

    #[test]
    fn a_test_that_does_not_exist_is_refused() {
        let found = complaints(&format!("{STREAMS}{}", BLOBS.replace("a_blob_is_stored", "a_blob_is_sto")));
        assert!(
            found.len() == 1 && found[0].contains("`api::blobs::a_blob_is_sto`, which is no test"),
            "{found:?}"
        );
    }

    #[test]
    fn a_reference_that_was_never_generated_is_refused() {
        let found = check(&Tree::of(&[]));
        assert!(found.len() == PAGES.len() && found[0].message.contains("cargo xtask generate"), "{found:?}");
    }
}
