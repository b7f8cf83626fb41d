//! `tidy`: checks what the compiler cannot.
//!
//! Each check is a function from what it reads to a list of complaints, so that its tests can show
//! it failing. This file runs them all and prints what they found.

mod absences;
mod commands;
mod graph;
mod layers;
mod layout;
mod links;
mod markdown;
mod routes;
mod shell;
mod shown;
mod tree;
mod words;

use std::fmt;
use std::process::Command;

use anyhow::{Result, bail};

use crate::tidy::graph::Graph;
pub(crate) use crate::tidy::tree::Tree;
use crate::workspace::Workspace;

pub(crate) fn tidy(workspace: &Workspace) -> Result<()> {
    let tree = Tree::read(workspace.root())?;
    let graph = Graph::of(workspace)?;
    let mut complaints = Vec::new();
    complaints.extend(layers::check(&graph));
    complaints.extend(absences::check(&tree, &graph));
    complaints.extend(layout::check(&tree));
    complaints.extend(words::check(&tree));
    complaints.extend(links::check(&tree));
    complaints.extend(routes::check(&tree));
    complaints.extend(shown::check(&tree));

    let pdpp = workspace.build_pdpp()?;
    complaints.extend(commands::check(&tree, &mut |words| help_of(&pdpp, words)));
    report(&complaints)
}

fn help_of(pdpp: &std::path::Path, words: &[String]) -> Result<String> {
    let output = Command::new(pdpp).args(words).arg("--help").output()?;
    // An adapter whose stdout is a protocol prints its help to stderr.
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn report(complaints: &[Complaint]) -> Result<()> {
    for complaint in complaints {
        println!("{complaint}");
    }
    let errors = complaints.iter().filter(|complaint| complaint.weight == Weight::Error).count();
    println!("tidy: {errors} errors, {} warnings", complaints.len() - errors);
    if errors > 0 {
        bail!("tidy found {errors} things to put right; each line above names its place");
    }
    Ok(())
}

/// Something to put right, and where.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    path: String,
    line: usize,
    weight: Weight,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Printed, and nothing more.
    Warning,
    /// Fails the task.
    Error,
}

impl Complaint {
    fn error(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, weight: Weight::Error, message: message.into() }
    }

    fn warning(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { weight: Weight::Warning, ..Self::error(path, line, message) }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = if self.weight == Weight::Warning { "warning: " } else { "" };
        write!(formatter, "{}:{}: {weight}{}", self.path, self.line, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_does_not_fail_and_an_error_does() {
        assert!(report(&[Complaint::warning("a.rs", 1, "long")]).is_ok());
        assert!(report(&[Complaint::error("a.rs", 1, "too long")]).is_err());
    }

    #[test]
    fn a_complaint_names_its_place() {
        assert_eq!(Complaint::warning("a.rs", 7, "long").to_string(), "a.rs:7: warning: long");
    }
}
