//! Whether both stores are held to the same promises: their conformance suites, counted side by side.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::workspace::Workspace;
use crate::{process, tools};

const SUITES: [(&str, &str); 2] = [
    ("store-sqlite", "pdpp-store-sqlite::conformance"),
    ("store-postgres", "pdpp-store-postgres::conformance"),
];

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "rust-suites")]
    suites: BTreeMap<String, Suite>,
}

#[derive(Deserialize)]
struct Suite {
    testcases: BTreeMap<String, serde_json::Value>,
}

/// Prints how many promises each store is tested for, and fails when one is tested for others.
pub(crate) fn promises(workspace: &Workspace) -> Result<()> {
    let mut command = tools::NEXTEST.command(workspace)?;
    command.args(["nextest", "list", "--workspace", "--locked", "--message-format", "json"]);
    let filter = SUITES.map(|(_, suite)| format!("binary_id({suite})")).join(" + ");
    let listed = process::capture(command.args(["-E", &filter]))?;
    let listed: Listed = serde_json::from_str(&listed).context("the list of tests cannot be read")?;
    let kept = SUITES.map(|(store, suite)| (store, names(&listed, suite)));
    for (store, names) in &kept {
        println!("{store}: {} promises", names.len());
    }
    let [(_, one), (_, other)] = &kept;
    let different: Vec<_> = one.symmetric_difference(other).collect();
    if one.is_empty() || !different.is_empty() {
        bail!("the stores are not held to the same promises: {different:?}");
    }
    Ok(())
}

/// Names of promises: a store may be tested in several ways, each with a name of its own in front.
fn names<'a>(listed: &'a Listed, suite: &str) -> BTreeSet<&'a str> {
    let cases = listed.suites.get(suite).map(|suite| suite.testcases.keys());
    cases.into_iter().flatten().filter_map(|name| Some(name.split_once("::")?.1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_counted_once_however_often_it_is_tested() {
        let listed = r#"{"rust-suites": {"s": {"testcases": {"file::a::x": {}, "memory::a::x": {}, "file::a::y": {}}}}}"#;
        let listed: Listed = serde_json::from_str(listed).unwrap();
        assert_eq!(names(&listed, "s").len(), 2);
        assert!(names(&listed, "none").is_empty());
    }
}
