//! How far the index has come. Written with each commit, so that a restart goes on exactly there.

use std::collections::BTreeMap;

use pdpp_access::Catalogue;
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::StreamDeclaration;
use serde::{Deserialize, Serialize};
use tantivy::index::IndexMeta;

use super::declared::{Declared, declared_streams};
use super::owed::Debts;
use crate::layout::FORMAT;
use crate::place::StreamPlace;

/// What a commit says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The layout the index was written in.
    pub(crate) format: u32,
    /// By subject.
    pub(crate) subjects: BTreeMap<SubjectId, SubjectProgress>,
    /// What is still in its files and should not be.
    #[serde(default, skip_serializing_if = "Debts::is_nothing")]
    pub(crate) debts: Debts,
}

/// One subject's share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubjectProgress {
    /// The last change that was taken in.
    pub(crate) position: u64,
    /// The digest of each stream's declaration, by the stream's term.
    pub(crate) streams: BTreeMap<String, StreamProgress>,
}

/// One stream's declaration as it was indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamProgress {
    /// Its connection's term.
    pub(crate) connection: String,
    /// The digest of what was declared.
    pub(crate) digest: String,
}

impl Default for Progress {
    fn default() -> Self {
        Self { format: FORMAT, subjects: BTreeMap::new(), debts: Debts::default() }
    }
}

impl Progress {
    /// What a commit's payload says; `None` when it is of another format or not readable. An index
    /// that was never committed to has no payload, and nothing in it.
    pub(crate) fn read(payload: Option<&str>) -> Option<Self> {
        let Some(payload) = payload else { return Some(Self::default()) };
        let progress: Self = serde_json::from_str(payload).ok()?;
        (progress.format == FORMAT).then_some(progress)
    }

    /// The same of a list of segments. Where none has a deleted passage nothing is owed any more.
    pub(crate) fn of(meta: &IndexMeta) -> Option<Self> {
        let mut progress = Self::read(meta.payload.as_deref())?;
        if meta.segments.iter().all(|segment| segment.num_deleted_docs() == 0) {
            progress.debts = Debts::default();
        }
        Some(progress)
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).expect("progress is plain data")
    }

    /// The last change of a subject that was taken in.
    pub(crate) fn position(&self, subject_id: &SubjectId) -> u64 {
        self.subjects.get(subject_id).map_or(0, |subject| subject.position)
    }

    /// Whether the streams that were indexed are still searched as they were. A stream that was not
    /// there yet has nothing to be made again.
    pub(crate) fn knows(&self, catalogue: &Catalogue) -> bool {
        let Some(subject) = self.subjects.get(&catalogue.subject_id) else { return true };
        let now = declared_streams(catalogue);
        let same = |(place, declared): (&StreamPlace, &Declared)| {
            subject.streams.get(&place.stream_term()).is_none_or(|one| one.digest == declared.digest)
        };
        now.iter().all(same)
    }

    /// Whether one stream was indexed as it is searched now.
    pub(crate) fn knows_stream(&self, place: &StreamPlace, declaration: &StreamDeclaration) -> bool {
        let subject = self.subjects.get(&place.subject_id);
        let stream = subject.and_then(|subject| subject.streams.get(&place.stream_term()));
        stream.is_none_or(|stream| stream.digest == Declared::new(declaration).digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_format_or_garbage_is_no_progress() {
        let progress = Progress::default();
        assert_eq!(Progress::read(Some(&progress.write())), Some(progress));
        assert_eq!(Progress::read(None), Some(Progress::default()));
        assert_eq!(Progress::read(Some(r#"{"format":0,"subjects":{}}"#)), None);
        assert_eq!(Progress::read(Some("{")), None);
    }
}
