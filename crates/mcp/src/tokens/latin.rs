//! What a word in Latin letters costs that no list knows.

/// Letters that few pieces of words have.
const RARE: &[u8] = b"qxzjQXZJ";

/// In hundredths of a token. The numbers are measured: random letters of every length cost no more.
pub(super) fn cost(word: &str, code: bool) -> usize {
    if let [letter] = word.as_bytes() {
        return if RARE.contains(letter) { 155 } else { 100 };
    }
    let (spelling, length) = spelling(word);
    let by_length = match length {
        0..=2 => 100,
        3..=8 => 115 + (length - 3) * 15,
        9..=14 => 190 + (length - 8) * 20,
        _ => 310 + (length - 14) * 30,
    };
    let capital = if length > 1 && word.starts_with(|c: char| c.is_ascii_uppercase()) { 25 } else { 0 };
    let code = if code { (length - 1) * 25 } else { 0 };
    by_length + capital + code + spelling
}

/// Words of nature alternate vowels and consonants; what does not is rarely in a vocabulary. What that costs, and how
/// many letters there are.
fn spelling(word: &str) -> (usize, usize) {
    let mut extra = 0;
    let mut length = 0;
    let mut consonants = 0;
    for c in word.chars() {
        match c.to_ascii_lowercase() {
            'a' | 'e' | 'i' | 'o' | 'u' | 'y' => consonants = 0,
            letter @ 'a'..='z' => {
                consonants += 1;
                if consonants > 2 {
                    extra += 90;
                }
                if matches!(letter, 'q' | 'x' | 'z' | 'j') {
                    extra += 55;
                }
            }
            _ => {
                consonants = 0;
                extra += 60;
            }
        }
        if c.is_ascii_uppercase() && length > 0 {
            extra += 12;
        }
        length += 1;
    }
    (extra, length)
}
