//! Dates that Chat writes in words: `Tuesday, January 5, 2021 at 10:12:13 AM UTC`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A moment in English words, American or British; `None` in another language. Chat always writes UTC.
pub(super) fn chat_date(text: &str) -> Option<Timestamp> {
    if let Ok(moment) = text.trim().parse() {
        return Some(moment);
    }
    let lower = text.to_lowercase();
    let (mut year, mut month, mut day, mut time, mut afternoon) = (None, None, None, None, None);
    // Newer exports put a narrow space before AM and PM; it is white space like any other.
    for word in
        lower.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|word| !word.is_empty())
    {
        if let Some(place) = MONTHS.iter().position(|name| *name == word) {
            month = i8::try_from(place + 1).ok();
        } else if word.contains(':') {
            time = Some(word);
        } else if matches!(word, "am" | "pm") {
            afternoon = Some(word == "pm");
        } else if let Ok(number) = word.parse::<i16>() {
            if number > 31 { year = Some(number) } else { day = i8::try_from(number).ok() }
        }
    }
    let mut parts = time?.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0));
    let hour = match (hour, afternoon) {
        (12, Some(false)) => 0,
        (12, Some(true)) => 12,
        (1..=11, Some(true)) => hour + 12,
        _ => hour,
    };
    let civil = DateTime::new(year?, month?, day?, hour, minute, second, 0).ok()?;
    TimeZone::UTC.to_timestamp(civil).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_words_are_read() {
        let read = |text| chat_date(text).map(|at| at.to_string());
        let expected = Some("2021-01-05T22:12:13Z".to_owned());
        assert_eq!(read("Tuesday, January 5, 2021 at 10:12:13 PM UTC"), expected);
        assert_eq!(read("Tuesday, January 5, 2021 at 10:12:13\u{202f}PM UTC"), expected);
        assert_eq!(read("Tuesday, 5 January 2021 at 22:12:13 UTC"), expected);
        assert_eq!(read("2021-01-05T22:12:13Z"), expected);
        assert_eq!(
            read("Tuesday, January 5, 2021 at 12:00:00 AM UTC").as_deref(),
            Some("2021-01-05T00:00:00Z")
        );
        for other in ["", "Dienstag, 5. Januar 2021 um 22:12:13 UTC", "January", "12:x:1 January 5, 2021"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
