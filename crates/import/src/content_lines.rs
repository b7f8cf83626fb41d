//! Content lines: `NAME;PARAM=x:value` between `BEGIN:` and `END:`, the grammar that calendars and contacts share.
//!
//! Lines are unfolded as bytes, since a fold may split a letter, and decoded afterwards. Components come one at a
//! time and each within a bound. Exporters break every rule of the grammar, so nothing here fails: what cannot be
//! used is a fault with its line, and reading goes on.

mod component;
mod logical;
mod property;
mod text;

pub(crate) use component::{Component, Components, Found};
pub(crate) use property::Property;
pub(crate) use text::{date_text, decode_base64, split_list, unescape};

/// Most bytes of one component, all its lines together.
pub(crate) const MOST_BYTES: usize = 8 * 1024 * 1024;

#[cfg(test)]
mod tests;
