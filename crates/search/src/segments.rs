//! The committed index as numbers: what each document's columns say.

use std::sync::Arc;

use pdpp_evidence::Language;
use pdpp_wire::RecordKey;
use tantivy::columnar::{Column, ColumnIndex, StrColumn};
use tantivy::directory::OwnedBytes;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentId;
use tantivy::schema::{Field, Value as _};
use tantivy::store::StoreReader;
use tantivy::{DocId, InvertedIndexReader, Searcher, SegmentReader, TantivyDocument, Term};

use crate::SearchError;
use crate::index::Sketch;
use crate::known_scopes::{KnownScope, KnownScopes};
use crate::layout::Layout;
use crate::places::Places;

/// Blocks of keys kept in memory for each segment, of 4 kB each.
const KEY_BLOCKS: usize = 256;

/// Documents up to which going through a whole segment is quick.
pub(crate) const SMALL: DocId = 20_000;

/// A document: its segment, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DocAt {
    pub(crate) segment: usize,
    pub(crate) doc: DocId,
}

impl DocAt {
    /// The same as one number, in the same order.
    pub(crate) fn number(self) -> u64 {
        (self.segment as u64) << 32 | u64::from(self.doc)
    }
}

/// One commit of the index.
pub(crate) struct Segments {
    pub(crate) layout: Layout,
    pub(crate) searcher: Searcher,
    all: Vec<Segment>,
}

/// One segment with its columns open.
pub(crate) struct Segment {
    pub(crate) reader: SegmentReader,
    pub(crate) lengths: FieldNormReader,
    /// The same lengths as the numbers the index has for them.
    length_ids: OwnedBytes,
    /// The dictionary and postings of stems.
    pub(crate) text: Arc<InvertedIndexReader>,
    /// Those of words as written.
    pub(crate) surface: Arc<InvertedIndexReader>,
    /// Where each record is; shared by all openings of the segment.
    places: Arc<Places>,
    /// Which scopes it has; shared as well.
    known_scopes: Arc<KnownScopes>,
    record: Column<u64>,
    time: Column<i64>,
    previous: Column<u64>,
    next: Column<u64>,
    start: Column<u64>,
    end: Column<u64>,
    language: Column<u64>,
    picks: [Column<u64>; 2],
    facts: Column<u64>,
    keys: StoreReader,
    key: Field,
    scope: Option<StrColumn>,
}

impl std::fmt::Debug for Segments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segments({})", self.all.len())
    }
}

impl Segments {
    /// Opens a commit; what is known of a segment that was there before is taken over.
    pub(crate) fn open(
        layout: Layout,
        searcher: Searcher,
        before: Option<&Self>,
    ) -> Result<Self, SearchError> {
        let known = |id: SegmentId| {
            let all = before.map_or(&[][..], |before| &before.all);
            let same = all.iter().find(|segment| segment.reader.segment_id() == id);
            same.map(|segment| (segment.places.clone(), segment.known_scopes.clone())).unwrap_or_default()
        };
        let segments = searcher.segment_readers().iter();
        let segments = segments.map(|reader| Segment::open(layout, reader, known(reader.segment_id())));
        let all = segments.collect::<Result<_, _>>()?;
        Ok(Self { layout, searcher, all })
    }

    pub(crate) fn all(&self) -> &[Segment] {
        &self.all
    }

    pub(crate) fn segment(&self, at: DocAt) -> &Segment {
        &self.all[at.segment]
    }

    /// The first living document of a record.
    pub(crate) fn find_record(&self, record: u64) -> Option<DocAt> {
        (0..self.all.len()).find_map(|segment| self.find_in(segment, record))
    }

    /// The same for a record that is likely in this segment.
    pub(crate) fn find_record_near(&self, near: usize, record: u64) -> Option<DocAt> {
        self.find_in(near, record).or_else(|| self.find_record(record))
    }

    /// Whether records are found in every segment without making a long table first.
    pub(crate) fn find_at_once(&self) -> bool {
        self.all.iter().all(Segment::finds_at_once)
    }

    fn find_in(&self, segment: usize, record: u64) -> Option<DocAt> {
        Some(DocAt { segment, doc: self.all[segment].find_record(record)? })
    }
}

impl Segment {
    fn open(
        layout: Layout,
        reader: &SegmentReader,
        (places, known_scopes): (Arc<Places>, Arc<KnownScopes>),
    ) -> Result<Self, SearchError> {
        let columns = reader.fast_fields();
        let rows = reader.max_doc();
        let numbers = |name| -> Result<Column<u64>, SearchError> {
            Ok(columns.column_opt::<u64>(name)?.unwrap_or_else(|| Column::build_empty_column(rows)))
        };
        Ok(Self {
            lengths: reader.get_fieldnorms_reader(layout.text)?,
            length_ids: match reader.fieldnorms_readers().get_inner_file().open_read(layout.text) {
                Some(file) => file.read_bytes()?,
                None => OwnedBytes::empty(),
            },
            text: reader.inverted_index(layout.text)?,
            surface: reader.inverted_index(layout.surface)?,
            places,
            known_scopes,
            record: numbers("record")?,
            time: columns.column_opt::<i64>("time")?.unwrap_or_else(|| Column::build_empty_column(rows)),
            previous: numbers("previous")?,
            next: numbers("next")?,
            start: numbers("start")?,
            end: numbers("end")?,
            language: numbers("language")?,
            picks: [numbers("picks_low")?, numbers("picks_high")?],
            facts: numbers("facts")?,
            keys: reader.get_store_reader(KEY_BLOCKS)?,
            key: layout.key,
            scope: columns.str("scope")?,
            reader: reader.clone(),
        })
    }

    /// Of each document the number the index has for its length.
    pub(crate) fn length_ids(&self) -> &[u8] {
        &self.length_ids
    }

    pub(crate) fn is_alive(&self, doc: DocId) -> bool {
        !self.reader.is_deleted(doc)
    }

    pub(crate) fn record(&self, doc: DocId) -> u64 {
        first(&self.record, doc).unwrap_or_default()
    }

    pub(crate) fn time(&self, doc: DocId) -> Option<i64> {
        first(&self.time, doc)
    }

    pub(crate) fn previous(&self, doc: DocId) -> Option<u64> {
        first(&self.previous, doc)
    }

    pub(crate) fn next(&self, doc: DocId) -> Option<u64> {
        first(&self.next, doc)
    }

    /// Where the passage lies in its field, in characters.
    pub(crate) fn stretch(&self, doc: DocId) -> (u64, u64) {
        (first(&self.start, doc).unwrap_or_default(), first(&self.end, doc).unwrap_or_default())
    }

    /// The language a passage was read in.
    pub(crate) fn language(&self, doc: DocId) -> Option<Language> {
        first(&self.language, doc).and_then(Language::from_number)
    }

    /// What the text is like that a passage is of. Of a short one there are no picks.
    pub(crate) fn sketch(&self, doc: DocId) -> Option<Sketch> {
        let facts = first(&self.facts, doc)?;
        let pick = |column| first(column, doc).unwrap_or_default();
        Some(Sketch { picks: [pick(&self.picks[0]), pick(&self.picks[1])], facts })
    }

    pub(crate) fn key(&self, doc: DocId) -> Result<Option<RecordKey>, SearchError> {
        let stored: TantivyDocument = self.keys.get(doc)?;
        let key = stored.get_first(self.key).and_then(|value| value.as_str());
        Ok(key.and_then(|key| RecordKey::parse(key).ok()))
    }

    /// What the segment says of a scope: the number [`Self::scope`] gives, and where its passages are listed.
    pub(crate) fn known_scope(&self, layout: Layout, scope: &str) -> Result<KnownScope, SearchError> {
        self.known_scopes.get(scope, || {
            let column = self.scope.as_ref();
            let ord = column.map(|column| column.dictionary().term_ord(scope.as_bytes())).transpose()?;
            let term = Term::from_field_text(layout.scope, scope);
            let info = self.reader.inverted_index(layout.scope)?.get_term_info(&term)?;
            Ok(KnownScope { ord: ord.flatten(), info })
        })
    }

    pub(crate) fn scope(&self, doc: DocId) -> Option<u64> {
        self.scope.as_ref().and_then(|column| first(column.ords(), doc))
    }

    /// The living documents of the record that `doc` is one of, in order. A record's documents are
    /// added together, and stay next to each other through every merge.
    pub(crate) fn record_docs(&self, doc: DocId) -> impl Iterator<Item = DocId> + '_ {
        let record = self.record(doc);
        let first = (0..doc).rev().take_while(|other| self.record(*other) == record).last().unwrap_or(doc);
        let same = (first..self.reader.max_doc()).take_while(move |other| self.record(*other) == record);
        same.filter(|doc| self.is_alive(*doc))
    }

    /// The first living document of a record.
    pub(crate) fn find_record(&self, record: u64) -> Option<DocId> {
        let rows = self.reader.max_doc();
        self.places.find(
            rows,
            |doc| self.record(doc),
            record,
            |first| {
                let same = (first..rows).take_while(|doc| self.record(*doc) == record);
                same.into_iter().find(|doc| self.is_alive(*doc))
            },
        )
    }

    /// Whether records are found without making a long table first.
    fn finds_at_once(&self) -> bool {
        self.reader.max_doc() <= SMALL || self.places.is_made()
    }
}

/// A document's number in a column. In most columns each document has one, and then nothing has to be looked up to
/// find where it stands.
fn first<T: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static>(
    column: &Column<T>,
    doc: DocId,
) -> Option<T> {
    match &column.index {
        ColumnIndex::Full => Some(column.values.get_val(doc)),
        _ => column.first(doc),
    }
}
