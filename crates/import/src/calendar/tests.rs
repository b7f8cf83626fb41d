//! A small set of invented calendars, and everything that can be wrong with one.

use expect_test::expect_file;

use super::*;
use crate::testing::{Kept, MemoryTree, read, survives_damage};

const HOME: &str = "home.ics";

fn calendar(events: &str) -> Kept {
    let text = format!("BEGIN:VCALENDAR\nVERSION:2.0\n{events}\nEND:VCALENDAR\n");
    read(&Ics, &mut MemoryTree::new([("a.ics", text)]))
}

fn starts(kept: &Kept) -> Vec<&str> {
    kept.of("event_instances").map(|draft| draft.data["start"].as_str().unwrap()).collect()
}

#[test]
fn invented_calendars_become_records() {
    let kept = read(&Ics, &mut MemoryTree::fixture("calendar"));
    expect_file!["../../../../fixtures/exports/calendar.snap"].assert_eq(&kept.describe());
}

#[test]
fn only_calendars_are_claimed_whatever_their_name() {
    let mut tree = MemoryTree::fixture("calendar");
    let found = crate::detect(&mut tree, &[&Ics]);
    assert_eq!(found.claims[0].1.found, "4 calendars");
    assert_eq!(found.unknown.len(), 1);
    let mut nameless = MemoryTree::new([("download", "\u{feff}\r\nbegin:vcalendar\r\n")]);
    assert_eq!(crate::detect(&mut nameless, &[&Ics]).claims.len(), 1);
}

#[test]
fn damage_is_survived() {
    survives_damage(&Ics, &MemoryTree::fixture("calendar"));
}

#[test]
fn the_same_file_gives_the_same_records_and_an_edit_changes_one() {
    let tree = MemoryTree::fixture("calendar");
    let first = read(&Ics, &mut tree.clone());
    assert_eq!(first.describe(), read(&Ics, &mut tree.clone()).describe());
    let mut edited = tree;
    let bytes = edited.bytes_mut(HOME);
    let text =
        String::from_utf8(std::mem::take(bytes)).unwrap().replace("DESCRIPTION:Bring", "DESCRIPTION:Take");
    *bytes = text.into_bytes();
    let second = read(&Ics, &mut edited);
    let changed = first.records.iter().zip(&second.records).filter(|(a, b)| a.data != b.data);
    assert_eq!(changed.map(|(a, _)| a.key.as_str()).collect::<Vec<_>>(), ["dinner-1@calendar.example"]);
    assert_eq!(first.records.len(), second.records.len());
}

#[test]
fn an_export_of_another_day_changes_nothing_but_the_horizon() {
    let tree = MemoryTree::fixture("calendar");
    let first = read(&Ics, &mut tree.clone());
    let mut later = tree;
    let bytes = later.bytes_mut(HOME);
    *bytes = String::from_utf8_lossy(bytes).replace("DTSTAMP:20260110", "DTSTAMP:20260210").into_bytes();
    assert_eq!(first.describe(), read(&Ics, &mut later).describe());
}

#[test]
fn an_endless_series_keeps_its_newest_thousand_dates_before_the_horizon() {
    let kept = calendar(
        "BEGIN:VEVENT\nUID:1\nDTSTART:20100101T080000Z\nRRULE:FREQ=DAILY\nDTSTAMP:20260101T000000Z\nEND:VEVENT",
    );
    let starts = starts(&kept);
    assert_eq!(starts.len(), series::MOST_INSTANCES);
    assert_eq!((starts[0], starts[999]), ("2024-04-07T08:00:00Z", "2027-01-01T08:00:00Z"));
    let event = kept.of("events").next().unwrap();
    assert_eq!(
        (&event.data["instances_truncated"], &event.data["instance_count"]),
        (&true.into(), &1000.into())
    );
}

#[test]
fn a_series_with_an_end_is_laid_out_beyond_the_horizon() {
    let kept = calendar(
        "BEGIN:VEVENT\nUID:1\nDTSTART:20260101T080000Z\nRRULE:FREQ=YEARLY;COUNT=30\nDTSTAMP:20260101T000000Z\nEND:VEVENT",
    );
    assert_eq!(starts(&kept).last(), Some(&"2055-01-01T08:00:00Z"));
}

#[test]
fn nine_o_clock_stays_nine_o_clock_when_clocks_change() {
    let kept = calendar(
        "BEGIN:VEVENT\nUID:1\nDTSTART;TZID=America/New_York:20260307T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nEND:VEVENT",
    );
    assert_eq!(starts(&kept), ["2026-03-07T14:00:00Z", "2026-03-08T13:00:00Z", "2026-03-09T13:00:00Z"]);
}

#[test]
fn a_day_can_be_excepted_from_a_series_with_hours() {
    let kept = calendar(
        "BEGIN:VEVENT\nUID:1\nDTSTART:20260101T080000Z\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE;VALUE=DATE:20260102\nEXRULE:FREQ=DAILY;COUNT=1\nEND:VEVENT",
    );
    assert_eq!(starts(&kept), ["2026-01-03T08:00:00Z"]);
}

#[test]
fn a_thing_that_comes_twice_is_one_record() {
    let event = "BEGIN:VEVENT\nUID:1\nDTSTART:20260101T080000Z\nRRULE:FREQ=DAILY;COUNT=2\nEND:VEVENT\n\
        BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20260102T080000Z\nDTSTART:20260102T090000Z\nEND:VEVENT\n";
    let kept = calendar(&event.repeat(3));
    assert_eq!(kept.of("events").count(), 1);
    assert_eq!(starts(&kept), ["2026-01-01T08:00:00Z", "2026-01-02T09:00:00Z"]);
    let keys: std::collections::BTreeSet<&str> =
        kept.records.iter().map(|draft| draft.key.as_str()).collect();
    assert_eq!(keys.len(), kept.records.len());
}

#[test]
fn hostile_values_are_complaints_or_nothing() {
    let kept = calendar(
        "BEGIN:VEVENT\nUID:1\nDTSTART:99991231T235959Z\nDURATION:P99999W\nRRULE:FREQ=YEARLY\nSEQUENCE:x\nGEO:200;400\nCREATED:never\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:2\nDTSTART:20260230\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:3\nDTSTART:20260101T000000Z\nRRULE:FREQ=DAILY;UNTIL=soon\nRDATE:x,20260105T000000Z\nEXDATE:,,y\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:4\nDTSTART:20260101T000000Z\nRECURRENCE-ID:garbage\nATTACH;ENCODING=BASE64:%%%\nEND:VEVENT\n\
         BEGIN:VEVENT\nUID:\0\nDTSTART:00000101T000000Z\nEND:VEVENT",
    );
    let told: Vec<&str> = kept.complaints.iter().map(|complaint| complaint.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "DTSTART is no time; the event was left out.",
            "DTSTART is no time; the event was left out.",
            "The recurrence rule is not followed: UNTIL is no time.",
            "RDATE holds something that is no time.",
            "EXDATE holds something that is no time.",
            "ATTACH is no base64; the file was left out.",
            "DTSTART is no time; the event was left out.",
        ]
    );
    assert_eq!(kept.of("events").count(), 2);
}

#[test]
fn empty_and_enormous_files_come_to_their_end() {
    for bytes in [&b"BEGIN:VCALENDAR"[..], b"BEGIN:VCALENDAR\n\0\0\0", b"BEGIN:VCALENDAR\nEND:VCALENDAR"] {
        read(&Ics, &mut MemoryTree::new([("a.ics", bytes)]));
    }
    let long = "x".repeat(9 * 1024 * 1024);
    let kept = calendar(&format!(
        "BEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nDESCRIPTION:{long}\nSUMMARY:still here\nEND:VEVENT"
    ));
    assert_eq!(kept.of("events").next().unwrap().data["summary"], "still here");
    assert_eq!(kept.complaints.len(), 1);
}
