//! Turns a principal and a request into a plan, or a denial.
//!
//! One method per kind of read, each in the same order: which stream and connections, then what the
//! declaration allows, then what the grant allows, then the cursor. Whatever fails first is said;
//! nothing is looked up in a store to say it.

mod aggregate;
mod discovery;
mod expand;
mod projection;
mod records;
mod scope;
mod search;

pub use discovery::ExpandState;
pub use records::RecordsRead;

use crate::{Catalogue, Principal};

/// Decides for one principal over what its subject has.
#[derive(Clone, Copy, Debug)]
pub struct Authorizer<'a> {
    principal: &'a Principal,
    catalogue: &'a Catalogue,
}

impl<'a> Authorizer<'a> {
    /// The catalogue must be the principal's own subject's; another one opens nothing.
    pub fn new(principal: &'a Principal, catalogue: &'a Catalogue) -> Self {
        debug_assert_eq!(principal.subject_id(), &catalogue.subject_id);
        Self { principal, catalogue }
    }

    /// Who is asking.
    pub fn principal(&self) -> &'a Principal {
        self.principal
    }
}

#[cfg(test)]
mod tests;
