//! The calendar, as a file that calendar programs read.

use std::fmt::Write as _;

use jiff::ToSpan as _;
use jiff::civil::DateTime;

use super::random::Random;
use super::words::Words;
use super::{File, planted};

/// How many single events there are, the planted ones apart.
const EVENTS: usize = 170;
/// Title, place and length in minutes of what happens once.
const ONCE: [(&str, &str, i64); 9] = [
    ("Coffee with {friend}", "Café Ostra", 60),
    ("{food} with {friend} and {friend2}", "Kanal Street 14", 180),
    ("Site visit: {project}", "{place}", 120),
    ("{project}: talk to {town_job}", "Town hall, room 2{count}", 60),
    ("Cinema: {film}", "The cinema on Kanal Street", 130),
    ("Dentist", "Dr. Amsel, Mill Lane 3", 45),
    ("Train to {town}", "Lindhaven station", 150),
    ("{sport} with {friend}", "{place}", 90),
    ("Deadline: {document} for {project}", "", 30),
];
/// Title, place, first date and rule of what happens again and again.
const AGAIN: [(&str, &str, &str, &str); 3] = [
    ("Early Boats", "The rowing club", "20260106T060000Z", "FREQ=WEEKLY;BYDAY=TU;COUNT=40"),
    ("Cello lesson", "Music school, room 4", "20260108T170000Z", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH;COUNT=20"),
    ("Rent to Brandt Property", "", "20250601T080000Z", "FREQ=MONTHLY;BYMONTHDAY=1;COUNT=17"),
];

pub(super) fn write(words: &Words, random: &mut Random) -> File {
    let mut text = String::from(
        "BEGIN:VCALENDAR\r\nPRODID:-//pdpp//Sample//EN\r\nVERSION:2.0\r\nX-WR-CALNAME:Mira\r\nX-WR-TIMEZONE:UTC\r\n",
    );
    for number in 0..EVENTS {
        let (title, place, minutes) = *random.pick(&ONCE);
        let mut piece = words.piece();
        let (title, place) = (piece.fill(title, random), piece.fill(place, random));
        let start = super::moment(random, 8, 19);
        event(&mut text, &format!("e{number}"), start, minutes, (&title, &place, ""));
    }
    for (number, (title, place, start, minutes, description)) in planted::EVENTS.iter().enumerate() {
        event(&mut text, &format!("p{number}"), super::at(start), *minutes, (title, place, description));
    }
    for (number, (title, place, start, rule)) in AGAIN.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "BEGIN:VEVENT\r\nUID:again{number}@castell.example\r\nDTSTAMP:20250501T000000Z\r\nDTSTART:{start}\r\n\
             DURATION:PT1H\r\nRRULE:{rule}\r\nSUMMARY:{title}\r\nLOCATION:{place}\r\nEND:VEVENT\r\n"
        );
    }
    text.push_str("END:VCALENDAR\r\n");
    File::new("Mira.ics", text.into_bytes())
}

fn event(
    text: &mut String,
    uid: &str,
    start: DateTime,
    minutes: i64,
    (title, place, description): (&str, &str, &str),
) {
    let end = start.saturating_add(minutes.minutes());
    let stamp = |at: DateTime| at.strftime("%Y%m%dT%H%M%SZ").to_string();
    let plain = |text: &str| text.replace(',', "\\,").replace(';', "\\;");
    let _ = write!(
        text,
        "BEGIN:VEVENT\r\nUID:{uid}@castell.example\r\nDTSTAMP:20250501T000000Z\r\nDTSTART:{}\r\nDTEND:{}\r\nSUMMARY:{}\r\n",
        stamp(start),
        stamp(end),
        plain(title),
    );
    for (name, value) in [("LOCATION", place), ("DESCRIPTION", description)] {
        if !value.is_empty() {
            let _ = write!(text, "{name}:{}\r\n", plain(value));
        }
    }
    text.push_str("END:VEVENT\r\n");
}
