//! Commands that the documentation tells people to type exist, with the flags it gives them.
//!
//! The binary's own `--help` is the authority, so a renamed flag fails here before it fails a reader.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::CommandFactory;

use crate::Cli;
use crate::tidy::tree::Tree;
use crate::tidy::{Complaint, markdown, shell};

/// Asks the binary for the help of one chain of subcommands.
type Help<'a> = dyn FnMut(&[String]) -> Result<String> + 'a;

pub(super) fn check(tree: &Tree, help: &mut Help<'_>) -> Vec<Complaint> {
    let mut pages = BTreeMap::new();
    let mut complaints = Vec::new();
    for (path, text) in tree.markdown_files().filter(|(path, _)| is_a_guide(path)) {
        for (line, words) in typed(text) {
            let problem = match invocation(&words) {
                Some(Invocation::Pdpp(words)) => check_words(words, &mut |chain| {
                    if let Some(page) = pages.get(chain) {
                        return Ok(HelpPage::clone(page));
                    }
                    let page = HelpPage::parse(&help(chain)?);
                    pages.insert(chain.to_vec(), page.clone());
                    Ok(page)
                }),
                Some(Invocation::Xtask(words)) => check_words(words, &mut |chain| Ok(own_help(chain))),
                None => Ok(()),
            };
            if let Err(problem) = problem {
                complaints.push(Complaint::error(path, line, format!("`{}`: {problem:#}", words.join(" "))));
            }
        }
    }
    complaints
}

fn is_a_guide(path: &str) -> bool {
    ["README.md", "CONTRIBUTING.md"].contains(&path) || path.starts_with("docs/guide/")
}

/// Every command in the shell blocks of a page; in a console block, only what follows the prompt.
fn typed(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut typed = Vec::new();
    let mut continued: Option<(usize, String)> = None;
    for line in markdown::lines(text) {
        let text = match (line.language, &continued) {
            (Some("sh" | "bash" | "shell"), _) | (Some("console"), Some(_)) => line.text.trim(),
            (Some("console"), None) => match line.text.trim_start().strip_prefix("$ ") {
                Some(text) => text,
                None => continue,
            },
            _ => continue,
        };
        let (number, mut whole) = continued.take().unwrap_or((line.number, String::new()));
        if let Some(start) = text.strip_suffix('\\') {
            whole.push_str(start);
            continued = Some((number, whole));
        } else {
            whole.push_str(text);
            typed.extend(shell::commands(&whole).into_iter().map(|words| (number, words)));
        }
    }
    typed
}

#[derive(Debug, PartialEq, Eq)]
enum Invocation<'a> {
    Pdpp(&'a [String]),
    Xtask(&'a [String]),
}

/// What the words start, when it is ours: variables may stand before it.
fn invocation(words: &[String]) -> Option<Invocation<'_>> {
    let assignment = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let words = &words[words.iter().take_while(assignment).count()..];
    let starts =
        |prefix: &[&str]| words.len() >= prefix.len() && words.iter().zip(prefix).all(|(a, b)| a == b);
    if starts(&["pdpp"]) {
        Some(Invocation::Pdpp(&words[1..]))
    } else if starts(&["cargo", "xtask"]) {
        Some(Invocation::Xtask(&words[2..]))
    } else if starts(&["cargo", "run"]) {
        let separator = words.iter().position(|word| word == "--")?;
        Some(Invocation::Pdpp(&words[separator + 1..]))
    } else {
        None
    }
}

fn check_words(words: &[String], help: &mut dyn FnMut(&[String]) -> Result<HelpPage>) -> Result<()> {
    let mut chain = Vec::new();
    let mut known = HelpPage::default();
    known.extend(help(&chain)?);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if word.len() > 1 && word.starts_with('-') {
            let (flag, value) =
                word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
            let Some(takes_value) = known.flags.get(flag) else {
                anyhow::bail!("`{flag}` is no flag of `{}`", chain.join(" "));
            };
            if *takes_value && value.is_none() {
                words.next();
            }
        } else if known.commands.contains(word) {
            chain.push(word.clone());
            let page = help(&chain)?;
            known.extend(page);
        } else if !known.commands.is_empty() {
            anyhow::bail!(
                "`{word}` is no command{}",
                chain.last().map(|c| format!(" of `{c}`")).unwrap_or_default()
            );
        }
    }
    Ok(())
}

/// What a page of help offers: subcommands, and flags with whether each takes a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct HelpPage {
    commands: Vec<String>,
    flags: BTreeMap<String, bool>,
}

impl HelpPage {
    /// Goes one level down: flags add up, commands are replaced.
    fn extend(&mut self, deeper: Self) {
        self.commands = deeper.commands;
        self.flags.extend(deeper.flags);
    }

    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut in_commands = false;
        for line in text.lines() {
            if !line.starts_with(' ') {
                in_commands = line == "Commands:";
            } else if in_commands && line.starts_with("  ") && !line.starts_with("   ") {
                page.commands.extend(line.split_whitespace().next().map(str::to_owned));
            } else if line.trim_start().starts_with('-') {
                page.add_flags(line.trim_start());
            }
        }
        page
    }

    /// Reads `-d, --data <DIR>  Where it is`: what follows two spaces is description.
    fn add_flags(&mut self, line: &str) {
        let signature = line.split("  ").next().unwrap_or_default();
        let takes_value = signature.contains('<') && !signature.contains("[=<") && !signature.contains("[<");
        for word in signature.split([' ', ',', '=', '[']).filter(|word| word.starts_with('-')) {
            self.flags.insert(word.trim_end_matches("...").to_owned(), takes_value);
        }
    }
}

fn own_help(chain: &[String]) -> HelpPage {
    let mut command = Cli::command();
    command.build();
    let mut here = &mut command;
    for word in chain {
        here = here.find_subcommand_mut(word).expect("the chain was read from this very command");
    }
    HelpPage::parse(&here.render_long_help().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "Keeps data.\n\nUsage: pdpp [OPTIONS] <COMMAND>\n\nCommands:\n  grant   Hands out access, and a description\n          that goes on\n  demo    Shows all\n  help    Print help\n\nOptions:\n      --data <DIR>  Where the data is\n  -h, --help        Print help\n";
    const GRANT: &str = "Usage: pdpp grant <COMMAND>\n\nCommands:\n  create  Makes one\n\nOptions:\n  -h, --help  Print help\n";
    const CREATE: &str = "Usage: pdpp grant create [OPTIONS]\n\nOptions:\n  -c, --client <NAME>\n          Who\n\n      --json\n          Not a flag: --nonsense\n  -v, --verbose...  More\n";

    fn help(chain: &[String]) -> String {
        match chain.join(" ").as_str() {
            "" => ROOT,
            "grant" => GRANT,
            "grant create" => CREATE,
            _ => "Usage: pdpp demo\n\nOptions:\n  -h, --help  Print help\n",
        }
        .to_owned()
    }

    fn complaints(block: &str) -> Vec<String> {
        let tree = Tree::of(&[("README.md", block)]);
        check(&tree, &mut |chain| Ok(help(chain))).iter().map(ToString::to_string).collect()
    }

    fn check_line(line: &str, expected: Option<&str>) {
        let found = complaints(&format!("```sh\n{line}\n```\n"));
        match expected {
            None => assert_eq!(found, [""; 0], "{line}"),
            Some(problem) => assert!(found.len() == 1 && found[0].contains(problem), "{line}: {found:?}"),
        }
    }

    #[test]
    fn commands_that_exist_are_silent() {
        check_line("pdpp --data DIR grant create -c me --json --verbose", None);
        check_line("PDPP_DATA=x cargo run --release -- demo", None);
        check_line("pdpp grant create --client=me | jq .access_token", None);
        check_line("cargo xtask test --only tidy && cargo xtask bench -- --quick", None);
        check_line("cargo build --release", None);
    }

    #[test]
    fn an_unknown_subcommand_is_refused() {
        check_line("pdpp grants", Some("`grants` is no command"));
        check_line("pdpp grant make", Some("`make` is no command of `grant`"));
        check_line("cargo run --release -- demos", Some("`demos` is no command"));
        check_line("cargo xtask tests", Some("`tests` is no command"));
        check_line("TOKEN=$(pdpp owner token)", Some("`owner` is no command"));
    }

    #[test]
    fn an_unknown_flag_is_refused() {
        check_line("pdpp grant create --nonsense", Some("`--nonsense` is no flag of `grant create`"));
        check_line("pdpp demo --json", Some("`--json` is no flag of `demo`"));
        check_line("cargo xtask generate --chekc", Some("`--chekc` is no flag"));
    }

    #[test]
    fn only_what_is_typed_is_checked() {
        assert_eq!(
            complaints("```console\npdpp nonsense\n```\n```json\npdpp nonsense\n```\npdpp nonsense\n"),
            [""; 0]
        );
        assert_eq!(complaints("```console\n$ pdpp nonsense\noutput\n```\n").len(), 1);
    }

    #[test]
    fn a_continued_line_is_one_command() {
        let found = complaints("```sh\npdpp grant create \\\n  --client me \\\n  --oops\n```\n");
        assert!(
            found.len() == 1 && found[0].starts_with("README.md:2:") && found[0].contains("--oops"),
            "{found:?}"
        );
    }
}
