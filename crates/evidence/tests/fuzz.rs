//! Fuzz targets: the query parser, the tokeniser and the windows, on bytes nobody chose.
//!
//! Each target takes every file of its corpus (`corpora/<target>/`), then thousands of mutations of them from a fixed
//! seed: bits flipped, pieces cut, doubled and spliced into one another. An input that ever breaks a target belongs
//! into its corpus.

use std::fs;
use std::path::Path;

use pdpp_evidence::{
    Need, What, WindowRequest, cut, find_folded, for_each_token, language_of, neutralise, parse_query,
};

/// How many mutations a target gets.
const MUTATIONS: usize = 20_000;
/// The longest input that is made.
const MAX_BYTES: usize = 4_096;

/// Runs a target over its corpus and over mutations of it; a failure names the input.
fn drive(name: &str, target: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(name);
    let mut corpus: Vec<Vec<u8>> = fs::read_dir(&directory)
        .expect("the corpus is there")
        .map(|entry| fs::read(entry.expect("an entry").path()).expect("a file"))
        .collect();
    assert!(corpus.len() >= 20, "the corpus of {name} holds {} files", corpus.len());
    corpus.sort();
    let run = |input: &[u8]| {
        let outcome = std::panic::catch_unwind(|| target(input));
        assert!(outcome.is_ok(), "{name} broke on {:?}", input.escape_ascii().to_string());
    };
    for input in &corpus {
        run(input);
    }
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for _ in 0..MUTATIONS {
        let mut input = corpus[dice.below(corpus.len())].clone();
        for _ in 0..=dice.below(4) {
            mutate(&mut input, &corpus[dice.below(corpus.len())], &mut dice);
        }
        input.truncate(MAX_BYTES);
        run(&input);
    }
}

fn mutate(input: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    let byte = u8::try_from(dice.below(256)).unwrap_or(0);
    match dice.below(6) {
        0 if at < input.len() => input[at] ^= 1 << dice.below(8),
        1 => input.insert(at, byte),
        2 => input.truncate(at),
        3 => {
            let piece = &other[dice.below(other.len() + 1)..];
            input.splice(at..at, piece.iter().copied());
        }
        4 => input.extend_from_within(at..),
        _ => drop(input.drain(..at)),
    }
}

/// A small generator, so that every run sees the same inputs.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}

/// Bytes as text: whatever is no UTF-8 is replaced, as at every door.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// No input is an error, the tree is bounded, and nothing in it is empty.
#[test]
fn any_bytes_are_a_query() {
    drive("a_query", |bytes| {
        let query = parse_query(&text_of(bytes));
        assert!(query.clauses.len() <= 64 && query.ignored.len() <= 6);
        let excluding = query.clauses.iter().filter(|clause| clause.need == Need::Without).count();
        assert!(excluding == 0 || excluding < query.clauses.len());
        for clause in &query.clauses {
            let empty = match &clause.what {
                What::Word { forms } => forms.is_empty(),
                What::Prefix { folded } => folded.chars().count() < 2,
                What::Phrase(positions) => positions.len() < 2 || positions.iter().any(Vec::is_empty),
                What::Compound { whole, parts } => whole.is_empty() || parts.iter().any(Vec::is_empty),
            };
            assert!(!clause.text.is_empty() && !empty);
        }
    });
}

/// Tokens stay inside the text, in order, and are never empty.
#[test]
fn any_bytes_are_cut_into_words() {
    drive("cut_into_words", |bytes| {
        let text = text_of(bytes);
        let total = text.chars().count();
        let mut last = 0;
        for_each_token(&text, language_of(&text), |token| {
            assert!(token.start_chars < token.end_chars && token.end_chars as usize <= total);
            assert!(token.position >= last && !token.term.is_empty());
            last = token.position;
        });
    });
}

/// Windows join to the text, and a window opened on a query holds what it names.
#[test]
fn any_bytes_are_cut_into_windows() {
    drive("cut_into_windows", |bytes| {
        let (numbers, rest) = bytes.split_at(bytes.len().min(3));
        let number = |index: usize| usize::from(numbers.get(index).copied().unwrap_or(0));
        let text = text_of(rest);
        let limit = 1 + number(0);
        let (mut joined, mut at) = (String::new(), Some(0));
        while let Some(offset) = at {
            let window =
                cut(&text, &WindowRequest::Offset { offset, limit: Some(limit) }).expect("an offset opens");
            assert!(window.text.chars().count() <= limit);
            joined.push_str(&window.text);
            at = window.next_offset_chars;
        }
        assert_eq!(joined, text);
        let q: String = text.chars().skip(number(1)).take(1 + number(2) % 8).collect();
        if !q.is_empty() {
            let request = WindowRequest::Query {
                q: q.clone(),
                before: Some(number(0)),
                after: Some(number(1)),
                limit: None,
            };
            if let Ok(window) = cut(&text, &request) {
                let (from, to) =
                    (window.match_start_chars.expect("a match"), window.match_end_chars.expect("a match"));
                assert!(window.start_chars <= from && from <= to && to <= window.end_chars);
                assert!(find_folded(&text, &q).is_some());
            }
        }
        assert_eq!(neutralise(&text).text.chars().count(), text.chars().count());
    });
}
