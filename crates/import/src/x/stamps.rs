//! Times as this service writes them.

use jiff::Timestamp;
use jiff::fmt::strtime::BrokenDownTime;

use crate::stamp;

/// The moment that numbers of posts and messages count from, in milliseconds.
const EPOCH: i64 = 1_288_834_974_657;
/// Numbers below this were given out one by one, and tell no time.
const FIRST: i64 = 29_700_859_247;

/// A time in either spelling: `Wed Oct 10 20:19:24 +0000 2018`, or RFC 3339.
pub(super) fn parse(text: &str) -> Option<String> {
    stamp::utc_of(text).or_else(|| stamp::rfc3339(timestamp(text)?))
}

/// The same as seconds, to compare.
pub(super) fn seconds(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| timestamp(text)).map(Timestamp::as_second)
}

fn timestamp(text: &str) -> Option<Timestamp> {
    BrokenDownTime::parse("%a %b %d %H:%M:%S %z %Y", text).ok()?.to_timestamp().ok()
}

/// When a post or message was made, told by its number.
pub(super) fn of_number(id: &str) -> Option<String> {
    let number: i64 = id.parse().ok().filter(|number| *number >= FIRST)?;
    stamp::rfc3339(Timestamp::from_millisecond((number >> 22).checked_add(EPOCH)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_and_numbers_tell_the_time() {
        assert_eq!(parse("Wed Oct 10 20:19:24 +0000 2018").as_deref(), Some("2018-10-10T20:19:24Z"));
        assert_eq!(parse("2023-02-10T12:00:00.123Z").as_deref(), Some("2023-02-10T12:00:00.123Z"));
        assert_eq!(parse("Wed Oct 10 20:19:24 2018"), None);
        assert_eq!(of_number("1050118621198921728").as_deref(), Some("2018-10-10T20:19:24.211Z"));
        assert_eq!(of_number("20"), None);
        assert_eq!(of_number("99999999999999999999"), None);
    }
}
