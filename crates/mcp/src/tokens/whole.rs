//! Common words, and marks of JSON, that the tokenizer keeps whole.
//!
//! The list holds the words that its vocabulary learnt first and the words our own answers are made of. A word
//! without a mark before it costs one token alone and after a space; one with a mark costs one token with it.

use std::sync::LazyLock;

const LIST: &str = include_str!("whole.txt");
/// Twice as many places as entries, so that few entries meet.
const PLACES: usize = 8_192;

static WHOLE: LazyLock<Whole> = LazyLock::new(|| Whole::of(LIST));

/// Whether the tokenizer keeps this text whole, as far as the list knows.
pub(super) fn contains(text: &str) -> bool {
    packed(text).is_some_and(|packed| WHOLE.contains(packed))
}

/// Every entry.
#[cfg(test)]
pub(super) fn entries() -> impl Iterator<Item = &'static str> {
    LIST.split_ascii_whitespace()
}

/// A set of short texts, each packed in one number; zero is a free place.
struct Whole(Box<[u128]>);

impl Whole {
    fn of(list: &str) -> Self {
        let mut places = vec![0; PLACES].into_boxed_slice();
        for packed in list.split_ascii_whitespace().filter_map(packed) {
            let mut place = place(packed);
            while places[place] != 0 {
                place = (place + 1) % PLACES;
            }
            places[place] = packed;
        }
        Self(places)
    }

    fn contains(&self, packed: u128) -> bool {
        let mut place = place(packed);
        loop {
            match self.0[place] {
                0 => return false,
                found if found == packed => return true,
                _ => place = (place + 1) % PLACES,
            }
        }
    }
}

/// The bytes as one number, when there are few enough.
fn packed(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    match bytes.len() {
        0..=8 => Some(eight(bytes).into()),
        9..=16 => {
            let (low, high) = bytes.split_at(8);
            Some(u128::from(eight(low)) | u128::from(eight(high)) << 64)
        }
        _ => None,
    }
}

/// At most eight bytes as one number. Those of a longer one are taken by its ends, which may overlap: copying a number of
/// bytes that is not known beforehand costs more than all the rest.
fn eight(bytes: &[u8]) -> u64 {
    let at = |byte: usize| u64::from(bytes[byte]);
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4));
        return u64::from(u32::from_le_bytes(*first)) | last;
    }
    match bytes.len() {
        0 => 0,
        1 => at(0),
        2 => at(0) | at(1) << 8,
        _ => at(0) | at(1) << 8 | at(2) << 16,
    }
}

/// Where to look first: the upper bits of a product with an odd number.
fn place(packed: u128) -> usize {
    const BITS: u32 = PLACES.trailing_zeros();
    let mixed = packed.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    usize::try_from(mixed >> (u128::BITS - BITS)).unwrap_or(0)
}
