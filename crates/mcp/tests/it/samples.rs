//! Values that several tests read.

use base64::Engine as _;

/// A sentence of ordinary words, to be repeated.
pub(crate) const PROSE: &str =
    "The quick brown fox jumps over the lazy dog while the quarterly report waits. ";

/// A picture of `8 + length` bytes, as base64.
pub(crate) fn base64_png(length: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend((0..length).map(|n| u8::try_from(n * 97 % 251).unwrap()));
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
