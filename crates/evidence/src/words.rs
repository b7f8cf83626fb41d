//! How text becomes the terms of an index, and how a typed word becomes the terms to look up.
//!
//! Both directions live here, because search is only as good as their agreement: for any word of a text, some
//! of [`forms`] is among the terms [`tokenize`] gives for the text, whatever language it was read in.
//!
//! A position is counted for every word, for every cluster of a script written without spaces, and for every
//! emoji. What is typed in one piece but made of several words stands under its parts, one position each, and
//! as a whole at the position of the first: `bob@example.com` is found as such, and by `example`.

use self::chunks::{Chunks, Kind, Span};

mod beginning;
mod chunks;
mod ending;
mod find;
mod language;
mod script;
mod stop;
mod term;

pub(crate) use find::Finder;
pub use find::{TermMatch, WantedTerm, find_terms};
pub use language::{Language, language_of};
pub use stop::is_stop_word;

pub(crate) use chunks::{Chunk as WordChunk, Chunks as WordChunks, Kind as ChunkKind, Span as ChunkSpan};
pub(crate) use language::vote as languages_by_function_words;
pub(crate) use script::is_word_start;
pub(crate) use stop::{bit as language_bit, languages as stop_languages};
pub(crate) use term::prefix as prefix_term;

/// The most terms [`forms`] gives for a run written without spaces.
const MAX_RUN_FORMS: usize = 12;

/// One indexed term with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The term.
    pub term: String,
    /// Its position among the words of the text.
    pub position: u32,
    /// Where it starts in the text, in scalar values.
    pub start_chars: u32,
    /// Where it ends.
    pub end_chars: u32,
}

/// A [`Token`] for as long as it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRef<'a> {
    /// The term: the stem of the word, or the word itself where there is none.
    pub term: &'a str,
    /// The folded word before it was stemmed: what a prefix is compared with.
    pub surface: &'a str,
    /// Its position among the words of the text.
    pub position: u32,
    /// Where it starts in the text, in scalar values.
    pub start_chars: u32,
    /// Where it ends.
    pub end_chars: u32,
}

/// Every token of the text, in order of position. Several may share one.
pub fn tokenize(text: &str, language: Language) -> Vec<Token> {
    let mut tokens = Vec::new();
    for_each_token(text, language, |token| {
        tokens.push(Token {
            term: token.term.to_owned(),
            position: token.position,
            start_chars: token.start_chars,
            end_chars: token.end_chars,
        });
    });
    tokens
}

/// Calls `visit` with every token of the text, as [`tokenize`] orders them.
pub fn for_each_token(text: &str, language: Language, visit: impl FnMut(TokenRef<'_>)) {
    for_each_token_like(text, language, |_| true, visit);
}

/// The same, but words that are not `likely` may be passed over.
pub(crate) fn for_each_token_like(
    text: &str,
    language: Language,
    likely: impl Fn(&str) -> bool,
    mut visit: impl FnMut(TokenRef<'_>),
) {
    let mut chunks = Chunks::new(text);
    let mut position = 0;
    while let Some(chunk) = chunks.next() {
        let parts = chunks.parts();
        match chunk.kind {
            Kind::Emoji => emit(&mut visit, &term::picture(chunk.span.of(text)), position, chunk.span),
            Kind::Word if !likely(chunk.span.of(text)) => {}
            Kind::Word => emit_word(&mut visit, text, language, position, chunk.span),
            Kind::Spaceless => emit_run(&mut visit, text, position, parts),
            Kind::Compound => {
                emit(&mut visit, &term::surface(chunk.span.of(text)), position, chunk.span);
                for (part, at) in parts.iter().zip(position..).filter(|(part, _)| likely(part.of(text))) {
                    emit_word(&mut visit, text, language, at, *part);
                }
            }
        }
        position = position.saturating_add(u32::try_from(parts.len()).unwrap_or(u32::MAX));
    }
}

fn emit(visit: &mut impl FnMut(TokenRef<'_>), term: &str, position: u32, span: Span) {
    visit(TokenRef {
        term,
        surface: term,
        position,
        start_chars: span.start.chars,
        end_chars: span.end.chars,
    });
}

fn emit_word(
    visit: &mut impl FnMut(TokenRef<'_>),
    text: &str,
    language: Language,
    position: u32,
    span: Span,
) {
    let word = span.of(text);
    let surface = part_surface(word);
    let Some(stems) = term::stems(word, &surface, language) else {
        return emit(visit, &surface, position, span);
    };
    let (start_chars, end_chars) = (span.start.chars, span.end.chars);
    for term in [Some(&stems.term), stems.plain.as_ref()].into_iter().flatten() {
        visit(TokenRef { term, surface: &surface, position, start_chars, end_chars });
    }
}

/// Each cluster, and each with the next one.
fn emit_run(visit: &mut impl FnMut(TokenRef<'_>), text: &str, position: u32, clusters: &[Span]) {
    for (index, (cluster, at)) in clusters.iter().zip(position..).enumerate() {
        emit(visit, &term::surface(cluster.of(text)), at, *cluster);
        if let Some(next) = clusters.get(index + 1) {
            let pair = Span { start: cluster.start, end: next.end };
            emit(visit, &term::surface(pair.of(text)), at, pair);
        }
    }
}

/// A part without the commas that group its digits.
fn part_surface(part: &str) -> String {
    if part.contains(',') { term::surface(&part.replace(',', "")) } else { term::surface(part) }
}

/// Every term a typed word may be indexed as, its folded surface first. There is one for each language of its
/// script at most, which is 17 with the surface; most words have fewer than five.
///
/// A compound is given as a whole, a run written without spaces as its pairs of clusters. Of several words the
/// first is taken; of text without words nothing.
pub fn forms(word: &str) -> Vec<String> {
    let mut chunks = Chunks::new(word);
    chunks.next().map_or_else(Vec::new, |chunk| match chunk.kind {
        Kind::Word => term::word_forms(chunk.span.of(word)),
        Kind::Emoji => vec![term::picture(chunk.span.of(word))],
        Kind::Compound => compound_forms(word, chunk.span, chunks.parts()),
        Kind::Spaceless => run_forms(word, chunks.parts(), MAX_RUN_FORMS),
    })
}

fn compound_forms(text: &str, whole: Span, parts: &[Span]) -> Vec<String> {
    let mut forms = vec![term::surface(whole.of(text))];
    if let [number] = parts
        && number.of(text).contains(',')
    {
        forms.push(part_surface(number.of(text)));
    }
    forms
}

fn run_forms(text: &str, clusters: &[Span], limit: usize) -> Vec<String> {
    if let [single] = clusters {
        return vec![term::surface(single.of(text))];
    }
    let pairs = clusters.windows(2).map(|pair| Span { start: pair[0].start, end: pair[1].end });
    pairs.take(limit).map(|pair| term::surface(pair.of(text))).collect()
}

/// One term for each cluster of a run: the pair it begins, and the last one alone.
pub(crate) fn run_terms(text: &str, clusters: &[Span]) -> impl Iterator<Item = String> {
    clusters.iter().enumerate().map(|(index, cluster)| {
        let end = clusters.get(index + 1).unwrap_or(cluster).end;
        term::surface(Span { start: cluster.start, end }.of(text))
    })
}

/// Every term one part of a chunk may be indexed as.
pub(crate) fn part_forms(part: &str) -> Vec<String> {
    if part.contains(',') { vec![part_surface(part)] } else { term::word_forms(part) }
}

/// The term of a whole chunk of any kind but a run.
pub(crate) fn whole_term(chunk: &str) -> String {
    term::surface(chunk)
}

#[cfg(test)]
mod tests;
