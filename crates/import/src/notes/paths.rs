//! Names and paths of notes, and the ids Notion puts into them.

use crate::{file_name, stem};

/// Whether a path leads to a note by its name.
pub(super) fn is_markdown(path: &str) -> bool {
    has_extension(path, &["md", "markdown"])
}

pub(super) fn is_text(path: &str) -> bool {
    has_extension(path, &["txt"])
}

fn has_extension(path: &str, extensions: &[&str]) -> bool {
    file_name(path).rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && extensions.iter().any(|known| end.eq_ignore_ascii_case(known))
    })
}

/// Whether a path leads into what programs keep for themselves: settings, bins, version histories.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') || part == "__MACOSX" || part == "node_modules")
}

/// Splits a name into what people call it and the id that Notion appends, 32 hex digits.
pub(super) fn split_notion_id(stem: &str) -> (&str, Option<&str>) {
    let Some(at) = stem.len().checked_sub(32).filter(|at| stem.is_char_boundary(*at)) else {
        return (stem, None);
    };
    let (name, id) = stem.split_at(at);
    let is_id = id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    match name.strip_suffix(' ') {
        Some(name) if is_id => (name, Some(id)),
        // A page without a title is only its id.
        None if is_id && name.is_empty() => ("", Some(id)),
        _ => (stem, None),
    }
}

/// What a note is called by its file.
pub(super) fn name_of(path: &str) -> &str {
    let name = split_notion_id(stem(path)).0;
    if name.is_empty() { stem(path) } else { name }
}

/// A folder as people see it, without Notion's ids.
pub(super) fn shown_folder(path: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts: Vec<&str> = folder.split('/').map(|part| split_notion_id(part).0).collect();
    parts.join("/")
}

/// How many bytes of a path come before what is the vault's own: everything up to the last archive in it.
pub(super) fn archive_prefix(path: &str) -> usize {
    let mut prefix = 0;
    let mut at = 0;
    for part in path.split_inclusive('/') {
        at += part.len();
        let name = part.to_ascii_lowercase();
        if [".zip/", ".tar/", ".tgz/", ".gz/"].iter().any(|end| name.ends_with(end)) {
            prefix = at;
        }
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notions_ids_are_told_from_names() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(split_notion_id(&format!("Plan {id}")), ("Plan", Some(id)));
        assert_eq!(split_notion_id(id), ("", Some(id)));
        assert_eq!(split_notion_id(&format!("Plan{id}")).1, None);
        assert_eq!(split_notion_id("Plan").1, None);
        let odd = "ü".repeat(40);
        assert_eq!(split_notion_id(&odd), (odd.as_str(), None));
        assert_eq!(name_of(&format!("a/{id}.md")), id);
        assert_eq!(shown_folder(&format!("Home {id}/b/x.md")), "Home/b");
    }

    #[test]
    fn archives_and_hidden_folders_are_seen_in_a_path() {
        assert_eq!(archive_prefix("a/b.zip/c.ZIP/d/e.md"), "a/b.zip/c.ZIP/".len());
        assert_eq!(archive_prefix("a/b.md"), 0);
        assert!(is_hidden("a/.obsidian/x.json") && is_hidden(".trash/x.md") && !is_hidden("a/b.c/x.md"));
        assert!(is_markdown("a.MD") && !is_markdown(".md") && is_text("b.txt"));
    }
}
