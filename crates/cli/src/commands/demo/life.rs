//! An invented life: eighteen months of an invented person, as the exports her services would give her.
//!
//! Mira Castell plans parks in Lindhaven, which does not exist; all domains end in `.example`. The same seed gives the
//! same life, byte for byte. Most of it is made from templates; [`planted`] holds what can be found on purpose.

mod chats;
mod diary;
mod letters;
mod notebook;
pub(super) mod orders;
mod paper;
mod picture;
mod planted;
mod random;
mod words;

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, date};

use self::random::Random;
use self::words::Words;

const SEED: u64 = 0x4D69_7261;
/// How long the life is.
const MONTHS: i32 = 18;

/// A file of an export.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl File {
    fn new(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), bytes }
    }
}

/// What the services gave her.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// What the owner calls each connection, and the files of its export.
    pub(super) exports: Vec<(&'static str, Vec<File>)>,
    /// Record lines under [`orders::MANIFEST`].
    pub(super) orders: String,
}

impl Life {
    pub(super) fn write() -> Self {
        let (words, mut random) = (Words::read(), Random::new(SEED));
        let orders = orders::make(&mut random);
        let exports = vec![
            ("Phone", chats::write(&words, &mut random)),
            ("Mail", vec![letters::write(&words, &mut random, &orders)]),
            ("Notebook", notebook::write(&words, &mut random)),
            ("Diary", vec![diary::write(&words, &mut random)]),
        ];
        Self { exports, orders: orders::lines(&orders) }
    }
}

fn first_day() -> Date {
    date(2025, 5, 1)
}

/// Some moment of the life, between two hours of the day.
fn moment(random: &mut Random, from: i64, to: i64) -> DateTime {
    let day = first_day().saturating_add(random.between(0, 548).days());
    let seconds = random.between(from * 3_600, to * 3_600);
    day.to_datetime(jiff::civil::Time::midnight()).saturating_add(seconds.seconds())
}

/// A moment that is written down; the planted ones are tested to be readable.
fn at(text: &str) -> DateTime {
    text.parse().unwrap_or_else(|_| first_day().to_datetime(jiff::civil::Time::midnight()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_life_every_time() {
        assert_eq!(Life::write(), Life::write());
    }

    #[test]
    fn nothing_is_left_unfilled_and_the_planted_moments_are_real() {
        let life = Life::write();
        for file in
            life.exports.iter().flat_map(|(_, files)| files).filter(|file| !file.path.contains("-PHOTO-"))
        {
            let text = String::from_utf8_lossy(&file.bytes);
            assert!(!text.contains('{') && !text.contains('}'), "{}", file.path);
        }
        assert!(planted::LETTERS.iter().all(|letter| at(letter.at).date() > date(2026, 1, 1)));
        assert!(planted::MESSAGES.iter().all(|message| at(message.1).date() > date(2026, 1, 1)));
    }
}
