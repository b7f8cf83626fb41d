//! A tar archive as a tree: listed once, then read in place.

use std::io::{self, Read, SeekFrom};

use super::{Bounds, Entry, ReadSeek, Tree, safe_path};
use crate::Complaint;

pub(super) struct TarTree {
    bytes: Box<dyn ReadSeek>,
    entries: Vec<Entry>,
    offsets: Vec<u64>,
    left_out: Vec<Complaint>,
}

impl TarTree {
    pub(super) fn open(mut bytes: Box<dyn ReadSeek>, bounds: &Bounds) -> io::Result<Self> {
        let packed = bytes.seek(SeekFrom::End(0))?;
        bytes.rewind()?;
        let mut archive = tar::Archive::new(&mut bytes);
        let (mut entries, mut offsets, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut total = 0_u64;
        for (number, entry) in archive.entries_with_seek()?.enumerate() {
            let place = format!("entry {}", number + 1);
            if number >= bounds.entries {
                return Err(Bounds::too_many_entries(bounds.entries));
            }
            let entry = match entry {
                Ok(entry) => entry,
                // The headers are a chain: after a broken one nothing can be found.
                Err(error) => {
                    left_out.push(Complaint::unreadable(place, &error));
                    break;
                }
            };
            let kind = entry.header().entry_type();
            if kind.is_dir() || kind.is_pax_global_extensions() {
                continue;
            }
            let Some(path) = safe_path(&String::from_utf8_lossy(&entry.path_bytes())) else {
                left_out.push(Complaint::unsafe_path(place));
                continue;
            };
            if !kind.is_file() {
                left_out.push(Complaint::link(path));
                continue;
            }
            total = total.saturating_add(entry.size());
            offsets.push(entry.raw_file_position());
            entries.push(Entry { path, bytes: entry.size() });
        }
        Bounds::check(bounds.most_for(packed), total)?;
        Ok(Self { bytes, entries, offsets, left_out })
    }
}

impl Tree for TarTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        self.bytes.seek(SeekFrom::Start(self.offsets[index]))?;
        Ok(Box::new((&mut self.bytes).take(self.entries[index].bytes)))
    }

    fn left_out(&self) -> &[Complaint] {
        &self.left_out
    }
}
