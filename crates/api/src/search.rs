//! Searching: rank, read what was ranked again under the plan, and show only what is proven by it.

mod evidence;
mod hit;
mod rankings;
mod searched;

pub(crate) use evidence::Excerpts;
pub(crate) use hit::hit;
pub(crate) use rankings::{Kept, Rankings};
pub(crate) use searched::{Searched, SearchedParts};

use std::sync::Arc;

use pdpp_store::SearchIndex;

/// The ways of searching a server offers; each is an index of its own kind.
#[derive(Clone, Default)]
pub struct SearchModes {
    /// By words.
    pub lexical: Option<Arc<dyn SearchIndex>>,
    /// By meaning.
    pub semantic: Option<Arc<dyn SearchIndex>>,
    /// By both.
    pub hybrid: Option<Arc<dyn SearchIndex>>,
}

impl std::fmt::Debug for SearchModes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchModes")
            .field("lexical", &self.lexical.is_some())
            .field("semantic", &self.semantic.is_some())
            .field("hybrid", &self.hybrid.is_some())
            .finish()
    }
}
