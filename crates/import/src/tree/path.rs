//! Paths inside a tree, made harmless.

/// Longest path that is kept.
const MOST_BYTES: usize = 4096;

/// A path as a tree may hold it: `/` between the parts, no empty part, no `.`, nothing above the root. `None` when
/// it climbs out, is absolute, or cannot be named: such an entry is never opened.
pub fn safe_path(path: &str) -> Option<String> {
    let unified = path.replace('\\', "/");
    let drive = unified.as_bytes().get(1) == Some(&b':');
    if unified.starts_with('/') || drive || unified.contains('\0') || unified.len() > MOST_BYTES {
        return None;
    }
    let parts: Vec<&str> = unified.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() || parts.contains(&"..") {
        return None;
    }
    Some(parts.join("/"))
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The last part without its extension.
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_its_tree() {
        for (given, kept) in [
            ("a/b.txt", Some("a/b.txt")),
            ("./a//b.txt", Some("a/b.txt")),
            ("a\\b.txt", Some("a/b.txt")),
            ("../b", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            ("C:\\x", None),
            ("a\0b", None),
            ("", None),
            ("./", None),
        ] {
            assert_eq!(safe_path(given).as_deref(), kept, "{given:?}");
        }
    }

    #[test]
    fn names_are_the_last_part() {
        assert_eq!((file_name("a/b.tar.gz"), stem("a/b.tar.gz")), ("b.tar.gz", "b.tar"));
        assert_eq!((file_name("b"), stem("a/.hidden")), ("b", ".hidden"));
    }
}
