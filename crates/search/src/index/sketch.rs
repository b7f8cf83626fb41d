//! What a text is like, in a few numbers, so that copies of it are known without reading either.
//!
//! A text is its words, each with the next one; a pair that comes again counts again. Sixty-four ways of mixing
//! numbers each pick one pair; two texts have the same pick as often as they share pairs, and two bits of every pick
//! are kept.
//! Beside them stand how long the text is and which numbers occur in it: letters from a shop differ in nothing but
//! those. What only says that something is quoted or forwarded is left out.

use std::ops::Range;

use super::quoting;

/// Shorter texts say too little to be called the same.
const MIN_WORDS: usize = 6;
/// How many picks are kept.
pub(crate) const PICKS: u32 = 64;
/// The bits of a number that say which numbers occur.
const NUMBER_BITS: u32 = 32;

/// A text's sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sketch {
    /// The lower and the higher bit of each pick.
    pub(crate) picks: [u64; 2],
    /// Which numbers occur, and above them how many words there are.
    pub(crate) facts: u64,
}

/// Takes in the words of a text, passage by passage.
pub(crate) struct Sketching {
    passed_over: Vec<Range<usize>>,
    pairs: Vec<u64>,
    numbers: u64,
    words: usize,
    before: Option<u64>,
    /// Where the last word began, in characters.
    reached: Option<usize>,
}

impl Sketching {
    pub(crate) fn of(text: &str) -> Self {
        let passed_over = quoting::frames(text);
        Self { passed_over, pairs: Vec::new(), numbers: 0, words: 0, before: None, reached: None }
    }

    /// The next word, and where it begins in the text, in characters.
    pub(crate) fn word(&mut self, word: &str, start_chars: usize) {
        // A passage begins before the end of the one before it.
        if self.reached.is_some_and(|reached| start_chars <= reached) {
            return;
        }
        self.reached = Some(start_chars);
        let at = self.passed_over.partition_point(|range| range.end <= start_chars);
        if self.passed_over.get(at).is_some_and(|range| range.contains(&start_chars)) {
            self.before = None;
            return;
        }
        let hash = hash(word);
        if word.contains(|c: char| c.is_numeric()) {
            self.numbers |= 1 << (hash % u64::from(NUMBER_BITS));
            self.numbers |= 1 << ((hash >> 32) % u64::from(NUMBER_BITS));
        }
        self.words += 1;
        self.pairs.extend(self.before.map(|before| mixed(before.rotate_left(17) ^ hash)));
        self.before = Some(hash);
    }

    /// What came of it; nothing for a text too short to tell.
    pub(crate) fn finish(mut self) -> Option<Sketch> {
        if self.words < MIN_WORDS {
            return None;
        }
        self.pairs.sort_unstable();
        let mut least = [u64::MAX; PICKS as usize];
        for same in self.pairs.chunk_by(|one, other| one == other) {
            for (time, pair) in (0_u64..).zip(same) {
                let pair = if time == 0 { *pair } else { mixed(pair ^ time) };
                for (least, factor) in least.iter_mut().zip(FACTORS) {
                    *least = (*least).min(pair.wrapping_mul(factor));
                }
            }
        }
        let mut picks = [0; 2];
        for (number, least) in least.into_iter().enumerate() {
            let pick = mixed(least);
            picks[0] |= (pick & 1) << number;
            picks[1] |= (pick >> 1 & 1) << number;
        }
        let words = u64::try_from(self.words).unwrap_or(u64::MAX).min(u64::from(u16::MAX));
        Some(Sketch { picks, facts: words << NUMBER_BITS | self.numbers })
    }
}

impl Sketch {
    /// How many of the picks two texts have in common.
    fn shared(&self, other: &Self) -> u32 {
        let differ = (self.picks[0] ^ other.picks[0]) | (self.picks[1] ^ other.picks[1]);
        PICKS - differ.count_ones()
    }

    pub(crate) fn words(&self) -> u64 {
        self.facts >> NUMBER_BITS
    }

    fn numbers(&self) -> u64 {
        self.facts & ((1 << NUMBER_BITS) - 1)
    }

    /// Whether two texts say the same but for trifles.
    ///
    /// Two unrelated texts share a quarter of their picks by chance, two that have three quarters of their pairs in
    /// common share four fifths. A short text says something else with one word changed, so it has to be the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        const NEARLY: u32 = 50;
        const LONG_ENOUGH: u64 = 12;
        let (short, long) = if self.words() <= other.words() { (self, other) } else { (other, self) };
        let same_length = short.words() == long.words();
        let missing = |one: &Self, other: &Self| one.numbers() & !other.numbers() != 0;
        let lacks_numbers = missing(short, long) || (same_length && missing(long, short));
        let needed = if short.words() < LONG_ENOUGH { PICKS } else { NEARLY };
        !lacks_numbers && self.shared(other) >= needed
    }
}

fn hash(word: &str) -> u64 {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed(hash)
}

/// Spreads a number over all bits.
const fn mixed(mut number: u64) -> u64 {
    number ^= number >> 30;
    number = number.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^= number >> 27;
    number = number.wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Odd numbers; multiplying by each puts a set in another order.
const FACTORS: [u64; PICKS as usize] = {
    let mut factors = [0; PICKS as usize];
    let mut number = 0;
    while number < factors.len() {
        factors[number] = mixed(number as u64 + 0x9e37_79b9_7f4a_7c15) | 1;
        number += 1;
    }
    factors
};

#[cfg(test)]
mod tests {
    use pdpp_evidence::{Language, for_each_token};

    use super::*;

    fn sketch(text: &str) -> Option<Sketch> {
        let mut sketching = Sketching::of(text);
        let mut positions = 0;
        for_each_token(text, Language::English, |token| {
            if token.position >= positions {
                positions = token.position + 1;
                sketching.word(token.surface, token.start_chars as usize);
            }
        });
        sketching.finish()
    }

    #[track_caller]
    fn alike(one: &str, other: &str) -> bool {
        let (one, other) = (sketch(one).unwrap(), sketch(other).unwrap());
        assert_eq!(one.is_like(&other), other.is_like(&one));
        one.is_like(&other)
    }

    const LETTER: &str = "Dear all, the boiler in the basement will be repaired next week, so there will be no \
        warm water from early morning until the afternoon. Please fill a kettle the evening before, and call me \
        if the heating has not come back by night.";

    #[test]
    fn copies_quotes_and_forwards_are_like_what_they_copy() {
        let shouted = LETTER.to_uppercase().replace(',', " –");
        let typo = LETTER.replace("basement", "basment");
        let quoted = format!(
            "Thanks, will do!\n\nOn Mon, 5 May 2025 at 10:03, Anna Berg <anna@example.org> wrote:\n> {}",
            LETTER.replace(". ", ".\n> ")
        );
        let forwarded = format!(
            "FYI\n\n---------- Forwarded message ---------\nFrom: Anna Berg <anna@example.org>\n\
             Date: Mon, 5 May 2025 at 10:03\nSubject: No warm water\nTo: everybody@example.org\n\n{LETTER}"
        );
        for copy in [LETTER, &shouted, &typo, &quoted, &forwarded] {
            assert!(alike(LETTER, copy), "{copy}");
        }
    }

    #[test]
    fn a_subject_in_common_is_not_likeness() {
        let other = "The boiler in the basement was repaired last week. There was no warm water in the morning, \
            and the heating came back in the afternoon. Nobody called me, so I suppose that all is well.";
        let answered = format!(
            "I shall be away the whole of that week, and my sister has the key to the flat. Could the plumber \
             please ring her bell on the second floor, and not before nine, because she works at night?\n\
             On Mon, 5 May 2025 at 10:03, Anna Berg <anna@example.org> wrote:\n> {LETTER}"
        );
        for other in [other, &answered] {
            assert!(!alike(LETTER, other), "{other}");
        }
    }

    #[test]
    fn what_differs_in_its_numbers_differs() {
        let order = |number: u32| {
            format!(
                "Thank you for shopping with us. Your order {number} has left our warehouse today and will be with \
                 you in a few days. You can follow it on its way with the link below."
            )
        };
        assert!(alike(&order(4_711), &order(4_711)));
        let different = (1..200).filter(|number| !alike(&order(4_711), &order(4_711 + number))).count();
        assert!(different > 190, "{different}");
    }

    #[test]
    fn short_texts_have_to_be_the_same() {
        let friday = "Reminder: the garden meeting is on Friday evening";
        assert!(alike(friday, "reminder the garden meeting is on friday evening!"));
        for word in ["Saturday", "Sunday", "Monday", "Tuesday"] {
            assert!(!alike(friday, &friday.replace("Friday", word)), "{word}");
        }
        assert_eq!(sketch("see you there then"), None);
    }
}
