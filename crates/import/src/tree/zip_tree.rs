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
        let most = bounds.zip_entries.min(bounds.entries);
        // Asked before the directory is read, which is what takes the memory.
        if said_entries(&mut *bytes, packed)?.is_some_and(|said| said > most as u64) {
            return Err(Bounds::too_many_entries(most));
        }
        let mut archive = ZipArchive::new(bytes)?;
        if archive.len() > most {
            return Err(Bounds::too_many_entries(most));
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
                left_out.push(if file.encrypted() {
                    Complaint::encrypted(path)
                } else {
                    Complaint::link(path)
                });
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

/// How many entries the end of an archive says there are; `None` where it says nothing.
fn said_entries(mut bytes: &mut dyn ReadSeek, length: u64) -> io::Result<Option<u64>> {
    const END: &[u8] = b"PK\x05\x06";
    const LARGE_END: &[u8] = b"PK\x06\x06";
    // The end has 22 bytes and a comment of at most 65,535; where there are many entries, another stands before it.
    let tail_length = length.min(22 + 65_535 + 20 + 56 + 1024);
    bytes.seek(SeekFrom::Start(length - tail_length))?;
    let mut tail = Vec::new();
    (&mut bytes).take(tail_length).read_to_end(&mut tail)?;
    let number = |at: usize, width: usize| {
        let digits = tail.get(at..at + width)?;
        Some(digits.iter().rev().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte)))
    };
    let last = |signature: &[u8]| memchr::memmem::rfind(&tail, signature);
    let small = last(END).and_then(|at| number(at + 10, 2));
    let large = last(LARGE_END).and_then(|at| number(at + 32, 8));
    Ok(small.max(large.filter(|_| small == Some(0xffff))))
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
            None => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the entry holds more than the archive says"))
            }
        }
    }
}
