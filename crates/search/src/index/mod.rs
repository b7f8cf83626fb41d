//! Keeps the index in step with the change log.

mod declared;
mod documents;
mod expunge;
mod feeder;
mod files;
mod gathering;
mod letting_go;
mod links;
mod merging;
mod passages;
mod progress;
mod quoting;
mod sketch;

pub(crate) use expunge::{Expunge, expunge};
pub(crate) use feeder::{Follower, Indexer};
pub(crate) use files::Opened;
pub use files::Place;
pub(crate) use gathering::due as gathering_due;
pub(crate) use letting_go::let_go;
pub(crate) use progress::Progress;
pub(crate) use sketch::Sketch;
