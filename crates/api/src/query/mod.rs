//! The query string, read once into parameters with bracket syntax.
//!
//! `filter[field][gte]=1` becomes the parameter `filter` with the path `field`, `gte`; `x[]=a`,
//! `x[0]=a` and a repeated `x=a` all list values of `x`. Every bound is checked here, so that no
//! route meets an oversized, over-deep or badly encoded parameter.

mod parse;
mod read;

pub(crate) use parse::{QueryString, parse};

/// Longest query string, in bytes.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
/// Most `key=value` pairs.
pub(crate) const MAX_PAIRS: usize = 256;
/// Deepest bracket nesting of one key.
pub(crate) const MAX_DEPTH: usize = 8;
/// Largest index in brackets.
pub(crate) const MAX_INDEX: u64 = 64;
