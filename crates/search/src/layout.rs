//! What a document of the index holds: one passage of one field of one record.
//!
//! Words are in `text` as their stems, with frequencies and positions, and in `surface` as they are
//! written where the stem is another word: exact matches count more, and prefixes mean what was
//! written. No text is stored, only the record's key; the rest are numbers that ranking reads by
//! document. The key is not among those, because a column of distinct texts is slow to read one by one.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};

/// Changes whenever an index of the old layout cannot be read as one of the new: passages, terms,
/// fields or their meaning. Another number means a rebuild.
pub(crate) const FORMAT: u32 = 3;

/// The fields of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Stems, each after its scope.
    pub(crate) text: Field,
    /// Words whose stem is another one, each after its scope.
    pub(crate) surface: Field,
    /// The scope alone, so that the passages of a scope can be counted.
    pub(crate) scope: Field,
    /// The record's number.
    pub(crate) record: Field,
    /// The record's key.
    pub(crate) key: Field,
    /// For purging a stream.
    pub(crate) stream: Field,
    /// For removing a connection.
    pub(crate) connection: Field,
    /// The record's consent time in microseconds.
    pub(crate) time: Field,
    /// The number of the record before it in its thread.
    pub(crate) previous: Field,
    /// The number of the record after it.
    pub(crate) next: Field,
    /// Where the passage starts in its field, in characters.
    pub(crate) start: Field,
    /// Where it ends.
    pub(crate) end: Field,
    /// The number of the language its words were read in.
    pub(crate) language: Field,
    /// What the whole text is like that the passage is of; none for texts too short to tell.
    pub(crate) picks: [Field; 2],
    /// How long that text is and which numbers it has, and which it is if it is short.
    pub(crate) facts: Field,
}

impl Layout {
    /// The schema and its fields.
    pub(crate) fn new() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let words = |option, fieldnorms| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_index_option(option);
            TextOptions::default().set_indexing_options(indexing.set_fieldnorms(fieldnorms))
        };
        let text = words(IndexRecordOption::WithFreqsAndPositions, true);
        let name = words(IndexRecordOption::Basic, false);
        let layout = Self {
            text: schema.add_text_field("text", text),
            // Frequencies, because how often a word occurs counts in either field.
            surface: schema.add_text_field("surface", words(IndexRecordOption::WithFreqs, false)),
            scope: schema.add_text_field("scope", name.clone().set_fast("raw")),
            record: schema.add_u64_field("record", INDEXED | FAST),
            key: schema.add_text_field("key", STORED),
            stream: schema.add_text_field("stream", name.clone()),
            connection: schema.add_text_field("connection", name),
            time: schema.add_i64_field("time", FAST),
            previous: schema.add_u64_field("previous", FAST),
            next: schema.add_u64_field("next", FAST),
            start: schema.add_u64_field("start", FAST),
            end: schema.add_u64_field("end", FAST),
            language: schema.add_u64_field("language", FAST),
            picks: ["picks_low", "picks_high"].map(|name| schema.add_u64_field(name, FAST)),
            facts: schema.add_u64_field("facts", FAST),
        };
        (schema.build(), layout)
    }
}
