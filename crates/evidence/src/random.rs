//! Repeatable pseudo-random text for property tests.

/// Pieces that have broken text handling before: marks, emoji sequences, right-to-left, wide and odd scalars.
const PIECES: &[&str] = &[
    "a",
    "B",
    "z",
    " ",
    " ",
    "\n",
    ". ",
    "word",
    "Invoice",
    "don't",
    "3.14",
    "e\u{301}",
    "é",
    "o\u{308}\u{323}",
    "😀",
    "👩‍👩‍👧",
    "👍🏽",
    "❤️",
    "🇫🇷",
    "🇩",
    "שלום",
    "مرحبا",
    "漢字",
    "かな",
    "が",
    "한국",
    "ก็",
    "नि",
    "क्ष",
    "\u{200B}",
    "\u{202E}",
    "\u{E0041}",
    "\u{FEFF}",
    "\u{1B}[31m",
    "<mark>",
    "</mark>",
    "\r\n",
    "ß",
    "İ",
    "Σ",
    "\u{0}",
    "\u{301}",
];

/// Pieces of text in one script, with what joins and separates words in it.
const ASCII_PIECES: &[&str] = &[
    "a",
    "B",
    "s",
    "y",
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    ". ",
    ", ",
    ".",
    ",",
    ":",
    ";",
    "/",
    "://",
    "www.",
    "-",
    "--",
    "_",
    "__",
    "+",
    "++",
    "#",
    "@",
    "'",
    "&",
    "\"",
    "(",
    ")",
    "<",
    "*",
    "=",
    "%",
    "~",
    "1",
    "200",
    ",200",
    "10T20",
    "5Z",
    "word",
    "Invoice",
    "storage",
    "don't",
    "bob@example.com",
    "3.14",
    "\u{0}",
    "\u{1B}[31m",
    "<mark>",
    "</mark>",
];

/// An xorshift generator: the same seed gives the same cases on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `bound`, which must not be zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("48 bits fit in the usize of a test machine") % bound
    }

    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Text of up to `pieces` pieces, all of them ASCII.
    pub(crate) fn ascii(&mut self, pieces: usize) -> String {
        let count = self.below(pieces + 1);
        (0..count).map(|_| self.pick(ASCII_PIECES)).collect()
    }

    /// Text of up to `pieces` pieces in many scripts.
    pub(crate) fn text(&mut self, pieces: usize) -> String {
        let count = self.below(pieces + 1);
        (0..count).map(|_| self.pick(PIECES)).collect()
    }
}
