//! A zip archive as a tree.
//!
//! Sizes in a zip are claims. An entry is cut at what it claims to hold, and an archive that claims to hold far more
//! than its own size, or overlaps itself, is refused before anything is unpacked.

use std::io::{self, Read, SeekFrom};

use zip::ZipArchive;

use super::{Bounds, Entry, ReadSeek, Tree, safe_path};
use crate::Complaint;

pub(super) struct ZipTree {
    archive: ZipArchive<Box<dyn ReadSeek>>,
    entries: Vec<Entry>,
    /// The archive's own number of each entry.
    numbers: Vec<usize>,
    left_out: Vec<Complaint>,
}

impl ZipTree {
    pub(super) fn open(mut bytes: Box<dyn ReadSeek>, bounds: &Bounds) -> io::Result<Self> {
        let packed = bytes.seek(SeekFrom::End(0))?;
        let mut archive = ZipArchive::new(bytes)?;
        if archive.len() > bounds.entries {
            return Err(bounds.too_many_entries());
        }
        let (mut entries, mut numbers, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut total = 0_u64;
        for number in 0..archive.len() {
            let file = match archive.by_index_raw(number) {
                Ok(file) => file,
                Err(error) => {
                    left_out.push(Complaint::unreadable(format!("entry {}", number + 1), &error));
                    continue;
                }
            };
            if file.is_dir() {
                continue;
            }
            let Some(path) = file.name().ok().and_then(|name| safe_path(&name)) else {
                left_out.push(Complaint::unsafe_path(format!("entry {}", number + 1)));
                continue;
            };
            if file.is_symlink() || file.encrypted() {
                left_out.push(if file.encrypted() { Complaint::encrypted(path) } else { Complaint::link(path) });
                continue;
            }
            total = total.saturating_add(file.size());
            entries.push(Entry { path, bytes: file.size() });
            numbers.push(number);
        }
        Bounds::check(bounds.most_for(packed), total)?;
        Ok(Self { archive, entries, numbers, left_out })
    }
}

impl Tree for ZipTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        let file = self.archive.by_index(self.numbers[index])?;
        let claimed = self.entries[index].bytes;
        Ok(Box::new(Bounded { inner: file, left: claimed }))
    }

    fn left_out(&self) -> &[Complaint] {
        &self.left_out
    }
}

/// Reads what an entry claimed to hold, and fails when there is more: the claim was what the bounds were checked on.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => {
                self.left = left;
                Ok(read)
            }
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "the entry holds more than the archive says")),
        }
    }
}
