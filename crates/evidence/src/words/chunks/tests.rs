//! What is passed by its bytes is cut as it is one character after the other.

use super::*;
use crate::random::Random;

/// The chunks of a text with their parts, found without a look at bytes.
fn one_by_one(text: &str) -> Vec<(Chunk, Vec<Span>)> {
    let mut found = Vec::new();
    let mut chunks = Chunks::new(text);
    let mut at = Place { byte: 0, chars: 0 };
    while let Some(c) = chunks.rest(at).chars().next() {
        let next = after(at, &text[at.byte..at.byte + c.len_utf8()]);
        chunks.parts.clear();
        let chunk = match class(c) {
            Class::Word => chunks.word(at, at),
            Class::Spaceless => chunks.spaceless(at),
            Class::Emoji => chunks.emoji(at),
            Class::Other if chunks.is_sigil(at, c, next) => chunks.word(at, next),
            Class::Other => {
                at = next;
                continue;
            }
        };
        at = chunk.span.end;
        found.push((chunk, chunks.parts.clone()));
    }
    found
}

#[test]
fn bytes_and_characters_cut_alike() {
    let mut random = Random::new(23);
    for round in 0..6_000 {
        let text = if round % 2 == 0 { random.text(14) } else { random.ascii(14) };
        let mut chunks = Chunks::new(&text);
        let mut found = Vec::new();
        while let Some(chunk) = chunks.next() {
            found.push((chunk, chunks.parts().to_vec()));
        }
        assert_eq!(found, one_by_one(&text), "{text:?}");
        assert!(chunks.next().is_none() && chunks.parts().is_empty());
    }
}

#[test]
fn a_run_ends_where_it_does_one_character_after_the_other() {
    let mut random = Random::new(29);
    for _ in 0..6_000 {
        let text = format!("{}{}", random.ascii(2), random.text(4));
        let start = Place { byte: 3, chars: 2 };
        for kind in [Class::Word, Class::Spaceless] {
            assert_eq!(run(&text, start, kind), run_on(&text, start, kind), "{text:?}");
        }
    }
}
