//! A session as text: prose that stays, and commands with what they showed.

use std::fmt;

/// One command and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// As typed; several lines where it goes on after `> `.
    pub(super) command: String,
    pub(super) code: i32,
    pub(super) shown: String,
}

#[derive(Debug)]
enum Part {
    /// A line outside of the blocks.
    Prose(String),
    Block(Vec<Step>),
}

#[derive(Debug)]
pub(super) struct Transcript {
    parts: Vec<Part>,
}

impl Transcript {
    pub(super) fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut block: Option<Vec<Step>> = None;
        for line in text.lines() {
            match (&mut block, line) {
                (None, "```console") => block = Some(Vec::new()),
                (None, line) => parts.push(Part::Prose(line.to_owned())),
                (Some(_), "```") => parts.extend(block.take().map(Part::Block)),
                (Some(steps), line) => read(steps, line),
            }
        }
        assert!(block.is_none(), "a block has no end");
        Self { parts }
    }

    /// Where it happens.
    pub(super) fn place(&self) -> &str {
        let found = self.parts.iter().find_map(|part| match part {
            Part::Prose(line) => line.strip_prefix("<!-- place: ")?.strip_suffix(" -->"),
            Part::Block(_) => None,
        });
        found.unwrap_or("empty")
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.parts.iter().flat_map(|part| match part {
            Part::Prose(_) => [].iter(),
            Part::Block(steps) => steps.iter(),
        })
    }

    pub(super) fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        self.parts.iter_mut().flat_map(|part| match part {
            Part::Prose(_) => [].iter_mut(),
            Part::Block(steps) => steps.iter_mut(),
        })
    }
}

/// What was shown in former times is forgotten, except for the exit code, which the other tests look at.
fn read(steps: &mut Vec<Step>, line: &str) {
    if let Some(command) = line.strip_prefix("$ ") {
        steps.push(Step { command: command.to_owned(), ..Step::default() });
        return;
    }
    let step = steps.last_mut().unwrap_or_else(|| panic!("no command stands before '{line}'"));
    let begins = step.shown.is_empty();
    if let Some(more) = line.strip_prefix("> ").filter(|_| begins) {
        step.command.push('\n');
        step.command.push_str(more);
    } else if let Some(code) = line.strip_prefix("? ").and_then(|code| code.parse().ok()).filter(|_| begins) {
        step.code = code;
    } else {
        step.shown.push_str(line);
        step.shown.push('\n');
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Prose(line) => writeln!(f, "{line}")?,
                Part::Block(steps) => {
                    writeln!(f, "```console")?;
                    for (place, step) in steps.iter().enumerate() {
                        if place > 0 {
                            writeln!(f)?;
                        }
                        write!(f, "{step}")?;
                    }
                    writeln!(f, "```")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command.replace('\n', "\n> "))?;
        if self.code != 0 {
            writeln!(f, "? {}", self.code)?;
        }
        let shown = self.shown.trim_end();
        for line in shown.lines() {
            let taken = ["$ ", "```"].iter().any(|mark| line.starts_with(mark));
            assert!(!taken, "this line cannot stand in a transcript: {line}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
