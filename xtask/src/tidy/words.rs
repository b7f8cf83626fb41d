//! Words that must not be committed: markers of unfinished work, and paths of one person's machine.

use crate::tidy::Complaint;
use crate::tidy::tree::Tree;

/// Refused in our Rust files. Spelled in halves, so that this file does not refuse itself.
const UNFINISHED: [(&str, &str); 6] = [
    (concat!("FIX", "ME"), "finish it, or open an issue"),
    (concat!("TO", "DO"), "finish it, or open an issue"),
    (concat!("X", "XX"), "finish it, or open an issue"),
    (concat!("to", "do!("), "finish it"),
    (concat!("unimple", "mented!("), "finish it"),
    (concat!("#[ig", "nore"), "assert today's answer and say so; an ignored test proves nothing"),
];

/// Refused in every text file of ours.
const HOMES: [&str; 3] = [concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("C:\\Us", "ers\\")];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.rust_files() {
        for (word, advice) in UNFINISHED {
            let places = lines_with(text, |line| contains_word(line, word));
            complaints.extend(places.map(|line| Complaint::error(path, line, format!("`{word}`: {advice}"))));
        }
    }
    // Exports are invented, and may well imitate a path of the machine they came from.
    for (path, text) in tree.texts().filter(|(path, _)| !path.starts_with("fixtures/")) {
        let places = lines_with(text, names_a_home);
        let message = "a path of one person's machine: write `~` or a placeholder";
        complaints.extend(places.map(|line| Complaint::error(path, line, message)));
    }
    complaints
}

fn lines_with(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
    text.lines().enumerate().filter(move |(_, line)| wanted(line)).map(|(index, _)| index + 1)
}

/// Whether the word stands alone: `TODOS` and `autodo!(` are other words.
fn contains_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        let open = word.ends_with(|c: char| !c.is_alphanumeric());
        (!word.starts_with(char::is_alphanumeric) || !before.ends_with(part_of_word))
            && (open || !after.starts_with(part_of_word))
    })
}

/// Whether a home directory with somebody's name is in the line.
fn names_a_home(line: &str) -> bool {
    HOMES.iter().any(|home| {
        line.match_indices(home).any(|(start, _)| {
            let preceded = line[..start].ends_with(|c: char| c.is_alphanumeric() || "._-}>".contains(c));
            !preceded && line[start + home.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn unfinished_work_is_refused() {
        for (word, _) in UNFINISHED {
            assert_eq!(complaints("crates/api/src/lib.rs", &format!("    {word} later\n")), 1, "{word}");
        }
    }

    #[test]
    fn a_word_inside_another_is_another_word() {
        assert_eq!(
            complaints(
                "crates/api/src/lib.rs",
                &format!("let {}S = auto{}", UNFINISHED[1].0, UNFINISHED[3].0)
            ),
            0
        );
    }

    #[test]
    fn a_home_directory_is_refused_everywhere_but_in_fixtures() {
        let line = format!("open {}alice/pdpp", HOMES[0]);
        assert_eq!(complaints("docs/guide/start.md", &line), 1);
        assert_eq!(complaints("Cargo.toml", &line), 1);
        assert_eq!(complaints("fixtures/exports/jsonl/notes.txt", &line), 0);
    }

    #[test]
    fn a_route_called_home_is_no_home_directory() {
        assert_eq!(complaints("README.md", &format!("see https://example.org{}page", HOMES[0])), 0);
        assert_eq!(complaints("README.md", HOMES[0]), 0);
    }
}
