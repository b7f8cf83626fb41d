//! Invented tables of every writing, and what happens to them when a row changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::{Expect, expect, expect_file};

use super::*;
use crate::testing::{Kept, MemoryTree, read as read_all, survives_damage};
use crate::{Draft, detect};

fn fixture() -> MemoryTree {
    MemoryTree::fixture("tables")
}

/// Everything a format makes of a tree: what it says it found, what it declares, and the records.
fn told(format: &dyn Format, tree: &mut MemoryTree) -> String {
    let mut text = String::new();
    for (_, claim) in detect(tree, &[format]).claims {
        writeln!(text, "# {} found {}", format.name(), claim.found).unwrap();
        let manifest = format.manifest(tree, &claim).unwrap();
        writeln!(text, "{}", serde_json::to_string_pretty(manifest.document()).unwrap()).unwrap();
    }
    text + &read_all(format, tree).describe()
}

#[test]
fn tables_of_every_writing_become_streams() {
    let formats: [&dyn Format; 3] = [&JsonLines, &Json, &Csv];
    let all: String = formats.map(|format| told(format, &mut fixture())).concat();
    expect_file!["../../../../fixtures/exports/tables.snap"].assert_eq(&all);
}

#[test]
fn each_file_is_claimed_by_one_format_and_envelopes_by_none() {
    let mut tree = fixture();
    let detected = detect(&mut tree, &[&JsonLines, &Json, &Csv]);
    let name = |index: &usize| file_name(&tree.entries()[*index].path).to_owned();
    let claimed: Vec<Vec<String>> =
        detected.claims.iter().map(|(_, claim)| claim.entries.iter().map(name).collect()).collect();
    expect![[r#"[["visits.jsonl"], ["events.json", "settings.json"], ["Umsätze 2024.csv", "orders.csv", "people.tsv"]]"#]]
        .assert_eq(&format!("{claimed:?}"));
    assert_eq!(detected.unknown.iter().map(name).collect::<Vec<_>>(), ["envelopes.jsonl"]);
}

#[test]
fn damage_never_stops_the_reading() {
    for format in [&Csv as &dyn Format, &Json, &JsonLines] {
        survives_damage(format, &fixture());
    }
}

#[test]
fn reading_twice_gives_the_same() {
    for format in [&Csv as &dyn Format, &Json, &JsonLines] {
        assert_eq!(told(format, &mut fixture()), told(format, &mut fixture()));
    }
}

#[track_caller]
fn check(name: &str, text: &str, expected: Expect) {
    let formats: [&dyn Format; 3] = [&JsonLines, &Json, &Csv];
    let mut tree = MemoryTree::new([(name, text.as_bytes().to_vec())]);
    let mut told = String::new();
    for (place, claim) in detect(&mut tree, &formats).claims {
        let manifest = formats[place].manifest(&mut tree, &claim).unwrap();
        let stream = &manifest.streams()[0];
        let mut kept = Kept::default();
        formats[place].read(&mut tree, &claim, &mut kept).unwrap();
        let fields = stream.fields().iter().map(|field| format!("{} {:?}", field.name(), field.field_type()));
        writeln!(
            told,
            "{} key {:?}: {}",
            manifest.key(),
            stream.primary_key(),
            fields.collect::<Vec<_>>().join(", ")
        )
        .unwrap();
        for Draft { key, data, .. } in &kept.records {
            writeln!(told, "{key} {}", serde_json::to_string(data).unwrap()).unwrap();
        }
        for complaint in &kept.complaints {
            writeln!(told, "! {}: {}", complaint.where_, complaint.message).unwrap();
        }
    }
    expected.assert_eq(&told);
}

#[test]
fn codes_stay_text_and_long_numbers_too() {
    check(
        "a.csv",
        "id,code,zip,big\n1,007,10115,12345678901234567\n2,008,20095,1\n",
        expect![[r#"
        files-a-csv key ["id"]: id Integer, code Text, zip Text, big Text
        1 {"id":1,"code":"007","zip":"10115","big":"12345678901234567"}
        2 {"id":2,"code":"008","zip":"20095","big":"1"}
    "#]],
    );
}

#[test]
fn slashed_dates_are_read_only_when_the_column_tells_how() {
    check(
        "a.csv",
        "id,day,other\n1,31/01/2024,01/02/2024\n2,01/02/2024,03/04/2024\n",
        expect![[r#"
        files-a-csv key ["id"]: id Integer, day Instant, other Text
        1 {"id":1,"day":"2024-01-31","other":"01/02/2024"}
        2 {"id":2,"day":"2024-02-01","other":"03/04/2024"}
    "#]],
    );
}

#[test]
fn columns_without_a_head_or_with_the_same_name_get_names() {
    check(
        "a.csv",
        "1,2024-01-01,x\n2,2024-01-02,y\n",
        expect![[r#"
            files-a-csv key ["column_1"]: column_1 Integer, column_2 Instant, column_3 Text
            1 {"column_1":1,"column_2":"2024-01-01","column_3":"x"}
            2 {"column_1":2,"column_2":"2024-01-02","column_3":"y"}
        "#]],
    );
    check(
        "a.csv",
        "Name,name,,extra,record_key\na,b,c,d,e,f\na,b,c,d,e\n",
        expect![[r#"
            files-a-csv key ["record_key_2"]: record_key_2 Text, Name Text, name_2 Text, column_3 Text, extra Text, record_key Text, extra_2 Json
            hb766b60918ddf888a8e69f2da6de96f4 {"record_key_2":"hb766b60918ddf888a8e69f2da6de96f4","Name":"a","name_2":"b","column_3":"c","extra":"d","record_key":"e","extra_2":{"column_6":"f"}}
            hfc09944f4014ff42079a865663653356 {"record_key_2":"hfc09944f4014ff42079a865663653356","Name":"a","name_2":"b","column_3":"c","extra":"d","record_key":"e"}
            ! a.csv line 2: Has 6 cells where the table has 5; kept as far as it goes.
        "#]],
    );
}

#[test]
fn rows_that_are_the_same_are_counted() {
    check(
        "a.csv",
        "what,much\ntea,1\ntea,1\nsalt,2\n",
        expect![[r#"
            files-a-csv key ["record_key"]: record_key Text, what Text, much Integer
            ha896d088ea86653f668974ed20ff4532 {"record_key":"ha896d088ea86653f668974ed20ff4532","what":"tea","much":1}
            h294c119e83579c20c29e7ce4852926d7 {"record_key":"h294c119e83579c20c29e7ce4852926d7","what":"tea","much":1}
            ha478a20d1025c2a13ce75df23fc2a463 {"record_key":"ha478a20d1025c2a13ce75df23fc2a463","what":"salt","much":2}
        "#]],
    );
}

#[test]
fn json_shapes_people_use() {
    check(
        "a.json",
        r#"[{"id":1,"n":"x"},{"id":2,"n":null,"late":true}]"#,
        expect![[r#"
        files-a-json key ["id"]: id Integer, n Text, late Boolean
        1 {"id":1,"n":"x"}
        2 {"id":2,"late":true}
    "#]],
    );
    check(
        "a.json",
        r#"{"only":"one","n":1}"#,
        expect![[r#"
        files-a-json key ["record_key"]: record_key Text, only Text, n Integer
        record {"record_key":"record","only":"one","n":1}
    "#]],
    );
    check(
        "a.json",
        "{\"id\":\"a\"}\n{\"id\":\"b\"}\n",
        expect![[r#"
        files-a-json key ["id"]: id Text
        a {"id":"a"}
        b {"id":"b"}
    "#]],
    );
    check("a.json", "[1,2]", expect![""]);
    check("a.json", "", expect![""]);
    check("a.csv", "\0\0\0\u{1}\u{2}", expect![""]);
}

#[test]
fn a_new_row_changes_neither_the_manifest_nor_other_keys() {
    for (format, path, row) in [
        (
            &Csv as &dyn Format,
            "shop/orders.csv",
            "1006,2024-03-04T00:00:00Z,Flo Gale,01099,0351,1.75,no,lost,\"x\"\n",
        ),
        (&JsonLines, "shop/visits.jsonl", "{\"when\":\"2024-05-02T08:00:00Z\",\"page\":\"/end\",\"ms\":1}\n"),
    ] {
        let manifest = |tree: &mut MemoryTree| {
            let claim = detect(tree, &[format]).claims.remove(0).1;
            format.manifest(tree, &claim).unwrap().document().clone()
        };
        let keys = |kept: Kept| -> BTreeMap<String, String> {
            let pair =
                |draft: Draft| (format!("{} {}", draft.stream, draft.key), format!("{:?}", draft.data));
            kept.records.into_iter().map(pair).collect()
        };
        let (mut before, mut after) = (fixture(), fixture());
        after.bytes_mut(path).extend_from_slice(row.as_bytes());
        assert_eq!(manifest(&mut before), manifest(&mut after));
        let (before, after) = (keys(read_all(format, &mut before)), keys(read_all(format, &mut after)));
        assert_eq!(before.len() + 1, after.len());
        assert!(before.iter().all(|(key, data)| after.get(key) == Some(data)));
    }
}

#[test]
fn files_of_the_same_name_in_two_folders_are_two_connectors() {
    let text = "id,name\n1,anna\n";
    let mut tree = MemoryTree::new([("2023/orders.csv", text), ("2024/orders.csv", text), ("b.csv", text)]);
    let claims = detect(&mut tree, &[&Csv]).claims;
    let keys: Vec<String> =
        claims.iter().map(|(_, claim)| Csv.manifest(&mut tree, claim).unwrap().key().to_string()).collect();
    assert_eq!(keys, ["files-b-csv", "files-2023-orders-csv", "files-2024-orders-csv"]);
}

#[test]
fn a_table_of_three_hundred_columns_keeps_them_all() {
    let names: Vec<String> = (0..300).map(|number| format!("c{number}")).collect();
    let cells: Vec<String> = (0..300).map(|number| format!("v{number}")).collect();
    let text = format!("{}\n{}\n", names.join(","), cells.join(","));
    let kept = read_all(&Csv, &mut MemoryTree::new([("wide.csv", text)]));
    let data = &kept.records[0].data;
    assert_eq!(data.len(), 251);
    assert_eq!(data["extra"].as_object().unwrap().len(), 50);
    assert_eq!(data["extra"]["c299"], "v299");
}

#[test]
fn hostile_tables_are_complaints() {
    let endless = format!("a,b\n1,2\n\"{}", "x,".repeat(9 << 20));
    let kept = read_all(&Csv, &mut MemoryTree::new([("a.csv", endless)]));
    assert_eq!((kept.records.len(), kept.complaints.len()), (1, 1), "{:?}", kept.complaints);
    let deep = format!("[{{\"id\":1,\"x\":{}1{}}},{{\"id\":2}}]", "[".repeat(100), "]".repeat(100));
    let kept = read_all(&Json, &mut MemoryTree::new([("a.json", deep)]));
    assert_eq!((kept.records.len(), kept.complaints.len()), (2, 1), "{}", kept.describe());
    let long = format!("{{\"id\":1}}\n{{\"id\":2,\"x\":\"{}\"}}\n{{\"id\":3}}\n", "x".repeat(17 << 20));
    let kept = read_all(&JsonLines, &mut MemoryTree::new([("a.jsonl", long)]));
    assert_eq!((kept.records.len(), kept.complaints.len()), (2, 1));
    let ragged = format!("a,b,c\n{}", "1,2\n".repeat(500));
    let kept =
        read_all(&Csv, &mut MemoryTree::new([("a.csv", format!("{}{ragged}", "x,y,z\n".repeat(300)))]));
    assert_eq!((kept.records.len(), kept.complaints.len()), (800, 101));
}

#[test]
fn complaints_name_the_line_whatever_ends_lines() {
    for end in ["\n", "\r\n"] {
        let text = ["a,b", "1,2", "", "\"x\ny\",2", "3", "4,5", "6"].join(end);
        let kept = read_all(&Csv, &mut MemoryTree::new([("a.csv", text)]));
        let places: Vec<&str> = kept.complaints.iter().map(|complaint| complaint.where_.as_str()).collect();
        assert_eq!(places, ["a.csv line 6", "a.csv line 8"], "{end:?}");
        assert_eq!(kept.records[1].place, "a.csv line 4");
    }
}
