//! A tree that tells how much of it has been read.

use std::io::{self, Read};

use indicatif::ProgressBar;
use pdpp_import::{Complaint, Entry, ReadSeek, Tree};

pub(super) struct Counted<T> {
    pub(super) tree: T,
    pub(super) bar: ProgressBar,
}

impl<T: Tree> Tree for Counted<T> {
    fn entries(&self) -> &[Entry] {
        self.tree.entries()
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.bar.wrap_read(self.tree.open(index)?)))
    }

    fn seekable(&mut self, index: usize) -> io::Result<Option<Box<dyn ReadSeek>>> {
        self.tree.seekable(index)
    }

    fn left_out(&self) -> &[Complaint] {
        self.tree.left_out()
    }
}
