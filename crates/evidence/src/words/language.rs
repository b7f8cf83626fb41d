//! Which language a passage is in, decided from its text alone.
//!
//! Only the choice of stemmer depends on it, so a wrong guess costs an ending and never a word as typed: a
//! query is looked up under the stems of every language. The script decides first, then the share of function
//! words, which is exact for prose and costs little, then letter statistics; what is left is taken as English.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use whatlang::Lang;

use super::{
    script::{Class, Script, class, script_of_letter},
    stop, term,
};

/// As much of a passage as is looked at, in scalar values.
const SAMPLE_CHARS: usize = 2_000;
/// Fewer letters give statistics too little to go by.
const MIN_LETTERS: usize = 40;

/// What a function word of one language alone counts; one of several languages counts its share for each.
const WORD_SCORE: u32 = 60;
/// One word is not enough: `Los Angeles` is not Spanish.
const MIN_SCORE: u32 = 100;

macro_rules! languages {
    ($($language:ident $code:literal $script:ident $detected:ident)*) => {
        /// The language whose rules a passage's words are stemmed by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Language {
            $(#[doc = concat!("`", $code, "`")] $language,)*
            /// A language without a stemmer: words stay as they are.
            Unstemmed,
        }

        impl Language {
            const STEMMED: &[Self] = &[$(Self::$language),*];

            /// The ISO 639-1 code, or `und`: what an index keeps beside a passage.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$language => $code,)*
                    Self::Unstemmed => "und",
                }
            }

            fn stemming(self) -> Option<(Script, Algorithm)> {
                match self {
                    $(Self::$language => Some((Script::$script, Algorithm::$language)),)*
                    Self::Unstemmed => None,
                }
            }

            fn detected(self) -> Option<Lang> {
                match self {
                    $(Self::$language => Some(Lang::$detected),)*
                    Self::Unstemmed => None,
                }
            }

            fn of_detected(lang: Lang) -> Self {
                match lang {
                    $(Lang::$detected => Self::$language,)*
                    _ => Self::Unstemmed,
                }
            }
        }
    };
}

languages! {
    English "en" Latin Eng
    German "de" Latin Deu
    French "fr" Latin Fra
    Spanish "es" Latin Spa
    Italian "it" Latin Ita
    Portuguese "pt" Latin Por
    Dutch "nl" Latin Nld
    Swedish "sv" Latin Swe
    Danish "da" Latin Dan
    Norwegian "no" Latin Nob
    Finnish "fi" Latin Fin
    Polish "pl" Latin Pol
    Czech "cs" Latin Ces
    Romanian "ro" Latin Ron
    Hungarian "hu" Latin Hun
    Turkish "tr" Latin Tur
    Russian "ru" Cyrillic Rus
    Ukrainian "uk" Cyrillic Ukr
    Greek "el" Greek Ell
    Arabic "ar" Arabic Ara
    Hindi "hi" Devanagari Hin
    Tamil "ta" Tamil Tam
}

impl Language {
    /// The language of a code given by [`Language::code`]; any other is unstemmed.
    pub fn from_code(code: &str) -> Self {
        Self::STEMMED.iter().copied().find(|language| language.code() == code).unwrap_or(Self::Unstemmed)
    }

    /// A small number for it, which an index may keep. It changes when languages are added before it.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The language of a number given by [`Language::number`].
    pub fn from_number(number: u64) -> Option<Self> {
        let unstemmed = Self::Unstemmed as u64;
        match usize::try_from(number) {
            _ if number == unstemmed => Some(Self::Unstemmed),
            Ok(number) => Self::STEMMED.get(number).copied(),
            Err(_) => None,
        }
    }

    pub(super) fn of_script(script: Script) -> impl Iterator<Item = Self> {
        let of_script = move |language: &Self| language.stemming().is_some_and(|(of, _)| of == script);
        Self::STEMMED.iter().copied().filter(of_script)
    }

    /// By whose rules a word of this script is stemmed in a passage of this language. Latin words among Cyrillic,
    /// Greek, Arabic or Indic ones are mostly English.
    pub(super) fn for_words_of(self, script: Script) -> Option<Self> {
        let (own, _) = self.stemming()?;
        match script {
            _ if own == script => Some(self),
            Script::Latin => Some(Self::English),
            _ => None,
        }
    }

    pub(super) fn stemmer(self) -> Option<Stemmer> {
        self.stemming().map(|(_, algorithm)| Stemmer::create(algorithm))
    }
}

/// The language of a passage. Undecided Latin text is English; text of a script without a stemmer is unstemmed.
pub fn language_of(text: &str) -> Language {
    let sample = match text.char_indices().nth(SAMPLE_CHARS) {
        Some((byte, _)) => &text[..byte],
        None => text,
    };
    let letters = Letters::count(sample);
    match letters.main() {
        Main::NoLetters => Language::English,
        Main::Other => Language::Unstemmed,
        Main::Script(Script::Latin) => latin(sample, letters.total()),
        Main::Script(Script::Cyrillic) => cyrillic(sample, letters.total()),
        Main::Script(Script::Greek) => Language::Greek,
        Main::Script(Script::Arabic)
            if sample.contains(['پ', 'چ', 'ژ', 'گ', 'ک', 'ی', 'ٹ', 'ڈ', 'ڑ', 'ے']) =>
        {
            Language::Unstemmed
        }
        Main::Script(Script::Arabic) => Language::Arabic,
        Main::Script(Script::Devanagari) => statistics(sample, letters.total()).unwrap_or(Language::Hindi),
        Main::Script(Script::Tamil) => Language::Tamil,
    }
}

fn latin(sample: &str, letters: usize) -> Language {
    match &vote(sample)[..] {
        [language] => *language,
        [] => statistics(sample, letters).unwrap_or(Language::English),
        neighbours => statistics(sample, letters).unwrap_or_else(|| {
            let neighbours = neighbours.iter().filter_map(|language| language.detected()).collect();
            let found = whatlang::Detector::with_allowlist(neighbours).detect_lang(sample);
            found.map_or(Language::English, Language::of_detected)
        }),
    }
}

/// How many letters of each script a text has.
#[derive(Default)]
struct Letters {
    by_script: [usize; 6],
    other: usize,
}

/// The script most letters are of.
enum Main {
    NoLetters,
    Script(Script),
    /// One without a stemmer.
    Other,
}

const SCRIPTS: [Script; 6] =
    [Script::Latin, Script::Cyrillic, Script::Greek, Script::Arabic, Script::Devanagari, Script::Tamil];

impl Letters {
    fn count(text: &str) -> Self {
        let mut letters = Self::default();
        for c in text.chars() {
            match script_of_letter(c) {
                Some(script) => letters.by_script[script as usize] += 1,
                // A character of these scripts says as much as several letters.
                None if !c.is_ascii() && class(c) == Class::Spaceless => letters.other += 3,
                None => letters.other += usize::from(c.is_alphabetic()),
            }
        }
        letters
    }

    fn total(&self) -> usize {
        self.by_script.iter().sum()
    }

    fn main(&self) -> Main {
        let count = |script: Script| self.by_script[script as usize];
        let mut main = Script::Latin;
        for script in SCRIPTS {
            if count(script) > count(main) {
                main = script;
            }
        }
        match count(main) {
            0 if self.other == 0 => Main::NoLetters,
            most if most < self.other => Main::Other,
            _ => Main::Script(main),
        }
    }
}

/// The languages whose function words are the most frequent ones: one, when it is clear, or close neighbours.
/// None when too few words are function words of any.
pub(crate) fn vote(sample: &str) -> Vec<Language> {
    let mut scores = [0_u32; Language::STEMMED.len()];
    let (mut words, mut hits) = (0_u32, 0_u32);
    for word in sample.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’')) {
        // No function word is longer, and folding is not free.
        let languages = match word.len() {
            0 | 17.. => 0,
            _ if word.bytes().all(|byte| byte.is_ascii_lowercase()) => stop::languages(word),
            _ => stop::languages(&term::surface(word)),
        };
        words += u32::from(!word.is_empty());
        hits += u32::from(languages != 0);
        for language in Language::STEMMED.iter().filter(|language| languages & stop::bit(**language) != 0) {
            // A word of many languages speaks for none of them.
            scores[*language as usize] += WORD_SCORE / languages.count_ones();
        }
    }
    let top = scores.into_iter().max().unwrap_or_default();
    if hits * 8 < words || top < MIN_SCORE {
        return Vec::new();
    }
    let near = |language: &Language| scores[*language as usize] * 3 > top * 2;
    Language::STEMMED.iter().copied().filter(near).collect()
}

/// What letter statistics say, when there is enough text and they are sure.
fn statistics(sample: &str, letters: usize) -> Option<Language> {
    if letters < MIN_LETTERS {
        return None;
    }
    let found = whatlang::detect(sample).filter(whatlang::Info::is_reliable)?;
    Some(Language::of_detected(found.lang()))
}

/// Letters that one language has and its neighbours do not tell short texts apart.
fn cyrillic(sample: &str, letters: usize) -> Language {
    if let [language] = vote(sample)[..] {
        return language;
    }
    if let Some(language) = statistics(sample, letters) {
        return language;
    }
    if sample.contains(['ў', 'ј', 'љ', 'њ', 'ћ', 'џ', 'ђ', 'ѓ', 'ќ', 'ѕ', 'қ', 'ғ', 'ө', 'ү', 'ә'])
    {
        Language::Unstemmed
    } else if sample.contains(['і', 'ї', 'є', 'ґ', 'І', 'Ї', 'Є', 'Ґ']) {
        Language::Ukrainian
    } else {
        Language::Russian
    }
}
