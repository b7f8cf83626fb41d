//! Keeps the derived passage index and answers search plans from it.
//!
//! The index is made from the store's change log and can be thrown away at any time. It holds words and
//! numbers, no text: whatever it finds is read again from the store, under the plan. Every word in it
//! carries its scope, so a plan is answered from its own words alone, and neither order nor score nor
//! count can tell of anything outside it.

mod answering;
mod bare;
mod compare;
mod disk;
mod engine;
mod error;
mod index;
mod known_scopes;
mod layout;
mod place;
mod places;
mod pool;
mod rank;
mod segments;

pub use engine::SearchEngine;
pub use error::SearchError;
pub use index::Place;
pub use pool::IndexPool;
