//! What a run of the suite means: which scenarios were required, which failed, and which of those may.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

const SUMMARY: &str = "=== SUMMARY ===";

/// How a scenario ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    /// The suite found nothing to check, and calls that a success.
    Unchecked,
}

/// What may end otherwise than well, each with its reason in the file it comes from.
#[derive(Debug, Default)]
pub(super) struct Expected {
    failed: Vec<String>,
    unchecked: Vec<String>,
}

impl Expected {
    pub(super) fn of(yaml: &str, revision: &str) -> Self {
        Self {
            failed: list_under(yaml, revision),
            unchecked: list_under(yaml, &format!("{revision}-unchecked")),
        }
    }

    fn outcome(&self, scenario: &String) -> Outcome {
        if self.failed.contains(scenario) {
            Outcome::Failed
        } else if self.unchecked.contains(scenario) {
            Outcome::Unchecked
        } else {
            Outcome::Passed
        }
    }
}

/// A scenario that did not end as it should.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) scenario: String,
    trouble: Trouble,
}

#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    Ended(Outcome),
    NotRun,
    /// Listed, and not required.
    Unknown,
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trouble = match self.trouble {
            Trouble::Ended(Outcome::Failed) => "failed",
            Trouble::Ended(Outcome::Unchecked) => "checked nothing",
            Trouble::Ended(Outcome::Passed) => "passes: take it off the list",
            Trouble::NotRun => "is required and was not run",
            Trouble::Unknown => "is listed and is not required",
        };
        write!(formatter, "{} {trouble}", self.scenario)
    }
}

/// The suite's own closing lines.
pub(super) fn summary(output: &str) -> Option<&str> {
    Some(output.split_once(SUMMARY)?.1.trim())
}

/// Each scenario of the summary, and how it ended.
pub(super) fn outcomes(output: &str) -> BTreeMap<String, Outcome> {
    let lines = summary(output).unwrap_or_default().lines().take_while(|line| !line.starts_with("Total:"));
    let outcome = |line: &str| {
        let (mark, rest) = line.split_once(' ')?;
        let (scenario, counts) = rest.split_once(": ")?;
        let outcome = match mark {
            "✓" if counts.starts_with("0 passed") => Outcome::Unchecked,
            "✓" => Outcome::Passed,
            "✗" => Outcome::Failed,
            _ => return None,
        };
        Some((scenario.to_owned(), outcome))
    };
    lines.filter_map(outcome).collect()
}

/// The items of a top-level list in a simple YAML file, such as the suite's lists of requirements.
pub(super) fn list_under(yaml: &str, key: &str) -> Vec<String> {
    let mut lines = yaml.lines();
    let heading = format!("{key}:");
    lines.find(|line| line.trim_end() == heading);
    lines
        .take_while(|line| line.is_empty() || line.starts_with([' ', '#']))
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(|item| item.split(" #").next().unwrap_or_default().trim().to_owned())
        .collect()
}

/// Every required scenario passes, except exactly those that are expected not to.
pub(super) fn judge(
    required: &[String],
    expected: &Expected,
    outcomes: &BTreeMap<String, Outcome>,
) -> Vec<Complaint> {
    let complain = |scenario: &String, trouble| Complaint { scenario: scenario.clone(), trouble };
    let wrong = required.iter().filter_map(|scenario| match outcomes.get(scenario) {
        None => Some(complain(scenario, Trouble::NotRun)),
        Some(outcome) if *outcome == expected.outcome(scenario) => None,
        Some(outcome) => Some(complain(scenario, Trouble::Ended(*outcome))),
    });
    let listed = expected.failed.iter().chain(&expected.unchecked);
    let unknown = listed.filter(|scenario| !required.contains(scenario));
    wrong.chain(unknown.map(|scenario| complain(scenario, Trouble::Unknown))).collect()
}

/// The failed checks of a scenario's report, one per line.
pub(super) fn failed_checks(report: &str) -> String {
    let checks: Vec<Value> = serde_json::from_str(report).unwrap_or_default();
    let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
    let text = |check: &Value, member: &str| check[member].as_str().unwrap_or_default().to_owned();
    failed
        .map(|check| format!("    {}: {}", text(check, "id"), text(check, "errorMessage")))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "=== Running scenario: ping ===\n\n=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n\
        ✗ tools-call-sampling: 1 passed, 1 failed\n✓ streams: 0 passed, 0 failed\n\nTotal: 3 passed, 1 failed\n\nNot scored:\n  ✗ tasks (extension)\n";

    #[track_caller]
    fn check(required: &[&str], expected: &str, complaints: &[&str]) {
        let required: Vec<_> = required.iter().map(ToString::to_string).collect();
        let found = judge(&required, &Expected::of(expected, "2025-11-25"), &outcomes(OUTPUT));
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), complaints);
    }

    #[test]
    fn what_fails_must_be_expected() {
        let required = ["ping", "tools-call-sampling"];
        check(&required, "2025-11-25:\n  - tools-call-sampling\n", &[]);
        check(&required, "", &["tools-call-sampling failed"]);
        check(&required, "2026-07-28:\n  - tools-call-sampling\n", &["tools-call-sampling failed"]);
    }

    #[test]
    fn what_checks_nothing_must_be_expected() {
        check(&["streams"], "2025-11-25-unchecked:\n  - streams\n", &[]);
        check(&["streams"], "", &["streams checked nothing"]);
        check(&["streams"], "2025-11-25:\n  - streams\n", &["streams checked nothing"]);
    }

    #[test]
    fn what_is_expected_must_happen() {
        check(&["ping"], "2025-11-25:\n  - ping\n", &["ping passes: take it off the list"]);
        check(&["ping"], "2025-11-25:\n  - gone\n", &["gone is listed and is not required"]);
    }

    #[test]
    fn what_is_required_must_run() {
        check(&["ping", "tools-list"], "", &["tools-list is required and was not run"]);
    }

    #[test]
    fn lists_are_read_up_to_the_next_heading() {
        let yaml = "# Head.\nserver:\n  - a # why\n  # Because.\n  - b\n\nclient:\n  - c\n";
        assert_eq!(list_under(yaml, "server"), ["a", "b"]);
        assert_eq!(list_under(yaml, "client"), ["c"]);
        assert!(list_under(yaml, "nobody").is_empty());
    }

    #[test]
    fn a_report_gives_its_failures() {
        let report = r#"[{"id":"a","status":"SUCCESS"},{"id":"b","status":"FAILURE","errorMessage":"no"}]"#;
        assert_eq!(failed_checks(report), "    b: no");
    }
}
