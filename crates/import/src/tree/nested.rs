//! A tree whose archives have been opened: their entries stand under the archive's own path.
//!
//! People hand over what a service gave them: a zip, a folder of zips, a tar with a zip in it. Archives are told by
//! their first bytes, opened to a bounded depth, and an archive that cannot be read is one complaint.

use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use super::scratch::Scratch;
use super::tar_tree::TarTree;
use super::zip_tree::ZipTree;
use super::{Entry, ReadSeek, Tree, file_name};
use crate::Complaint;

/// What an import may unpack.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most entries, everything together.
    pub entries: usize,
    /// Most entries of one zip, whose whole directory lies in memory while it is read.
    pub zip_entries: usize,
    /// Most bytes once unpacked, everything together.
    pub unpacked: u64,
    /// How many times its own size an archive may unpack to, with all the archives in it, beside 64 MiB that any may.
    /// Exports of text reach about thirty; what reaches more is made to fill a disk.
    pub ratio: u64,
    /// How many archives may lie inside each other.
    pub depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { entries: 1_000_000, zip_entries: 250_000, unpacked: 2 << 40, ratio: 120, depth: 3 }
    }
}

impl Bounds {
    pub(super) fn too_many_entries(most: usize) -> io::Error {
        io::Error::new(io::ErrorKind::FileTooLarge, format!("holds more than {most} files"))
    }

    /// For an archive of which only so much may still be unpacked.
    fn with_left(self, unpacked: u64) -> Self {
        Self { unpacked, ..self }
    }

    /// Most bytes an archive of a size may unpack to.
    pub(super) fn most_for(&self, packed: u64) -> u64 {
        packed.saturating_mul(self.ratio).saturating_add(64 << 20).min(self.unpacked)
    }

    pub(super) fn check(most: u64, total: u64) -> io::Result<()> {
        if total <= most {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("would unpack to {total} bytes, more than {most}"),
        ))
    }
}

/// A tree with its archives opened.
pub struct Nested {
    trees: Vec<Box<dyn Tree>>,
    entries: Vec<Entry>,
    /// Which tree, and which entry of it.
    places: Vec<(usize, usize)>,
    left_out: Vec<Complaint>,
}

impl std::fmt::Debug for Nested {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nested").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

struct Pending {
    tree: Box<dyn Tree>,
    prefix: String,
    depth: usize,
    /// Which archive of the root it lies in, however deep.
    outermost: Option<usize>,
}

impl Nested {
    /// Opens every archive in a tree, and in those, until the depth is reached.
    pub fn open(root: Box<dyn Tree>, scratch: &Arc<dyn Scratch>, bounds: Bounds) -> io::Result<Self> {
        let mut nested =
            Self { trees: Vec::new(), entries: Vec::new(), places: Vec::new(), left_out: Vec::new() };
        let mut pending = vec![Pending { tree: root, prefix: String::new(), depth: 0, outermost: None }];
        // What each archive of the root may still unpack: archives inside it draw from the same measure, or a small
        // file could hold a thousand that each stay below it.
        let mut left: Vec<u64> = Vec::new();
        while let Some(mut next) = pending.pop() {
            let prefixed = |complaint: &Complaint| complaint.clone().below(&next.prefix);
            nested.left_out.extend(next.tree.left_out().iter().map(prefixed));
            for index in 0..next.tree.entries().len() {
                if nested.entries.len() >= bounds.entries {
                    return Err(Bounds::too_many_entries(bounds.entries));
                }
                let entry = next.tree.entries()[index].clone();
                let path = format!("{}{}", next.prefix, entry.path);
                let archive = match Kind::of(&mut *next.tree, index) {
                    Ok(kind) => kind,
                    Err(error) => {
                        nested.left_out.push(Complaint::unreadable(path, &error));
                        continue;
                    }
                };
                let Some(kind) = archive else {
                    nested.places.push((nested.trees.len(), index));
                    nested.entries.push(Entry { path, bytes: entry.bytes });
                    continue;
                };
                if next.depth >= bounds.depth {
                    nested.left_out.push(Complaint::too_deep(path, bounds.depth));
                    continue;
                }
                let outermost = next.outermost.unwrap_or_else(|| {
                    left.push(bounds.most_for(entry.bytes));
                    left.len() - 1
                });
                match unpack(&mut *next.tree, index, kind, scratch, &bounds.with_left(left[outermost])) {
                    Ok(tree) => {
                        let unpacked =
                            tree.entries().iter().fold(0, |sum: u64, one| sum.saturating_add(one.bytes));
                        left[outermost] = left[outermost].saturating_sub(unpacked);
                        pending.push(Pending {
                            tree,
                            prefix: format!("{path}/"),
                            depth: next.depth + 1,
                            outermost: Some(outermost),
                        });
                    }
                    Err(error) => nested.left_out.push(Complaint::unreadable(path, &error)),
                }
            }
            nested.trees.push(next.tree);
        }
        Bounds::check(bounds.unpacked, nested.entries.iter().map(|entry| entry.bytes).sum())?;
        Ok(nested)
    }
}

impl Tree for Nested {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        let (tree, inner) = self.places[index];
        self.trees[tree].open(inner)
    }

    fn left_out(&self) -> &[Complaint] {
        &self.left_out
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Zip,
    Tar,
    Gzip,
}

impl Kind {
    /// What an entry is, by its first bytes. Office documents and the like are zips too, and stay files.
    fn of(tree: &mut dyn Tree, index: usize) -> io::Result<Option<Self>> {
        const DOCUMENTS: [&str; 14] = [
            "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "jar", "apk", "pages", "numbers", "key",
            "ipa", "kmz",
        ];
        let Entry { path, bytes } = &tree.entries()[index];
        let name = file_name(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if *bytes < 20 || DOCUMENTS.contains(&extension) {
            return Ok(None);
        }
        // A folder of a million notes is not opened a million times to look for archives.
        if !matches!(extension, "zip" | "tar" | "gz" | "tgz" | "") && tree.entries().len() > 1 {
            return Ok(None);
        }
        let mut head = Vec::with_capacity(512);
        tree.open(index)?.take(512).read_to_end(&mut head)?;
        Ok(match head.as_slice() {
            head if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") => Some(Self::Zip),
            head if head.starts_with(b"\x1f\x8b") => Some(Self::Gzip),
            head if head.get(257..262) == Some(b"ustar".as_slice()) => Some(Self::Tar),
            _ => None,
        })
    }
}

fn unpack(
    tree: &mut dyn Tree,
    index: usize,
    kind: Kind,
    scratch: &Arc<dyn Scratch>,
    bounds: &Bounds,
) -> io::Result<Box<dyn Tree>> {
    let Entry { path, bytes } = tree.entries()[index].clone();
    if kind != Kind::Gzip
        && let Some(room) = tree.seekable(index)?
    {
        return open_room(room, kind, &path, bounds);
    }
    let mut room = scratch.make()?;
    if kind == Kind::Gzip {
        copy_bounded(&mut MultiGzDecoder::new(tree.open(index)?), &mut *room, bounds.most_for(bytes))?;
    } else {
        copy_bounded(&mut tree.open(index)?, &mut *room, bytes)?;
    }
    room.rewind()?;
    open_room(Box::new(room), kind, &path, bounds)
}

fn open_room(
    mut room: Box<dyn ReadSeek>,
    kind: Kind,
    path: &str,
    bounds: &Bounds,
) -> io::Result<Box<dyn Tree>> {
    let mut magic = [0_u8; 5];
    if kind == Kind::Gzip {
        room.seek(io::SeekFrom::Start(257))?;
        // A short stream is a compressed file, not a tar.
        let read = room.read(&mut magic)?;
        room.rewind()?;
        if magic[..read] != *b"ustar" {
            let name = file_name(path);
            let name = name.strip_suffix(".gz").unwrap_or(name);
            return Ok(Box::new(super::OneFile::new(name, room)?));
        }
    }
    Ok(match kind {
        Kind::Zip => Box::new(ZipTree::open(room, bounds)?),
        Kind::Tar | Kind::Gzip => Box::new(TarTree::open(room, bounds)?),
    })
}

/// Copies at most `most` bytes; more is an error.
fn copy_bounded(from: &mut dyn Read, to: &mut dyn Write, most: u64) -> io::Result<()> {
    let copied = io::copy(&mut from.take(most.saturating_add(1)), to)?;
    if copied > most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("unpacks to more than {most} bytes"),
        ));
    }
    Ok(())
}
