//! What a segment says of the scopes that were asked for.
//!
//! Every search begins with the same few scopes, and finding one in the dictionary of a column means unpacking a
//! block of it. A segment never changes, so what was found once holds for as long as the segment is there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tantivy::postings::TermInfo;

use crate::SearchError;

/// More are forgotten all at once: on a server of many owners each brings their own.
const MAX_KEPT: usize = 10_000;

/// A scope in one segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownScope {
    /// The number its passages have in the column; `None` when there are none.
    pub(crate) ord: Option<u64>,
    /// Where its passages are listed, deleted ones included.
    pub(crate) info: Option<TermInfo>,
}

/// The scopes of one segment that were asked for.
#[derive(Debug, Default)]
pub(crate) struct KnownScopes(Mutex<HashMap<String, KnownScope>>);

impl KnownScopes {
    /// A scope, which `look` finds if it is not known yet.
    pub(crate) fn get(
        &self,
        scope: &str,
        look: impl FnOnce() -> Result<KnownScope, SearchError>,
    ) -> Result<KnownScope, SearchError> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(scope) {
            return Ok(known.clone());
        }
        let found = look()?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KEPT {
            known.clear();
        }
        known.insert(scope.to_owned(), found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_looked_for_once_and_failures_are_not_kept() {
        let known = KnownScopes::default();
        let damaged = || Err(std::io::Error::other("damaged").into());
        assert!(known.get("a", damaged).is_err());
        let found = |ord| move || Ok(KnownScope { ord, info: None });
        assert_eq!(known.get("a", found(Some(7))).unwrap().ord, Some(7));
        assert_eq!(known.get("a", damaged).unwrap().ord, Some(7));
        assert_eq!(known.get("b", found(None)).unwrap().ord, None);
    }
}
