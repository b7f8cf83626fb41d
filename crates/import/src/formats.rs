//! Every format this program reads, in the order they are asked: the particular before the general.

use crate::{Csv, Format, Json, JsonLines, Mastodon, X};

/// All formats. A general one (any JSON, any table) comes last, so that it never takes what another knows better.
pub fn formats() -> &'static [&'static dyn Format] {
    &[&Mastodon, &X, &JsonLines, &Json, &Csv]
}
