//! What a text is like, in a few numbers, so that copies of it are known without reading either.
//!
//! A text is its words, each with the next one; a pair that comes again counts again. Sixty-four ways of mixing
//! numbers each pick one pair; two texts have the same pick as often as they share pairs, and two bits of every pick
//! are kept.
//! Beside them stand how long the text is and which numbers occur in it: letters from a shop differ in nothing but
//! those. What only says that something is quoted or forwarded is left out. Of a text too short for that nothing is
//! kept but these numbers and a hash, enough to know the same text again.

use std::ops::Range;

use super::quoting;

/// Shorter texts say too little to be called the same thing by themselves.
const MIN_WORDS: u64 = 6;
/// How many picks are kept.
pub(crate) const PICKS: u32 = 64;
/// The bits of a number that say which numbers occur.
const NUMBER_BITS: u32 = 32;
/// The bits that say how many words there are.
const LENGTH_BITS: u32 = 16;
/// What mail programs of several languages write before the subject of an answer or of a forwarded letter.
const MARKS: [&str; 20] = [
    "re", "fw", "fwd", "aw", "wg", "antw", "sv", "vs", "vb", "tr", "rv", "rif", "ref", "enc", "odp", "pd",
    "ynt", "回复", "转发", "答复",
];

/// A text's sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sketch {
    /// The lower and the higher bit of each pick; nothing for a short text.
    pub(crate) picks: [u64; 2],
    /// Which numbers occur, above them how many words there are, and above those the hash of a short text.
    pub(crate) facts: u64,
}

/// Takes in the words of a text, passage by passage.
pub(crate) struct Sketching {
    passed_over: Vec<Range<usize>>,
    pairs: Vec<u64>,
    numbers: u64,
    words: u64,
    /// A hash of all words so far.
    all: u64,
    before: Option<u64>,
    /// Where the last word began, in characters.
    reached: Option<usize>,
}

impl Sketching {
    pub(crate) fn of(text: &str) -> Self {
        let mut passed_over = quoting::frames(text);
        let marks = 0..marks(text);
        if !marks.is_empty() && passed_over.first().is_none_or(|first| marks.end <= first.start) {
            passed_over.insert(0, marks);
        }
        Self { passed_over, pairs: Vec::new(), numbers: 0, words: 0, all: 0, before: None, reached: None }
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
        self.all = mixed(self.all.rotate_left(17) ^ hash);
        self.pairs.extend(self.before.map(|before| mixed(before.rotate_left(17) ^ hash)));
        self.before = Some(hash);
    }

    /// What came of it.
    pub(crate) fn finish(mut self) -> Sketch {
        let facts = self.words.min((1 << LENGTH_BITS) - 1) << NUMBER_BITS | self.numbers;
        if self.words < MIN_WORDS {
            let hash = self.all << (NUMBER_BITS + LENGTH_BITS);
            return Sketch { picks: [0; 2], facts: hash | facts };
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
        Sketch { picks, facts }
    }
}

impl Sketch {
    /// How many of the picks two texts have in common.
    fn shared(&self, other: &Self) -> u32 {
        let differ = (self.picks[0] ^ other.picks[0]) | (self.picks[1] ^ other.picks[1]);
        PICKS - differ.count_ones()
    }

    pub(crate) fn words(&self) -> u64 {
        self.facts >> NUMBER_BITS & ((1 << LENGTH_BITS) - 1)
    }

    /// Whether the text is long enough for its likeness to mean something.
    pub(crate) fn is_telling(&self) -> bool {
        self.words() >= MIN_WORDS
    }

    /// A bit or two for each number that occurs.
    pub(crate) fn numbers(&self) -> u64 {
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
        if !short.is_telling() {
            return self == other;
        }
        let same_length = short.words() == long.words();
        let missing = |one: &Self, other: &Self| one.numbers() & !other.numbers() != 0;
        let lacks_numbers = missing(short, long) || (same_length && missing(long, short));
        let needed = if short.words() < LONG_ENOUGH { PICKS } else { NEARLY };
        !lacks_numbers && self.shared(other) >= needed
    }
}

/// The characters at the beginning of a text that only say it is an answer or forwarded.
fn marks(text: &str) -> usize {
    const LONGEST: usize = 8;
    let mut rest = text.trim_start();
    while let Some((colon, sign)) = rest.char_indices().take(LONGEST).find(|(_, c)| matches!(c, ':' | '：'))
    {
        // Some programs count: `Re[2]:`.
        let (mark, count) = rest[..colon].split_once('[').unwrap_or((&rest[..colon], ""));
        let is_count = count.trim_end().trim_end_matches(']').chars().all(|c| c.is_ascii_digit());
        if !is_count || !MARKS.contains(&&*mark.trim_end().to_lowercase()) {
            break;
        }
        rest = rest[colon + sign.len_utf8()..].trim_start();
    }
    text[..text.len() - rest.len()].chars().count()
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

    /// `None` for a text that by itself is like no other.
    fn sketch(text: &str) -> Option<Sketch> {
        Some(any_sketch(text)).filter(Sketch::is_telling)
    }

    fn any_sketch(text: &str) -> Sketch {
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

    #[test]
    fn very_short_texts_are_known_again() {
        let order = any_sketch("Order 4711");
        assert!(order.is_like(&any_sketch("order 4711!")));
        for other in ["Order 4712", "4711 order", "Order", "Order 4711 4711", LETTER] {
            let other = any_sketch(other);
            assert!(!order.is_like(&other) && !other.is_like(&order), "{other:?}");
        }
    }

    #[test]
    fn an_answer_has_the_subject_of_its_question() {
        let plan = any_sketch("Plan for Malta");
        for subject in [
            "Re: Plan for Malta",
            "AW: WG: Plan for Malta",
            " Fwd : RE[2]: plan for malta",
            "回复：Plan for Malta",
        ] {
            assert!(plan.is_like(&any_sketch(subject)), "{subject}");
        }
        for subject in ["Old: Plan for Malta", "Re Plan for Malta", "Answer: Plan for Malta"] {
            assert!(!plan.is_like(&any_sketch(subject)), "{subject}");
        }
    }
}
