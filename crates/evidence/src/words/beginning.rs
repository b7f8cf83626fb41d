//! Tells words that cannot be one of the wanted terms from those that may be, without stemming them.
//!
//! A stemmer takes most of the time a text is read in, and what it leaves begins as the word did. So the letters of the
//! wanted terms say of nearly every word of a text that it is none of them. How much of the beginning can be relied on
//! is known of plain words only, and differs between languages; a test compares it with the stemmers.

use super::Language;
use super::term::MAX_TERM_CHARS;

/// What the wanted terms begin with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginnings {
    /// Each term without its last letter; none of them begins as another does.
    nearly: Vec<Vec<u8>>,
    /// The first letters of all terms, one bit each.
    initials: u32,
}

/// How much of a plain word its stem keeps, at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// All letters of the stem but the last, with an `i` where the word has a `y`.
    Nearly,
    /// The first letter, with an `i` where the word has a `y`.
    Initial,
    /// Perhaps nothing.
    Nothing,
}

fn kept(language: Language) -> Kept {
    match language {
        // The prefix `ge-` is taken off, and a last `d` becomes a `t` where it is also the first.
        Language::Dutch | Language::Turkish => Kept::Nothing,
        Language::German
        | Language::French
        | Language::Spanish
        | Language::Italian
        | Language::Portuguese
        | Language::Swedish
        | Language::Danish
        | Language::Norwegian
        | Language::Finnish
        | Language::Polish
        | Language::Czech
        | Language::Romanian
        | Language::Hungarian => Kept::Initial,
        // Plain words among those of another script are stemmed as English, or not at all.
        Language::English
        | Language::Russian
        | Language::Ukrainian
        | Language::Greek
        | Language::Arabic
        | Language::Hindi
        | Language::Tamil
        | Language::Unstemmed => Kept::Nearly,
    }
}

impl Beginnings {
    pub(crate) fn of<'a>(terms: impl Iterator<Item = &'a str>) -> Self {
        let mut nearly: Vec<Vec<u8>> = Vec::new();
        let mut initials = 0;
        for term in terms {
            let mut letters: Vec<u8> = term.bytes().map(letter).collect();
            initials |= letters.first().map_or(u32::MAX, |first| bit(*first));
            letters.pop();
            nearly.push(letters);
        }
        nearly.sort_unstable();
        nearly.dedup_by(|longer, shorter| longer.starts_with(shorter));
        Self { nearly, initials }
    }

    /// Whether a token of the word may be one of the terms, or begin with it.
    pub(crate) fn may_have(&self, word: &str, language: Language) -> bool {
        let bytes = word.as_bytes();
        // A term that would be too long ends in a hash.
        let is_plain = bytes.len() <= MAX_TERM_CHARS && bytes.iter().all(u8::is_ascii_alphabetic);
        let Some(first) = bytes.first().filter(|_| is_plain) else { return true };
        match kept(language) {
            Kept::Nothing => true,
            Kept::Initial => self.initials & bit(letter(*first)) != 0,
            Kept::Nearly => self.nearly.iter().any(|beginning| begins_with(bytes, beginning)),
        }
    }
}

fn begins_with(word: &[u8], beginning: &[u8]) -> bool {
    word.len() >= beginning.len() && word.iter().zip(beginning).all(|(one, other)| letter(*one) == *other)
}

fn letter(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        b'y' => b'i',
        letter => letter,
    }
}

/// A plain letter's bit; nothing else has one.
fn bit(letter: u8) -> u32 {
    match letter {
        b'a'..=b'z' => 1 << (letter - b'a'),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::words::for_each_token;

    const BEGINNINGS: &str = "a ab ag am ar arsen be by commun cry die do dy emb exc eye fly free ge gener gr hop hopp \
        ic id in inn kn l li lov ly man mat mod ne o on ow pl proc qu r rat relat sens sky st succ t ti tr ty un \
        univers us v val y yes z aiu uia quiy que nai naj ver anti haus husz";
    const ENDINGS: &str = "  s es ies ied ed edly ing ingly eed eedly y ly li e able ably ibility ability ational \
        tional ation ator alism ality alli fulness ful ousli ously ousness iveness ivity ive ization izer ize \
        ogist ogi ology enci ency anci ance ant ement ment ent ion sion tion al ic ical icate iciti ness less lessly \
        ite iti ate ative er or est ism ist ist's 's ss sses us en ern em heit keit lich isch ung ig end erne hed \
        issement euse ions ait erons amente mente ando iendo ciones idad arono endo zione agens skap leg arna orna \
        ssa lla sta tta ksi isi owski ami ach ego emu ovi ovat ului elor esc ban nak ekkel hoz lerinden lar yor mis";

    fn words() -> impl Iterator<Item = String> {
        let listed = include_str!("stop.rs").split(|c: char| !c.is_ascii_alphabetic()).map(str::to_owned);
        let made = BEGINNINGS
            .split_ascii_whitespace()
            .flat_map(|one| ENDINGS.split(' ').map(move |other| format!("{one}{other}")));
        let mut random = Random::new(37);
        let rolled = (0..30_000).map(move |_| {
            // One in a hundred is longer than a term may be.
            let length = 1 + random.below(9) + if random.below(100) == 0 { 60 } else { 0 };
            (0..length).map(|_| random.pick(&LETTERS)).collect()
        });
        listed.chain(made).chain(rolled).filter(|word| !word.is_empty())
    }

    /// The ones that endings are made of stand here more than once.
    const LETTERS: [&str; 40] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        "u", "v", "w", "x", "y", "z", "a", "e", "i", "o", "u", "y", "s", "n", "t", "r", "e", "i", "qu", "A",
    ];

    #[test]
    fn a_stem_begins_as_its_word_does() {
        for number in 0..=u64::from(Language::Unstemmed.number()) {
            let language = Language::from_number(number).expect("every number up to the last is a language");
            let mut checked = 0;
            for word in words() {
                for_each_token(&word, language, |token| {
                    let beginnings = Beginnings::of([token.term].into_iter());
                    assert!(beginnings.may_have(&word, language), "{language:?} {word} {}", token.term);
                    checked += 1;
                });
            }
            assert!(checked > 34_000);
        }
    }

    #[test]
    fn other_beginnings_are_told_apart() {
        let wanted = Beginnings::of(["harvest", "harv", "hob", "inventori"].into_iter());
        assert_eq!(wanted.nearly, [&b"har"[..], b"ho", b"inventor"]);
        let unlikely = |word, language| assert!(!wanted.may_have(word, language), "{word}");
        unlikely("habour", Language::English);
        unlikely("invention", Language::Russian);
        unlikely("boat", Language::German);
        for word in ["Harbour", "HOP", "inventories", "inventory", "bo4t", "böat", "don't", ""] {
            assert!(wanted.may_have(word, Language::English), "{word}");
        }
        assert!(wanted.may_have("geharvest", Language::Dutch));
        assert!(wanted.may_have("hiver", Language::French));
        assert!(Beginnings::of(["a"].into_iter()).may_have("boat", Language::English));
        assert!(!Beginnings::of(["ö"].into_iter()).may_have("boat", Language::English));
    }
}
