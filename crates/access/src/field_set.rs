//! Which top-level fields may be seen.

use std::collections::BTreeSet;
use std::sync::Arc;

/// Either everything (owners), or exactly these names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldSet {
    /// Every field, declared or not.
    All,
    /// Exactly these.
    Only(Arc<BTreeSet<String>>),
}

impl FieldSet {
    /// Exactly these names.
    pub fn only(names: impl IntoIterator<Item = String>) -> Self {
        Self::Only(Arc::new(names.into_iter().collect()))
    }

    /// Whether a field may be seen.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }

    /// The names, unless it is everything.
    pub fn names(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::All => None,
            Self::Only(names) => Some(names),
        }
    }

    pub(crate) fn narrow_to(&self, requested: Option<&[String]>) -> Self {
        match requested {
            None => self.clone(),
            Some(names) => Self::only(names.iter().filter(|name| self.contains(name)).cloned()),
        }
    }
}
