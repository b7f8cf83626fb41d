//! Named bytes that belong together: one file, a folder, or an archive with what is nested in it.
//!
//! Formats ask a tree and never a file system, so an upload in a browser is read by the same code. Paths in a
//! tree are plain text with `/` between the parts; where the bytes come from decides nothing else.

mod nested;
mod one_file;
mod path;
mod scratch;
mod tar_tree;
mod zip_tree;

use std::io::{self, BufReader, Read, Seek};

pub use nested::{Bounds, Nested};
pub use one_file::OneFile;
pub use path::{file_name, safe_path, stem};
pub use scratch::{InMemory, Scratch, ScratchFile};

/// Bytes that can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// One named piece of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands, `/` between the parts, no `..`, never absolute.
    pub path: String,
    /// How many bytes it says it holds.
    pub bytes: u64,
}

/// Named bytes that belong together.
pub trait Tree: Send {
    /// All entries, folders left out.
    fn entries(&self) -> &[Entry];

    /// The bytes of one entry. Only one is open at a time.
    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>>;

    /// A second way to one entry's bytes that can be read from any place, if there is one. Archives are then opened
    /// where they lie; without it they are copied into scratch room first.
    fn seekable(&mut self, _index: usize) -> io::Result<Option<Box<dyn ReadSeek>>> {
        Ok(None)
    }

    /// What was left out while the tree was listed, each with its place.
    fn left_out(&self) -> &[crate::Complaint] {
        &[]
    }
}

/// An entry's bytes behind a buffer.
pub(crate) fn open_buffered(tree: &mut dyn Tree, index: usize) -> io::Result<BufReader<Box<dyn Read + '_>>> {
    Ok(BufReader::with_capacity(256 * 1024, tree.open(index)?))
}

/// A whole entry, or an error of kind `FileTooLarge` when it holds more than `most` bytes.
pub(crate) fn read_whole(tree: &mut dyn Tree, index: usize, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tree.open(index)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
