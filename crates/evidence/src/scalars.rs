//! Positions in text, counted in Unicode scalar values.
//!
//! A field may hold tens of megabytes, so nothing here copies a text into a list of characters. Most text is ASCII
//! up to the place that is looked for, and there a scalar value is a byte: that is asked first, many bytes at a time.

/// Splits `text` after its first `count` scalar values, or at its end when it is shorter.
pub(crate) fn split(text: &str, count: usize) -> (&str, &str) {
    match text.as_bytes().get(..count) {
        // There are at least as many bytes as scalar values.
        None => (text, ""),
        Some(before) if before.is_ascii() => text.split_at(count),
        Some(_) => split_one_by_one(text, count),
    }
}

fn split_one_by_one(text: &str, count: usize) -> (&str, &str) {
    match text.char_indices().nth(count) {
        Some((byte, _)) => text.split_at(byte),
        None => (text, ""),
    }
}

/// The scalar values `start..end` of `text`, as far as they exist.
pub(crate) fn slice(text: &str, start: usize, end: usize) -> &str {
    let (_, rest) = split(text, start);
    split(rest, end.saturating_sub(start)).0
}

/// How many scalar values `text` has.
pub(crate) fn count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn places_are_the_same_whether_bytes_or_scalars_are_counted() {
        let mut random = Random::new(11);
        for round in 0..3_000 {
            let text = if round % 2 == 0 { random.text(12) } else { random.ascii(12) };
            for at in 0..=text.len() + 1 {
                assert_eq!(split(&text, at), split_one_by_one(&text, at), "{text:?} at {at}");
            }
        }
    }
}
