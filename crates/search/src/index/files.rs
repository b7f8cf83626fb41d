//! Where the index lies, and opening it whatever is there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::MmapDirectory;
use tantivy::index::{IndexMeta, SegmentId};
use tantivy::{Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy};

use super::merging::Merging;
use super::progress::Progress;
use crate::SearchError;
use crate::error::caught;
use crate::layout::Layout;
use crate::segments::Segments;

/// How much is gathered in memory before a segment is written.
const WRITER_BYTES: usize = 32_000_000;

/// Keys are read one by one, and each time a block is copied.
const KEY_BLOCK_BYTES: usize = 4_096;

/// Where the index is kept.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a directory of its own: everything else in it may be deleted.
    Directory(PathBuf),
    /// In memory, for as long as the engine lives.
    Memory,
}

/// An index that is open for reading.
pub(crate) struct Opened {
    pub(crate) index: Index,
    reader: IndexReader,
    layout: Layout,
    seen: Mutex<Seen>,
    /// Whether it was begun anew because what was there could not be opened.
    pub(crate) is_replaced: bool,
}

/// What the reader shows, so that it is opened again only for something else.
struct Seen {
    metas: Vec<(SegmentId, u32)>,
    segments: Arc<Segments>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened(..)")
    }
}

impl Opened {
    /// Opens what is there; what is missing, damaged or of another format is begun anew.
    pub(crate) fn open(place: &Place) -> Result<(Self, Progress), SearchError> {
        let Place::Directory(path) = place else { return Self::anew(place) };
        make_private(path)?;
        if !path.join("meta.json").exists() {
            return Self::anew(place);
        }
        let found = match Self::existing(path) {
            // A merge that ends in another process takes files away; the second list names what took their place.
            Err(error) if error.is_vanished_file() => Self::existing(path),
            found => found,
        };
        match found {
            Ok(Some(found)) => Ok(found),
            Ok(None) => {
                tracing::info!("the search index is of another format and is rebuilt");
                Self::anew(place)
            }
            // Files that lead nowhere sound when they are opened do so each time.
            Err(error) if error.is_damage() || matches!(error, SearchError::Panicked) => {
                tracing::warn!(%error, "the search index cannot be opened and is rebuilt");
                let (opened, progress) = Self::anew(place)?;
                Ok((Self { is_replaced: true, ..opened }, progress))
            }
            // Files that cannot be read just now may be whole.
            Err(error) => Err(error),
        }
    }

    /// An empty index in place of whatever was there.
    pub(crate) fn anew(place: &Place) -> Result<(Self, Progress), SearchError> {
        let (schema, _) = Layout::new();
        let settings = IndexSettings {
            docstore_compress_dedicated_thread: false,
            docstore_blocksize: KEY_BLOCK_BYTES,
            ..IndexSettings::default()
        };
        let index = match place {
            Place::Memory => Index::builder().schema(schema).settings(settings).create_in_ram()?,
            Place::Directory(path) => {
                wipe(path)?;
                let directory = MmapDirectory::open(path).map_err(tantivy::TantivyError::from)?;
                Index::create(directory, schema, settings)?
            }
        };
        Ok((Self::reading(index)?, Progress::default()))
    }

    fn existing(path: &Path) -> Result<Option<(Self, Progress)>, SearchError> {
        caught(|| {
            let index = Index::open_in_dir(path)?;
            let (schema, _) = Layout::new();
            match Progress::of(&index.load_metas()?).filter(|_| index.schema() == schema) {
                Some(progress) => Ok(Some((Self::reading(index)?, progress))),
                None => Ok(None),
            }
        })
    }

    fn reading(index: Index) -> Result<Self, SearchError> {
        let (_, layout) = Layout::new();
        let metas = metas(&index.load_metas()?);
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let segments = Arc::new(Segments::open(layout, reader.searcher(), None)?);
        Ok(Self { index, reader, layout, seen: Mutex::new(Seen { metas, segments }), is_replaced: false })
    }

    /// What the last refresh saw.
    pub(crate) fn segments(&self) -> Arc<Segments> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).segments.clone()
    }

    /// Whether some file does not have the checksum it was written with.
    pub(crate) fn is_damaged(&self) -> Result<bool, SearchError> {
        match self.index.validate_checksum().map_err(SearchError::from) {
            // Merged away meanwhile; one that is missing for good is noticed when the index is opened.
            Err(error) if error.is_vanished_file() => Ok(false),
            Err(error) if error.is_damage() => Ok(true),
            damaged => Ok(!damaged?.is_empty()),
        }
    }

    /// A writer, unless another process has it.
    pub(crate) fn writer(&self) -> Result<IndexWriter, SearchError> {
        let writer = self.index.writer_with_num_threads(1, WRITER_BYTES)?;
        writer.set_merge_policy(Box::new(Merging::default()));
        Ok(writer)
    }

    /// Takes in what was committed or merged, here or by another process. The progress it gives is never
    /// ahead of what the segments hold.
    pub(crate) fn refresh(&self) -> Result<Option<Progress>, SearchError> {
        let meta = self.index.load_metas()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let metas = metas(&meta);
        if seen.metas != metas {
            // A merge that ends in between takes files away; the second list names what took their place.
            if self.reader.reload().is_err() {
                self.reader.reload()?;
            }
            let segments =
                Arc::new(Segments::open(self.layout, self.reader.searcher(), Some(&seen.segments))?);
            *seen = Seen { metas, segments };
        }
        Ok(Progress::of(&meta))
    }
}

fn metas(meta: &IndexMeta) -> Vec<(SegmentId, u32)> {
    meta.segments.iter().map(|segment| (segment.id(), segment.num_deleted_docs())).collect()
}

fn wipe(path: &Path) -> Result<(), SearchError> {
    if path.exists() {
        std::fs::remove_dir_all(path)?;
    }
    Ok(make_private(path)?)
}

/// Words are as private as the text they were taken from.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
