//! The page of the reference that says what the suite said.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};

use super::EXPECTED;
use super::verdict::Outcome;
use crate::workspace::Workspace;

const PAGE: &str = "docs/reference/mcp-conformance.md";

/// What the suite required at one revision, and how it ended.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) revision: &'static str,
    pub(super) required: Vec<String>,
    pub(super) outcomes: BTreeMap<String, Outcome>,
}

impl Run {
    fn outcome(&self, scenario: &str) -> &'static str {
        match self.outcomes.get(scenario).filter(|_| self.required.iter().any(|one| one == scenario)) {
            None => "",
            Some(Outcome::Passed) => "passed",
            Some(Outcome::Failed) => "failed, as expected",
            Some(Outcome::Unchecked) => "checked nothing",
        }
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.required.iter().filter(|scenario| self.outcomes.get(*scenario) == Some(&outcome)).count()
    }
}

pub(super) fn page(suite: &str, runs: &[Run], authorization: &[&str]) -> Result<String> {
    let mut page = format!(
        "# MCP conformance\n\nWhat `{suite}` says of our HTTP endpoint. It runs in `cargo xtask test`, which fails when anything \
         here changes; why some may fail stands in `{EXPECTED}`.\n\n\
         | Revision | Required | Passed | Failed, as expected | Checked nothing |\n| --- | ---: | ---: | ---: | ---: |\n"
    );
    for run in runs {
        let counts = [Outcome::Passed, Outcome::Failed, Outcome::Unchecked].map(|outcome| run.count(outcome));
        let [passed, failed, unchecked] = counts;
        writeln!(page, "| {} | {} | {passed} | {failed} | {unchecked} |", run.revision, run.required.len())?;
    }
    let revisions: Vec<_> = runs.iter().map(|run| run.revision).collect();
    writeln!(page, "\n| Scenario | {} |\n| --- |{}", revisions.join(" | "), " --- |".repeat(runs.len()))?;
    let mut scenarios: Vec<_> = runs.iter().flat_map(|run| &run.required).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    for scenario in scenarios {
        let outcomes: Vec<_> = runs.iter().map(|run| run.outcome(scenario)).collect();
        writeln!(page, "| `{scenario}` | {} |", outcomes.join(" | "))?;
    }
    let authorization: Vec<_> = authorization.iter().map(|scenario| format!("`{scenario}`")).collect();
    writeln!(
        page,
        "\nOf its scenarios for authorization servers all pass at `pdpp serve`, recommendations included: {}.",
        authorization.join(", ")
    )?;
    Ok(page)
}

/// Writes the page, or fails where it is not what came out.
pub(super) fn keep(workspace: &Workspace, page: &str, write: bool) -> Result<()> {
    let path = workspace.path(PAGE);
    if write {
        return fs::write(path, page).with_context(|| format!("{PAGE} cannot be written"));
    }
    let kept = fs::read_to_string(path).with_context(|| format!("{PAGE} cannot be read"))?;
    if kept != page {
        bail!("{PAGE} is not what came out; run `cargo xtask conformance --write` and read the difference");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_stands_beside_its_outcome_at_each_revision() {
        let run = |revision, required: &[&str], outcomes: &[(&str, Outcome)]| Run {
            revision,
            required: required.iter().map(ToString::to_string).collect(),
            outcomes: outcomes.iter().map(|(name, outcome)| ((*name).to_owned(), *outcome)).collect(),
        };
        let runs = [
            run(
                "new",
                &["a", "b"],
                &[("a", Outcome::Passed), ("b", Outcome::Passed), ("c", Outcome::Failed)],
            ),
            run("old", &["a", "c"], &[("a", Outcome::Unchecked), ("c", Outcome::Failed)]),
        ];
        let page = page("suite 1", &runs, &["x"]).unwrap();
        for line in [
            "| new | 2 | 2 | 0 | 0 |",
            "| old | 2 | 0 | 1 | 1 |",
            "| `a` | passed | checked nothing |",
            "| `b` | passed |  |",
            "| `c` |  | failed, as expected |",
        ] {
            assert!(page.lines().any(|one| one == line), "{line}\n{page}");
        }
    }
}
