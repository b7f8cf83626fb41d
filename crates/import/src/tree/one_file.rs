//! A tree of one file.

use std::io::{self, Read, SeekFrom};

use super::{Entry, ReadSeek, Tree};

/// One file under its name.
pub struct OneFile {
    entries: [Entry; 1],
    bytes: Box<dyn ReadSeek>,
}

impl std::fmt::Debug for OneFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneFile").field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl OneFile {
    /// A file by its name, without any folder.
    pub fn new(name: &str, mut bytes: Box<dyn ReadSeek>) -> io::Result<Self> {
        let length = bytes.seek(SeekFrom::End(0))?;
        Ok(Self { entries: [Entry { path: name.to_owned(), bytes: length }], bytes })
    }
}

impl Tree for OneFile {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, _: usize) -> io::Result<Box<dyn Read + '_>> {
        self.bytes.rewind()?;
        Ok(Box::new(&mut self.bytes))
    }
}
