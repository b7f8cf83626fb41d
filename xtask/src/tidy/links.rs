//! Relative links in Markdown lead somewhere.

use crate::tidy::tree::Tree;
use crate::tidy::{Complaint, markdown};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.markdown_files() {
        for line in markdown::lines(text).iter().filter(|line| line.language.is_none()) {
            for target in targets(line.text) {
                let leads = resolve(path, target).is_some_and(|found| tree.contains(&found));
                if !leads {
                    complaints.push(Complaint::error(
                        path,
                        line.number,
                        format!("the link to `{target}` leads nowhere"),
                    ));
                }
            }
        }
    }
    complaints
}

/// What `[text](target)` and `[name]: target` point at inside the repository, without its anchor.
fn targets(line: &str) -> Vec<&str> {
    let prose = without_code(line);
    // Blanking keeps every byte in its place, so positions in `prose` hold in `line`.
    let inline = prose.match_indices("](").filter_map(|(start, mark)| {
        let rest = &line[start + mark.len()..];
        rest[..rest.find(')')?].split(' ').next()
    });
    let definition =
        line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    inline.chain(definition).filter_map(local).collect()
}

fn local(target: &str) -> Option<&str> {
    let target = target.trim_matches(['<', '>']);
    let elsewhere = target.contains("://") || target.starts_with("mailto:");
    let file = target.split('#').next().unwrap_or_default();
    (!elsewhere && !file.is_empty()).then_some(file)
}

fn without_code(line: &str) -> String {
    let mut code = false;
    let blank = |c: char| {
        if c == '`' {
            code = !code;
        }
        if code { " ".repeat(c.len_utf8()) } else { c.to_string() }
    };
    line.chars().map(blank).collect()
}

/// The path from the root, or nothing when the link leaves the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            "" => return None,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let tree =
            Tree::of(&[("docs/guide/start.md", text), ("README.md", ""), ("docs/reference/errors.md", "")]);
        check(&tree).iter().map(|complaint| complaint.message.clone()).collect()
    }

    #[test]
    fn a_link_to_a_missing_file_is_refused() {
        assert_eq!(complaints("see [setup](setup.md)"), ["the link to `setup.md` leads nowhere"]);
        assert_eq!(complaints("[setup]: ./setup.md"), ["the link to `./setup.md` leads nowhere"]);
    }

    #[test]
    fn a_link_out_of_the_repository_is_refused() {
        assert_eq!(complaints("[x](../../../secret.md)").len(), 1);
        assert_eq!(complaints("[x](/etc/hosts)").len(), 1);
    }

    #[test]
    fn links_that_lead_somewhere_are_silent() {
        let text = "[a](../../README.md), [b](../reference/errors.md#codes \"title\"), [c](../reference/), [d](#here)";
        assert_eq!(complaints(text), [""; 0]);
        assert_eq!(
            complaints("[e](https://example.org/x.md) [f](mailto:a@example.org) ![g](<../../README.md>)"),
            [""; 0]
        );
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(complaints("`[a](b)` and é `x](y)`\n```\n[a](b)\n```\n"), [""; 0]);
    }
}
