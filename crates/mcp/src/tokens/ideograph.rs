//! What one ideograph costs. Its three bytes are one token when it is common enough to be in the vocabulary, as the
//! listed ones are; else its first two bytes are one, except in a few rows that have to be spelt byte by byte.

use std::sync::LazyLock;

/// The ideographs that are one token, in the order of their code points.
const LIST: &str = include_str!("ideographs.txt");
const FIRST: u32 = 0x4E00;
/// Ideographs that share their first two bytes.
const ROW: u32 = 64;
const ROWS: usize = 327;
/// The rows without a token for the first two bytes.
const SPELT: [u32; 13] = [373, 374, 427, 542, 544, 606, 623, 624, 625, 628, 629, 630, 631];

/// One bit for each ideograph, one number for each row.
static WHOLE: LazyLock<[u64; ROWS]> = LazyLock::new(|| {
    let mut rows = [0; ROWS];
    for c in LIST.chars() {
        if let Some((row, bit)) = place(c) {
            rows[row] |= bit;
        }
    }
    rows
});

/// How many tokens the character is. Kana and punctuation are counted like common ideographs.
pub(super) fn tokens(c: char) -> usize {
    match place(c) {
        Some((row, bit)) if WHOLE[row] & bit == 0 => 2 + usize::from(SPELT.contains(&(u32::from(c) / ROW))),
        _ => 1,
    }
}

fn place(c: char) -> Option<(usize, u64)> {
    let number = u32::from(c).checked_sub(FIRST)?;
    let row = usize::try_from(number / ROW).ok().filter(|row| *row < ROWS)?;
    Some((row, 1 << (number % ROW)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ideograph_costs_what_the_tokenizer_says() {
        let bpe = tiktoken_rs::o200k_base_singleton();
        for c in '\u{4e00}'..='\u{9fa5}' {
            let counted = bpe.encode_ordinary(&c.to_string()).len();
            assert!((counted..=3).contains(&tokens(c)), "{c}: {} < {counted}", tokens(c));
            assert_eq!(tokens(c) == 1, counted == 1, "{c}");
        }
    }
}
