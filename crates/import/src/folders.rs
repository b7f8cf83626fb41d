//! Which export a file belongs to, when several lie in one tree.

use std::collections::BTreeMap;

/// The folder of a path with its last `/`; empty at the root of the tree.
pub(crate) fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// The folder above a folder, both with their last `/`.
pub(crate) fn parent(of: &str) -> Option<&str> {
    let inner = of.strip_suffix('/')?;
    Some(folder(inner))
}

/// The nearest of some folders that a path lies below.
pub(crate) fn nearest<'r, T>(roots: &'r BTreeMap<String, T>, path: &str) -> Option<&'r str> {
    let mut above = Some(folder(path));
    while let Some(candidate) = above {
        if let Some((root, _)) = roots.get_key_value(candidate) {
            return Some(root);
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
        let roots = BTreeMap::from([("a/".to_owned(), ()), ("a/b/".to_owned(), ())]);
        assert_eq!(nearest(&roots, "a/b/c/d.txt"), Some("a/b/"));
        assert_eq!(nearest(&roots, "a/x.txt"), Some("a/"));
        assert_eq!(nearest(&roots, "ab/x.txt"), None);
        assert_eq!(nearest(&BTreeMap::from([(String::new(), ())]), "q/x.txt"), Some(""));
    }
}
