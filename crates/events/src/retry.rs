//! When to try again.

use http::header::{HeaderMap, RETRY_AFTER};
use jiff::fmt::rfc2822;
use pdpp_access::Entropy;
use pdpp_wire::Instant;

use crate::capability::{JITTER_PERCENT, MAX_ATTEMPTS, RETRY_SECONDS};

/// How long a receiver that names no time is left alone.
const UNNAMED_SECONDS: i64 = 60;
/// The longest wait a receiver may ask for.
const LONGEST_SECONDS: i64 = 86_400;

/// When the next attempt is due after so many that counted; `None` when that was the last.
pub(crate) fn next_attempt(entropy: &dyn Entropy, attempts: u32, now: Instant) -> Option<Instant> {
    if attempts >= MAX_ATTEMPTS {
        return None;
    }
    let wait =
        RETRY_SECONDS[usize::try_from(attempts).unwrap_or(0).saturating_sub(1).min(RETRY_SECONDS.len() - 1)];
    let mut drawn = [0; 2];
    entropy.fill(&mut drawn);
    let spread = i64::from(JITTER_PERCENT) * 2;
    // In thousandths of a per cent, from 100 - jitter to 100 + jitter.
    let percent = (100 - i64::from(JITTER_PERCENT)) * 1_000
        + spread * 1_000 * i64::from(u16::from_le_bytes(drawn)) / i64::from(u16::MAX);
    let micros = i64::from(wait) * 1_000_000 / 100_000 * percent;
    Some(Instant::from_micros(now.micros().saturating_add(micros)))
}

/// When a receiver that asked to wait is tried again: after seconds, or at a date.
pub(crate) fn asked_wait(headers: &HeaderMap, now: Instant) -> Instant {
    let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = asked.and_then(|text| {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(text.parse().unwrap_or(LONGEST_SECONDS));
        }
        let date = rfc2822::parse(text).ok()?.timestamp();
        Some(date.as_second() - now.unix_seconds())
    });
    now.plus_seconds(seconds.unwrap_or(UNNAMED_SECONDS).clamp(1, LONGEST_SECONDS))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use pdpp_testkit::SeededEntropy;

    use super::*;

    fn now() -> Instant {
        Instant::parse("2026-03-01T12:00:00Z").unwrap()
    }

    #[test]
    fn the_waits_are_those_advertised_within_the_jitter() {
        let entropy = SeededEntropy::default();
        for (attempts, wait) in (1..).zip(RETRY_SECONDS) {
            let (mut least, mut most) = (f64::MAX, f64::MIN);
            for _ in 0..2_000 {
                let next = next_attempt(&entropy, attempts, now()).unwrap();
                #[expect(clippy::cast_precision_loss, reason = "a few hours in microseconds")]
                let factor = (next.micros() - now().micros()) as f64 / 1e6 / f64::from(wait);
                (least, most) = (least.min(factor), most.max(factor));
            }
            assert!((0.8..0.805).contains(&least) && (1.195..=1.2).contains(&most), "{wait}: {least} {most}");
        }
        assert_eq!(next_attempt(&entropy, MAX_ATTEMPTS, now()), None);
    }

    #[test]
    fn a_receiver_asks_in_seconds_or_by_date_within_bounds() {
        let wait = |text: Option<&str>| {
            let headers =
                text.map(|text| (RETRY_AFTER, HeaderValue::from_str(text).unwrap())).into_iter().collect();
            asked_wait(&headers, now()).unix_seconds() - now().unix_seconds()
        };
        assert_eq!(wait(Some("5")), 5);
        assert_eq!(wait(Some("0")), 1);
        assert_eq!(wait(Some("999999999999999999999")), 86_400);
        assert_eq!(wait(Some("Sun, 01 Mar 2026 12:10:00 GMT")), 600);
        assert_eq!(wait(Some("Sun, 01 Mar 2020 12:10:00 GMT")), 1);
        assert_eq!(wait(Some("soon")), 60);
        assert_eq!(wait(Some("-5")), 60);
        assert_eq!(wait(None), 60);
    }
}
