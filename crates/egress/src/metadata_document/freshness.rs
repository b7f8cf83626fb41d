//! How long an answer stays fresh: as `Cache-Control` says, never shorter than a minute, never longer than a day.
//!
//! The minute keeps a stranger's login page from making us fetch at its pace; the day bounds how long a withdrawn
//! redirect URI works. An answer that says nothing is fresh for the minute.

use http::HeaderMap;
use http::header::{AGE, CACHE_CONTROL};

const SHORTEST: i64 = 60;
const LONGEST: i64 = 24 * 60 * 60;

/// The seconds for which an answer with these headers is kept.
pub(super) fn seconds(headers: &HeaderMap) -> i64 {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut max_age = None;
    for directive in values.flat_map(|value| value.split(',')) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let value = value.trim().trim_matches('"');
        match name.trim().to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return SHORTEST,
            // Two lifetimes contradict each other; the shorter one is the safer reading.
            "max-age" => max_age = Some(number(value).min(max_age.unwrap_or(LONGEST))),
            _ => {}
        }
    }
    let age = headers.get(AGE).and_then(|value| value.to_str().ok()).map_or(0, number);
    max_age.unwrap_or(0).saturating_sub(age).clamp(SHORTEST, LONGEST)
}

/// Digits that do not fit mean "very long" (RFC 9111, section 1.2.2); anything else means nothing.
fn number(text: &str) -> i64 {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().unwrap_or(i64::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &str)], expected: i64) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        assert_eq!(seconds(&map), expected, "{headers:?}");
    }

    #[test]
    fn an_answer_is_fresh_as_long_as_it_says() {
        check(&[("cache-control", "max-age=3600")], 3_600);
        check(&[("cache-control", "public, Max-Age=\"600\", must-revalidate")], 600);
        check(&[("cache-control", "public"), ("cache-control", "max-age=600")], 600);
        check(&[("cache-control", "max-age=3600"), ("age", "600")], 3_000);
    }

    #[test]
    fn never_shorter_than_a_minute_and_never_longer_than_a_day() {
        check(&[], 60);
        check(&[("cache-control", "max-age=0")], 60);
        check(&[("cache-control", "max-age=59")], 60);
        check(&[("cache-control", "no-store, max-age=3600")], 60);
        check(&[("cache-control", "max-age=3600, no-cache")], 60);
        check(&[("cache-control", "max-age=86401")], 86_400);
        check(&[("cache-control", "max-age=99999999999999999999")], 86_400);
        check(&[("cache-control", "max-age=3600"), ("age", "99999999999999999999")], 60);
    }

    #[test]
    fn nonsense_counts_as_nothing() {
        for value in ["max-age", "max-age=", "max-age=-5", "max-age=1e9", "max-age=soon", "=", ",,"] {
            check(&[("cache-control", value)], 60);
        }
    }

    #[test]
    fn of_two_lifetimes_the_shorter_one_holds() {
        check(&[("cache-control", "max-age=7200, max-age=600")], 600);
        check(&[("cache-control", "max-age=600, max-age=7200")], 600);
    }
}
