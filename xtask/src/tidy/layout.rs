//! How a Rust file is shaped: a header that says what it is for, a name that says the same, a readable size.

use std::path::Path;

use crate::tidy::Complaint;
use crate::tidy::tree::Tree;

const COMFORTABLE: usize = 400;
const LARGEST: usize = 600;
/// Names for files without a subject.
const NO_SUBJECT: [&str; 6] = ["util", "utils", "common", "helpers", "misc", "manager"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let files = || tree.rust_files();
    let mut complaints: Vec<_> = files().filter_map(|(path, text)| check_header(path, text)).collect();
    complaints.extend(files().filter_map(|(path, _)| check_name(path)));
    complaints
        .extend(files().filter(|(path, _)| !is_test(path)).filter_map(|(path, text)| check_size(path, text)));
    complaints
}

fn check_header(path: &str, text: &str) -> Option<Complaint> {
    let header = text.lines().next().and_then(|line| line.strip_prefix("//! "));
    if header.is_some_and(|header| !header.trim().is_empty()) {
        return None;
    }
    Some(Complaint::error(path, 1, "the first line must be a `//! ` header that says what this file is for"))
}

fn check_name(path: &str) -> Option<Complaint> {
    let name = Path::new(path).file_stem()?.to_str()?;
    NO_SUBJECT.contains(&name).then(|| {
        Complaint::error(path, 1, format!("`{name}` names no subject: name the file after what it holds"))
    })
}

fn check_size(path: &str, text: &str) -> Option<Complaint> {
    let lines = text.lines().take_while(|line| line.trim_start() != "#[cfg(test)]").count();
    if lines > LARGEST {
        Some(Complaint::error(
            path,
            lines,
            format!("{lines} lines before the tests, over {LARGEST}: split it"),
        ))
    } else if lines > COMFORTABLE {
        Some(Complaint::warning(path, lines, format!("{lines} lines before the tests: has it two subjects?")))
    } else {
        None
    }
}

/// Tests may be long: they are read one at a time.
fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_without_a_header_is_refused() {
        for text in ["use std::fs;\n", "", "//!\nmod a;\n", "// A comment.\n", "\n//! Late.\n"] {
            let found = complaints("crates/api/src/lib.rs", text);
            assert!(found.len() == 1 && found[0].contains("header"), "{text:?}: {found:?}");
        }
        assert_eq!(complaints("crates/api/tests/authority.rs", "fn a() {}").len(), 1);
        assert_eq!(complaints("crates/api/src/lib.rs", "//! Serves records.\n"), [""; 0]);
    }

    #[test]
    fn a_file_without_a_subject_is_refused() {
        assert!(complaints("crates/api/src/utils.rs", "//! Things.\n")[0].contains("names no subject"));
    }

    #[test]
    fn a_long_file_is_warned_about_and_a_longer_one_refused() {
        let lines = |count| format!("//! Long.\n{}", "x\n".repeat(count));
        assert_eq!(complaints("crates/api/src/a.rs", &lines(399)), [""; 0]);
        assert!(complaints("crates/api/src/a.rs", &lines(400))[0].contains("warning: 401 lines"));
        assert!(complaints("crates/api/src/a.rs", &lines(600))[0].contains("split it"));
    }

    #[test]
    fn tests_do_not_count() {
        let text = format!("//! Short.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(900));
        assert_eq!(complaints("crates/api/src/a.rs", &text), [""; 0]);
        let text = format!("//! Tests.\n{}", "x\n".repeat(900));
        assert_eq!(complaints("crates/api/src/reads/tests.rs", &text), [""; 0]);
    }
}
