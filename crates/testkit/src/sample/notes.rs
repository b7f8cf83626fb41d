//! The notebook: state that changes, and a stream with a compound key.

use pdpp_wire::Instant;
use pdpp_wire::manifest::Manifest;
use serde_json::json;

use super::SampleRecord;

/// The notebook's manifest.
pub fn manifest() -> Manifest {
    Manifest::parse(include_str!("notes.json")).expect("the sample manifest is valid")
}

/// The notebook's records.
pub fn records() -> Vec<SampleRecord> {
    (0..12).map(note).chain((1..=6).flat_map(|day| ["anna", "ben"].map(|person| line(person, day)))).collect()
}

fn note(n: usize) -> SampleRecord {
    let updated_at = format!("2026-02-{:02}T18:00:00Z", 1 + n);
    let folder = [Some("recipes"), Some("travel"), None][n % 3];
    let data = json!({
        "id": format!("n_{n:02}"),
        "title": format!("Page {n}"),
        "body": format!("Page {n} speaks of bread, boats and the number {n}."),
        "folder": folder,
        "words": 10 + n,
        "pinned": n.is_multiple_of(5),
        "updated_at": updated_at,
    });
    SampleRecord::new("notes", data, &updated_at)
}

fn line(person: &str, day: usize) -> SampleRecord {
    let date = format!("2026-02-{day:02}");
    SampleRecord {
        stream: "days",
        key: json!([person, date]),
        emitted_at: Instant::parse(&date).expect("the sample spells dates correctly"),
        data: json!({"person": person, "day": date, "line": format!("{person} walked."), "steps": day * 1000}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_admitted_by_its_stream() {
        let manifest = manifest();
        for record in records() {
            record.admit(&manifest);
        }
    }
}
