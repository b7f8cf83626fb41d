//! Files and folders as a tree. Links are not followed: an export that points elsewhere must not bring that in.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pdpp_import::{Bounds, Complaint, Entry, ReadSeek, Tree, safe_path};

use crate::exit::Usage;

/// What the owner named, as one tree.
#[derive(Debug, Default)]
pub(super) struct DiskTree {
    entries: Vec<Entry>,
    files: Vec<PathBuf>,
    left_out: Vec<Complaint>,
}

impl DiskTree {
    /// Lists files and folders, in the order of their names. Each stands under the last part of the path it was
    /// named by.
    pub(super) fn list(paths: &[PathBuf], bounds: &Bounds) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        for path in paths {
            let cannot = || format!("cannot open {}", path.display());
            let whole = fs::canonicalize(path).with_context(cannot)?;
            let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let metadata = fs::metadata(&whole).with_context(cannot)?;
            if metadata.is_dir() {
                tree.walk(whole, name, bounds)?;
            } else if metadata.is_file() {
                // Opened once now, so that a file without permission is said before anything is loaded.
                File::open(&whole).with_context(cannot)?;
                tree.push(whole, &name, metadata.len());
            } else {
                return Err(Usage(format!("{} is neither a file nor a folder", path.display())).into());
            }
        }
        Ok(tree)
    }

    fn walk(&mut self, folder: PathBuf, name: String, bounds: &Bounds) -> anyhow::Result<()> {
        // Folders still to list, deepest last.
        let mut pending = vec![(folder, name)];
        while let Some((folder, prefix)) = pending.pop() {
            let listed = match fs::read_dir(&folder) {
                Ok(listed) => listed,
                Err(error) => {
                    self.left_out.push(Complaint::unreadable(prefix, &error));
                    continue;
                }
            };
            let mut inside: Vec<_> = listed.filter_map(Result::ok).collect();
            inside.sort_by_key(fs::DirEntry::file_name);
            let mut folders = Vec::new();
            for entry in inside {
                if self.entries.len() >= bounds.entries {
                    return Err(Usage(format!("there are more than {} files", bounds.entries)).into());
                }
                let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
                match entry.metadata() {
                    Ok(metadata) if metadata.is_dir() => folders.push((entry.path(), path)),
                    Ok(metadata) if metadata.is_file() => self.push(entry.path(), &path, metadata.len()),
                    Ok(_) => self.left_out.push(Complaint::link(path)),
                    Err(error) => self.left_out.push(Complaint::unreadable(path, &error)),
                }
            }
            pending.extend(folders.into_iter().rev());
        }
        Ok(())
    }

    fn push(&mut self, file: PathBuf, path: &str, bytes: u64) {
        match safe_path(path) {
            Some(path) => {
                self.entries.push(Entry { path, bytes });
                self.files.push(file);
            }
            None => self.left_out.push(Complaint::unsafe_path(path)),
        }
    }

    fn file(&self, index: usize) -> &Path {
        &self.files[index]
    }
}

impl Tree for DiskTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.file(index))?))
    }

    fn seekable(&mut self, index: usize) -> io::Result<Option<Box<dyn ReadSeek>>> {
        Ok(Some(Box::new(File::open(self.file(index))?)))
    }

    fn left_out(&self) -> &[Complaint] {
        &self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed_by_name_and_links_are_left_out() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("export");
        fs::create_dir_all(root.join("b")).unwrap();
        fs::write(root.join("z.txt"), "z").unwrap();
        fs::write(root.join("a.txt"), "a").unwrap();
        fs::write(root.join("b/c.txt"), "see").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", root.join("b/link")).unwrap();
        let tree = DiskTree::list(&[root], &Bounds::default()).unwrap();
        let listed: Vec<_> = tree.entries().iter().map(|entry| (entry.path.as_str(), entry.bytes)).collect();
        assert_eq!(listed, [("export/a.txt", 1), ("export/z.txt", 1), ("export/b/c.txt", 3)]);
        #[cfg(unix)]
        assert_eq!(tree.left_out()[0].where_, "export/b/link");
    }
}
