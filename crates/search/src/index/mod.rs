//! Keeps the index in step with the change log.

mod declared;
mod documents;
mod feeder;
mod files;
mod gathering;
mod letting_go;
mod links;
mod merging;
mod owed;
mod passages;
mod progress;
mod quoting;
mod sketch;

pub(crate) use feeder::{Follower, Indexer};
pub(crate) use files::Opened;
pub use files::Place;
pub(crate) use gathering::due as gathering_due;
pub(crate) use letting_go::{Held, let_go};
pub(crate) use merging::{Expunge, Tidying};
pub(crate) use owed::{Debts, Owed};
pub(crate) use progress::Progress;
pub(crate) use sketch::Sketch;
