//! What is due, and that nothing is begun twice.

use std::sync::mpsc::{Receiver, Sender, channel};

use tantivy::schema::{INDEXED, Schema};
use tantivy::{Index, TantivyDocument, Term};

use super::*;

const IDLE: Tidying = Tidying { expunge: Expunge::Worthwhile, gathers: true };

/// An index of so many segments of three documents each, and its writer.
fn index(segments: u64) -> (Index, IndexWriter) {
    let mut schema = Schema::builder();
    let number = schema.add_u64_field("number", INDEXED);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(1, 15_000_000).unwrap();
    writer.set_merge_policy(Box::new(tantivy::indexer::NoMergePolicy));
    for segment in 0..segments {
        for place in 0..3 {
            let mut document = TantivyDocument::default();
            document.add_u64(number, segment * 10 + place);
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
    }
    (index, writer)
}

fn delete(index: &Index, writer: &mut IndexWriter, number: u64) {
    let field = index.schema().get_field("number").unwrap();
    writer.delete_term(Term::from_field_u64(field, number));
    writer.commit().unwrap();
}

/// Tells what it was asked and what it answered, and holds the first answer back until it may go.
#[derive(Debug)]
struct Overheard {
    beginning: Beginning,
    answers: Sender<usize>,
    go: Arc<Mutex<Receiver<()>>>,
}

impl MergePolicy for Overheard {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let candidates = self.beginning.compute_merge_candidates(segments);
        if !candidates.is_empty() {
            self.go.lock().unwrap().recv().unwrap();
        }
        self.answers.send(candidates.len()).unwrap();
        candidates
    }
}

/// An idle index is gathered once, however long that takes. The end of a merge waits in the same line as the
/// second request, behind it, so the merge is still running when the request is looked at.
#[test]
fn a_second_request_while_a_gathering_runs_begins_none() {
    let (index, mut writer) = index(3);
    let (answers, answered) = channel();
    let (let_go, go) = channel();
    let go = Arc::new(Mutex::new(go));
    let beginning = Beginning { tidying: IDLE, begun: Arc::default() };
    writer.set_merge_policy(Box::new(Overheard { beginning, answers, go }));
    let first = writer.prepare_commit().unwrap().commit_future();
    let second = writer.prepare_commit().unwrap().commit_future();
    // Dropped afterwards, so that a second merge would be let go as well.
    let_go.send(()).unwrap();
    let_go.send(()).unwrap();
    first.wait().unwrap();
    second.wait().unwrap();
    writer.wait_merging_threads().unwrap();
    let begun: Vec<_> = answered.try_iter().collect();
    assert_eq!(begun.iter().sum::<usize>(), 1, "{begun:?}");
    assert!(
        begun.len() >= 4,
        "both requests were looked at, for what is committed and what is not: {begun:?}"
    );
    assert_eq!(index.load_metas().unwrap().segments.len(), 1);
}

#[test]
fn what_is_gathered_is_not_rewritten_alone_as_well() {
    let (index, mut writer) = index(3);
    delete(&index, &mut writer, 11);
    let segments = index.load_metas().unwrap().segments;
    let counts = |tidying: Tidying| tidying.due(&segments).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(counts(IDLE), [3]);
    assert_eq!(counts(Tidying { gathers: false, ..IDLE }), [1]);
    assert_eq!(counts(Tidying { expunge: Expunge::All, gathers: false }), [1]);
}

#[test]
fn tidying_keeps_what_the_commit_before_it_said() {
    let (index, mut writer) = index(2);
    delete(&index, &mut writer, 0);
    let owing = index.load_metas().unwrap().segments;
    let owing = owing.iter().filter(|segment| segment.num_deleted_docs() > 0);
    let owing: Vec<_> = owing.map(SegmentMeta::id).collect();
    let begun = Tidying { expunge: Expunge::All, gathers: false }.begin(&mut writer, "said").unwrap();
    assert_eq!((begun.len(), begun), (1, owing));
    writer.wait_merging_threads().unwrap();
    let meta = index.load_metas().unwrap();
    assert_eq!(meta.payload.as_deref(), Some("said"));
    assert!(meta.segments.iter().all(|segment| segment.num_deleted_docs() == 0));
}
