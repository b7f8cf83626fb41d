//! Turns the pieces of a query into clauses.

use super::{
    Clause, MAX_POSITIONS, Need, What, elision,
    pieces::{Piece, pieces},
};
use crate::words::{
    ChunkKind, ChunkSpan, WordChunk, WordChunks, forms, part_forms, prefix_term, run_terms, whole_term,
};

/// A part this short says too little without the sign that makes it a name: the `c` of `C++`.
const SHORT_PART_CHARS: usize = 2;
/// What a prefix must have before its star.
const MIN_PREFIX_CHARS: usize = 2;

#[derive(Default)]
pub(super) struct Gathered {
    pub(super) clauses: Vec<Clause>,
    pub(super) positions_dropped: usize,
    groups: u32,
}

pub(super) fn gather(query: &str) -> Gathered {
    let mut gathered = Gathered::default();
    for piece in pieces(query) {
        // A sign applies to what it stands before as one thing: `-either/or` does not exclude every `or`.
        if piece.quoted || (piece.need != Need::Should && !is_one_chunk(piece.text)) {
            gathered.phrase(piece);
        } else {
            gathered.bare(piece);
        }
    }
    gathered
}

fn is_one_chunk(text: &str) -> bool {
    let mut chunks = WordChunks::new(text);
    let first = chunks.next();
    let run = first.is_some_and(|first| first.kind == ChunkKind::Spaceless) && chunks.parts().len() > 1;
    chunks.next().is_none() && !run
}

impl Gathered {
    fn push(&mut self, need: Need, what: What, text: &str) {
        self.clauses.push(Clause { need, what, text: text.to_owned(), stop: false, group: None });
    }

    fn bare(&mut self, piece: Piece<'_>) {
        let mut text = piece.text;
        let mut chunks = WordChunks::new(text);
        while let Some(chunk) = chunks.next() {
            let typed = chunk.span.of(text);
            if !piece.quoted
                && let Some((elided, rest)) = elision::split(text, chunk, chunks.parts())
            {
                self.elided(piece.need, elided);
                text = rest;
                chunks = WordChunks::new(text);
                continue;
            }
            let what = match chunk.kind {
                ChunkKind::Spaceless if chunks.parts().len() > 1 => {
                    self.run(piece.need, text, chunks.parts());
                    continue;
                }
                ChunkKind::Word | ChunkKind::Compound if is_starred(text, chunk) => {
                    What::Prefix { folded: prefix_term(typed) }
                }
                ChunkKind::Compound => compound(text, chunk, chunks.parts()),
                _ => What::Word { forms: forms(typed) },
            };
            self.push(piece.need, what, typed);
        }
    }

    /// A function word that lost its vowel. It stays beside the word it was written with, as any other does, but is
    /// never asked for.
    fn elided(&mut self, need: Need, word: &str) {
        if need == Need::Should {
            self.push(need, What::Word { forms: forms(word) }, word);
            if let Some(clause) = self.clauses.last_mut() {
                clause.stop = true;
            }
        }
    }

    /// One clause for each pair of clusters, so that a record with most of a run still matches.
    fn run(&mut self, need: Need, text: &str, clusters: &[ChunkSpan]) {
        for pair in clusters.windows(2) {
            let pair = &text[pair[0].start.byte..pair[1].end.byte];
            self.push(need, What::Word { forms: vec![whole_term(pair)] }, pair);
            if let Some(clause) = self.clauses.last_mut() {
                clause.group = Some(self.groups);
            }
        }
        self.groups += 1;
    }

    fn phrase(&mut self, piece: Piece<'_>) {
        let text = piece.text;
        if is_one_chunk(text) {
            return self.bare(piece);
        }
        let mut positions: Vec<Vec<String>> = Vec::new();
        let mut chunks = WordChunks::new(text);
        let mut ends_in_run = false;
        while let Some(chunk) = chunks.next() {
            ends_in_run = chunk.kind == ChunkKind::Spaceless && chunks.parts().len() > 1;
            match chunk.kind {
                ChunkKind::Word | ChunkKind::Emoji => positions.push(forms(chunk.span.of(text))),
                ChunkKind::Spaceless => {
                    positions.extend(run_terms(text, chunks.parts()).map(|term| vec![term]));
                }
                ChunkKind::Compound => match compound(text, chunk, chunks.parts()) {
                    What::Compound { whole, parts } if parts.is_empty() => positions.push(vec![whole]),
                    What::Compound { parts, .. } => positions.extend(parts),
                    _ => {}
                },
            }
        }
        // The last cluster of a run is in the pair before it.
        if ends_in_run {
            positions.pop();
        }
        self.positions_dropped += positions.len().saturating_sub(MAX_POSITIONS);
        positions.truncate(MAX_POSITIONS);
        match positions.len() {
            0 => {}
            1 => self.push(piece.need, What::Word { forms: positions.remove(0) }, text.trim()),
            _ => self.push(piece.need, What::Phrase(positions), text.trim()),
        }
    }
}

fn compound(text: &str, chunk: WordChunk, parts: &[ChunkSpan]) -> What {
    let whole = whole_term(chunk.span.of(text));
    let parts = match parts {
        [short] if is_short(short.of(text)) && !short.of(text).contains(char::is_numeric) => Vec::new(),
        _ => parts.iter().map(|part| part_forms(part.of(text))).collect(),
    };
    What::Compound { whole, parts }
}

fn is_short(part: &str) -> bool {
    part.chars().count() <= SHORT_PART_CHARS
}

/// Whether one star, and not a run of them, stands after the chunk and ends the word.
fn is_starred(text: &str, chunk: WordChunk) -> bool {
    let mut after = text[chunk.span.end.byte..].chars();
    let mut before = text[..chunk.span.start.byte].chars();
    after.next() == Some('*')
        && after.next().is_none_or(|c| !c.is_alphanumeric() && c != '*')
        && before.next_back() != Some('*')
        && prefix_term(chunk.span.of(text)).chars().count() >= MIN_PREFIX_CHARS
}
