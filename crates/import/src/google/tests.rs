//! A small invented archive with translated folders, and everything that can be wrong with one.

use expect_test::expect_file;

use super::*;
use crate::testing::{MemoryTree, read, survives_damage};

#[test]
fn an_invented_archive_becomes_records() {
    let kept = read(&Takeout, &mut MemoryTree::fixture("google"));
    expect_file!["../../../../fixtures/exports/google.snap"].assert_eq(&kept.describe());
}

#[test]
fn mail_calendars_and_contacts_are_left_to_their_formats() {
    let mut tree = MemoryTree::fixture("google");
    let found = crate::detect(&mut tree, &[&Takeout]);
    let [(_, claim)] = found.claims.as_slice() else { panic!("one claim") };
    assert_eq!(claim.account.as_deref(), Some("ines@example.org"));
    assert_eq!(claim.found, "Keep notes, location history, timeline, activity, chats, Hangouts");
    let unknown: Vec<&str> = found.unknown.iter().map(|index| tree.entries()[*index].path.as_str()).collect();
    assert_eq!(
        unknown,
        [
            "Takeout/Calendar/ines.ics",
            "Takeout/Location History (Timeline)/Settings.json",
            "Takeout/Mail/All mail.mbox",
            "Takeout/Profile/Profile.json",
        ]
    );
}

#[test]
fn other_json_is_not_claimed_and_a_folder_of_it_is_soon_given_up() {
    let files = (0..100).map(|number| (format!("x/{number}.json"), r#"{"messages": [], "title": "no"}"#));
    let mut tree = MemoryTree::new(files);
    assert!(crate::detect(&mut tree, &[&Takeout]).claims.is_empty());
}

#[test]
fn damage_is_survived() {
    // One product at a time: what is beside it plays no role, and reading all of it each time takes long.
    let mut whole = MemoryTree::fixture("google");
    let mut products: std::collections::BTreeMap<String, Vec<(String, Vec<u8>)>> =
        std::collections::BTreeMap::default();
    for index in 0..whole.entries().len() {
        let path = whole.entries()[index].path.clone();
        let product = path.split('/').nth(1).unwrap().to_owned();
        let bytes = crate::tree::read_whole(&mut whole, index, 1 << 20).unwrap();
        products.entry(product).or_default().push((path, bytes));
    }
    for files in products.into_values() {
        survives_damage(&Takeout, &MemoryTree::new(files));
    }
}

#[test]
fn the_same_archive_gives_the_same_records_and_an_edit_changes_one() {
    let tree = MemoryTree::fixture("google");
    let first = read(&Takeout, &mut tree.clone());
    assert_eq!(first.describe(), read(&Takeout, &mut tree.clone()).describe());
    let mut edited = tree;
    let bytes = edited.bytes_mut("Takeout/Google Notizen/Boat.json");
    *bytes = String::from_utf8_lossy(bytes).replace("Mend the sail.", "Sew the sail.").into_bytes();
    let second = read(&Takeout, &mut edited);
    assert_eq!(first.records.len(), second.records.len());
    let changed = first.records.iter().zip(&second.records).filter(|(a, b)| a != b);
    assert_eq!(changed.map(|(a, _)| a.key.as_str()).collect::<Vec<_>>(), ["keep-1704106800000000"]);
}

#[test]
fn keys_are_given_once() {
    let kept = read(&Takeout, &mut MemoryTree::fixture("google"));
    let keys: BTreeSet<_> = kept.records.iter().map(|draft| (&draft.stream, &draft.key)).collect();
    assert_eq!(keys.len(), kept.records.len());
}

#[test]
fn wrong_types_and_absurd_nesting_are_complaints() {
    let deep = format!("{{\"locations\": [{}1{}], \"timestampMs\": 1}}", "[".repeat(2000), "]".repeat(2000));
    let types = r#"[{"header": 1, "title": [], "time": {}}, {"header": null, "title": null, "time": "2024-01-01T00:00:00Z", "details": 5, "subtitles": {"name": 1}, "products": "x"}]"#;
    let note = r#"{"isTrashed": "yes", "textContent": 5, "title": {}, "labels": [1, {"name": 2}], "attachments": [{}, 1], "listContent": {}, "createdTimestampUsec": -1}"#;
    let chat = r#"{"messages": [{"creator": "x", "text": 1, "attached_files": [{"export_name": 1}], "message_id": ""}, []]}"#;
    let visits = r#"{"timelineObjects": [{"placeVisit": 1}, {"activitySegment": {"duration": {"startTimestamp": "2024-01-01T00:00:00Z"}, "waypointPath": [], "transitPath": 1}}]}"#;
    let segments = r#"[{"startTime": "2024-01-01T00:00:00Z", "endTime": "", "visit": [], "activity": 1}, {"startTime": "2024-01-01T00:00:00Z", "timelinePath": [{"point": "geo:1,1", "durationMinutesOffsetFromStartTime": "1e300"}]}]"#;
    let mut tree = MemoryTree::new([
        ("a/Records.json", deep.as_str()),
        ("b/MyActivity.json", types),
        ("c/note.json", note),
        ("d/messages.json", chat),
        ("e/2024_MAY.json", visits),
        ("f/location-history.json", segments),
    ]);
    let kept = read(&Takeout, &mut tree);
    assert!(kept.complaints.len() >= 7, "{:#?}", kept.complaints);
    assert!(kept.complaints.iter().all(|complaint| !complaint.where_.is_empty()));
}

#[test]
fn a_long_history_is_read_one_point_at_a_time() {
    let point = |number: i64| {
        let at = 1_600_000_000_000 + number;
        format!(r#"{{"latitudeE7": {number}, "longitudeE7": 5, "timestampMs": "{at}"}}"#)
    };
    let points: Vec<String> = (0..20_000).map(point).collect();
    let text = format!("{{\"locations\": [{}]}}", points.join(","));
    let kept = read(&Takeout, &mut MemoryTree::new([("Records.json", text)]));
    assert_eq!((kept.of("location_points").count(), kept.complaints.len()), (20_000, 0));
}

#[test]
fn an_archive_is_read_as_it_is_delivered() {
    let mut folder = MemoryTree::fixture("google");
    let mut archive = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for index in 0..folder.entries().len() {
        let path = folder.entries()[index].path.clone();
        archive.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        io::copy(&mut folder.open(index).unwrap(), &mut archive).unwrap();
    }
    let bytes = archive.finish().unwrap().into_inner();
    let mut delivered = MemoryTree::new([("takeout-20260101T000000Z-001.zip", bytes)]).opened();
    let (packed, plain) = (read(&Takeout, &mut delivered), read(&Takeout, &mut folder));
    assert!(packed.records.iter().zip(&plain.records).all(|(a, b)| a.key == b.key && a.data == b.data));
    assert_eq!(packed.records.len(), plain.records.len());
}
