//! The `Range` header: one range of bytes, or the whole.

use std::ops::Range;

/// What a request asks of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Everything: no range, several, one in other units, or any of an empty blob, which has no range to give. A
    /// server may ignore those.
    Whole,
    /// One range.
    Part(Range<u64>),
    /// A range outside the blob.
    Outside,
}

/// Reads a `Range` header for a blob of this size.
pub(crate) fn asked_range(header: Option<&str>, size: u64) -> Asked {
    let Some(spec) = header.and_then(|header| header.trim().strip_prefix("bytes=")) else {
        return Asked::Whole;
    };
    if spec.contains(',') || size == 0 {
        return Asked::Whole;
    }
    let Some((first, last)) = spec.trim().split_once('-') else { return Asked::Whole };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(length)) if first.is_empty() => size.saturating_sub(length)..size,
        _ => return Asked::Whole,
    };
    if range.start < range.end { Asked::Part(range) } else { Asked::Outside }
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_the_rest_ignored() {
        let part = |range| Asked::Part(range);
        for (header, expected) in [
            ("bytes=0-3", part(0..4)),
            ("bytes=2-", part(2..10)),
            ("bytes=-4", part(6..10)),
            ("bytes=-99", part(0..10)),
            ("bytes=8-99", part(8..10)),
            ("bytes=0-18446744073709551615", part(0..10)),
            ("bytes=10-", Asked::Outside),
            ("bytes=-0", Asked::Outside),
            ("bytes=99-100", Asked::Outside),
            ("bytes=3-2", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("bytes=0-1,3-4", Asked::Whole),
            ("lines=0-1", Asked::Whole),
            ("bytes=", Asked::Whole),
        ] {
            assert_eq!(asked_range(Some(header), 10), expected, "{header}");
        }
        assert_eq!(asked_range(None, 10), Asked::Whole);
        for header in ["bytes=0-", "bytes=0-1048575", "bytes=7-9", "bytes=-4"] {
            assert_eq!(asked_range(Some(header), 0), Asked::Whole, "{header} of nothing");
        }
    }
}
