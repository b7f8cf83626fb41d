//! Files in memory as a tree that the importers read, so that the sample is loaded as any export is.

use std::io::{self, Read};

use pdpp_import::{Entry, Tree};

use super::life::File;

/// The files of one export.
#[derive(Debug)]
pub(super) struct MemoryTree {
    entries: Vec<Entry>,
    files: Vec<File>,
}

impl MemoryTree {
    pub(super) fn new(files: Vec<File>) -> Self {
        let entry = |file: &File| Entry { path: file.path.clone(), bytes: file.bytes.len() as u64 };
        Self { entries: files.iter().map(entry).collect(), files }
    }
}

impl Tree for MemoryTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.files[index].bytes.as_slice()))
    }
}
