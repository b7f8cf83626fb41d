//! Turns one record into the documents of its passages.

use pdpp_evidence::{FieldPath, FieldText, Language, for_each_token, language_of, text_of};
use pdpp_store::FedRecord;
use serde_json::{Map, Value};
use tantivy::TantivyDocument;
use tantivy::tokenizer::{PreTokenizedString, Token};

use super::declared::Declared;
use super::passages::{Stretch, passages};
use super::sketch::{Sketch, Sketching};
use crate::layout::Layout;
use crate::place::{StreamPlace, connection_term};

/// Makes documents for the records of one stream.
pub(crate) struct Documents<'a> {
    layout: Layout,
    place: &'a StreamPlace,
    declared: &'a Declared,
    scopes: Vec<String>,
    stream: String,
    connection: String,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(layout: Layout, place: &'a StreamPlace, declared: &'a Declared) -> Self {
        Self {
            layout,
            place,
            declared,
            scopes: declared.fields.iter().map(|(path, _)| place.scope(path)).collect(),
            stream: place.stream_term(),
            connection: connection_term(&place.subject_id, &place.connection_id),
        }
    }

    /// The documents of a record. None for one that is gone; in a threaded stream at least one for any
    /// other, because its neighbours are found through it.
    pub(crate) fn of(&self, fed: &FedRecord) -> Vec<TantivyDocument> {
        let data = fed.data.as_deref().and_then(|data| serde_json::from_str::<Map<String, Value>>(data).ok());
        let Some(data) = data else { return Vec::new() };
        let mut documents = Vec::new();
        for ((path, top_level), scope) in self.declared.fields.iter().zip(&self.scopes) {
            let Ok(path) = FieldPath::parse(path) else { continue };
            // Each element of a list is a text of its own, so that no phrase crosses from one to the next.
            for (_, value) in path.each_under(top_level, &data) {
                let FieldText::Text { text, .. } = text_of(value) else { continue };
                self.add_passages(fed, scope, &text, &mut documents);
            }
        }
        if documents.is_empty() && self.declared.is_threaded {
            documents.push(self.frame(fed, &self.place.bare_scope()));
        }
        documents
    }

    /// What every document of a record has.
    fn frame(&self, fed: &FedRecord, scope: &str) -> TantivyDocument {
        let Layout { key, record, stream, connection, time, previous, next, .. } = self.layout;
        let mut document = TantivyDocument::default();
        document.add_text(self.layout.scope, scope);
        document.add_text(key, fed.key.as_str());
        document.add_u64(record, self.place.record(&fed.key));
        document.add_text(stream, &self.stream);
        document.add_text(connection, &self.connection);
        if let Some(at) = fed.consent_at {
            document.add_i64(time, at.micros());
        }
        for (field, neighbour) in [(previous, &fed.previous), (next, &fed.next)] {
            if let Some(neighbour) = neighbour {
                document.add_u64(field, self.place.record(neighbour));
            }
        }
        document
    }

    /// The documents of a text. Each knows what the whole text is like: a copy is cut elsewhere than its original.
    fn add_passages(&self, fed: &FedRecord, scope: &str, text: &str, documents: &mut Vec<TantivyDocument>) {
        let mut sketching = Sketching::of(text);
        let mut words = Vec::new();
        for stretch in passages(text) {
            let found = Words::of(scope, text, &stretch, &mut sketching);
            if !found.terms.is_empty() {
                words.push((stretch, found));
            }
        }
        let sketch = sketching.finish();
        documents.extend(
            words.into_iter().map(|(stretch, words)| self.passage(fed, scope, &stretch, words, sketch)),
        );
    }

    fn passage(
        &self,
        fed: &FedRecord,
        scope: &str,
        stretch: &Stretch,
        words: Words,
        sketch: Sketch,
    ) -> TantivyDocument {
        let mut document = self.frame(fed, scope);
        document.add_u64(self.layout.start, stretch.chars.start as u64);
        document.add_u64(self.layout.end, stretch.chars.end as u64);
        document.add_u64(self.layout.language, words.language.number().into());
        if sketch.is_telling() {
            for (field, bits) in self.layout.picks.into_iter().zip(sketch.picks) {
                document.add_u64(field, bits);
            }
        }
        document.add_u64(self.layout.facts, sketch.facts);
        let tokenized = |tokens| PreTokenizedString { text: String::new(), tokens };
        if !words.surfaces.is_empty() {
            document.add_pre_tokenized_text(self.layout.surface, tokenized(words.surfaces));
        }
        document.add_pre_tokenized_text(self.layout.text, tokenized(words.terms));
        document
    }
}

/// The words of a passage, each after its scope.
struct Words {
    language: Language,
    terms: Vec<Token>,
    surfaces: Vec<Token>,
}

impl Words {
    fn of(scope: &str, text: &str, stretch: &Stretch, sketching: &mut Sketching) -> Self {
        let (mut terms, mut surfaces) = (Vec::new(), Vec::new());
        let mut positions = 0;
        let text = &text[stretch.bytes.clone()];
        let language = language_of(text);
        for_each_token(text, language, |token| {
            let named = |word: &str| Token {
                position: token.position as usize,
                text: [scope, word].concat(),
                ..Token::default()
            };
            terms.push(named(token.term));
            if token.surface != token.term {
                surfaces.push(named(token.surface));
            }
            // Of several words in one place the first is what was written.
            if token.position >= positions {
                positions = token.position + 1;
                sketching.word(token.surface, stretch.chars.start + token.start_chars as usize);
            }
        });
        surfaces.dedup_by(|one, other| one.text == other.text && one.position == other.position);
        Self { language, terms, surfaces }
    }
}
