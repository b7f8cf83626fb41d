//! Room for bytes that must be read from any place but only come in order.
//!
//! An archive inside an archive, and a compressed tar, are unpacked once into scratch room. Whoever runs the
//! import decides what that is: a file that vanishes, or memory.

use std::io::{self, Cursor, Write};

use super::ReadSeek;

/// Scratch room for one stretch of bytes.
pub trait ScratchFile: ReadSeek + Write {}

impl<T: ReadSeek + Write> ScratchFile for T {}

/// Gives scratch room.
pub trait Scratch: Send + Sync {
    /// New, empty room that is gone when it is dropped.
    fn make(&self) -> io::Result<Box<dyn ScratchFile>>;
}

/// Scratch room in memory, for tests and small uploads.
#[derive(Debug, Default)]
pub struct InMemory;

impl Scratch for InMemory {
    fn make(&self) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(Cursor::new(Vec::new())))
    }
}
