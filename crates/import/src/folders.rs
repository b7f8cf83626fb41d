//! Which export a file belongs to, when several lie in one tree.

/// The folder of a path with its last `/`; empty at the root of the tree.
pub(crate) fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// The folder above a folder, both with their last `/`.
pub(crate) fn parent(of: &str) -> Option<&str> {
    let inner = of.strip_suffix('/')?;
    Some(folder(inner))
}

/// The nearest folder above a path that passes a test.
pub(crate) fn nearest(path: &str, is_root: impl Fn(&str) -> bool) -> Option<&str> {
    let mut above = Some(folder(path));
    while let Some(candidate) = above {
        if is_root(candidate) {
            return Some(candidate);
        }
        above = parent(candidate);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_above_a_path_is_found() {
        let is_root = |folder: &str| ["a/", "a/b/"].contains(&folder);
        assert_eq!(nearest("a/b/c/d.txt", is_root), Some("a/b/"));
        assert_eq!(nearest("a/x.txt", is_root), Some("a/"));
        assert_eq!(nearest("ab/x.txt", is_root), None);
        assert_eq!(nearest("q/x.txt", str::is_empty), Some(""));
    }
}
