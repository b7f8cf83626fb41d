//! Invented chats from both kinds of phone, whole, damaged and hostile.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::{Expect, expect, expect_file};
use serde_json::{Value, json};

use super::*;
use crate::testing::{Kept, MemoryTree, read, survives_damage};
use crate::{Draft, Format, detect};

const IOS: &str = "WhatsApp Chat - Boat Club/_chat.txt";

fn fixture() -> MemoryTree {
    MemoryTree::fixture("whatsapp")
}

fn one(text: impl Into<Vec<u8>>) -> MemoryTree {
    MemoryTree::new([("WhatsApp Chat with Rui.txt", text.into())])
}

fn complaints(kept: &Kept) -> String {
    kept.complaints.iter().fold(String::new(), |mut text, one| {
        writeln!(text, "{}: {}", one.where_, one.message).unwrap();
        text
    })
}

/// Time, author, kind and words of every message, and how dates were understood.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let kept = read(&WhatsApp, &mut one(text));
    let mut told = String::new();
    for Draft { data, .. } in kept.of("messages") {
        let said = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or("-").to_owned();
        let media = data
            .get("media_name")
            .and_then(Value::as_str)
            .map(|name| format!(" [{name}]"))
            .unwrap_or_default();
        let omitted = if data.contains_key("is_media_omitted") { " [omitted]" } else { "" };
        let edited = if data.contains_key("is_edited") { " (edited)" } else { "" };
        let words = said("text").replace('\n', "⏎").replace('\0', "␀");
        writeln!(
            told,
            "{} {} {}: {words}{media}{omitted}{edited}",
            said("sent_at"),
            said("kind"),
            said("author")
        )
        .unwrap();
    }
    for Draft { data, .. } in kept.of("chats") {
        writeln!(told, "{} {}", data["date_order"], data["date_order_basis"]).unwrap();
    }
    told.push_str(&complaints(&kept));
    expected.assert_eq(&told);
}

#[test]
fn two_chats_give_these_records() {
    let kept = read(&WhatsApp, &mut fixture());
    expect_file!["../../../../fixtures/exports/whatsapp.snap"].assert_eq(&kept.describe());
}

#[test]
fn the_claim_holds_chats_and_what_they_name() {
    let mut tree = fixture();
    let detected = detect(&mut tree, &[&WhatsApp]);
    let [(_, claim)] = detected.claims.as_slice() else { panic!("{detected:?}") };
    assert_eq!((claim.found.as_str(), &claim.account), ("2 chats", &None));
    let unknown: Vec<&str> =
        detected.unknown.iter().map(|index| tree.entries()[*index].path.as_str()).collect();
    assert_eq!(unknown, ["android/unrelated.pdf"]);
}

#[test]
fn other_texts_are_not_claimed() {
    for text in [
        "",
        "hello\n",
        "\n\n",
        "31/12/2024 was a day\n",
        "31/12/2024, 10:00 - only a log line\n",
        "[12:00] x: y\n",
    ] {
        let mut tree = MemoryTree::new([("notes.txt", text)]);
        assert!(detect(&mut tree, &[&WhatsApp]).claims.is_empty(), "{text:?}");
    }
    let chat = "31/12/2024, 10:00 - A: hello\n31/12/2024, 10:01 - B: hi\n";
    let mut tree = MemoryTree::new([("notes.txt", chat)]);
    assert_eq!(detect(&mut tree, &[&WhatsApp]).claims.len(), 1);
}

#[test]
fn phones_of_many_countries_are_read() {
    check(
        "12/31/24, 9:05 PM - Rui: <Media omitted>\n1/2/25, 9:06 AM - Rui: This message was deleted\n",
        expect![[r#"
            2024-12-31T21:05:00Z media Rui:  [omitted]
            2025-01-02T09:06:00Z deleted Rui: This message was deleted
            "month-first" "numbers"
        "#]],
    );
    check(
        "31.12.24, 21:05 - Rui: <Medien ausgeschlossen>\n",
        expect![[r#"
            2024-12-31T21:05:00Z media Rui:  [omitted]
            "day-first" "numbers"
        "#]],
    );
    check(
        "31/12/2024 à 21:05 - Rui: photo.jpg (fichier joint)\n01/01/2025 à 09:00 - Rui: Bonne année <Ce message a été modifié>\n",
        expect![[r#"
            2024-12-31T21:05:00Z media Rui:  [photo.jpg]
            2025-01-01T09:00:00Z text Rui: Bonne année (edited)
            "day-first" "numbers"
            WhatsApp Chat with Rui.txt: Files it names that are not in the export: 1. They were kept by name only.
        "#]],
    );
    check(
        "31/12/24, 9:05 p. m. - Rui: Se eliminó este mensaje.\n31/12/24, 9:06 p. m. - Rui: <Multimedia omitido>\n",
        expect![[r#"
            2024-12-31T21:05:00Z deleted Rui: Se eliminó este mensaje.
            2024-12-31T21:06:00Z media Rui:  [omitted]
            "day-first" "numbers"
        "#]],
    );
    check(
        "31/12/2024 21:05 - Rui: <Mídia oculta>\n31/12/2024 21:06 - Rui: Mensagem apagada\n",
        expect![[r#"
            2024-12-31T21:05:00Z media Rui:  [omitted]
            2024-12-31T21:06:00Z deleted Rui: Mensagem apagada
            "day-first" "numbers"
        "#]],
    );
    check(
        "[31/12/24, 21:05:00] Rui: \u{200e}immagine omessa\n[31/12/24, 21:05:01] Rui: \u{200e}<allegato: 00000001-PHOTO.jpg>\n",
        expect![[r#"
            2024-12-31T21:05:00Z media Rui:  [omitted]
            2024-12-31T21:05:01Z media Rui:  [00000001-PHOTO.jpg]
            "day-first" "numbers"
            WhatsApp Chat with Rui.txt: Files it names that are not in the export: 1. They were kept by name only.
        "#]],
    );
    check(
        "31-12-2024 21:05 - Rui: <Media weggelaten>\n31-12-2024 21:06 - Rui: IMG-20241231-WA0007.jpg (bestand bijgevoegd)\n",
        expect![[r#"
            2024-12-31T21:05:00Z media Rui:  [omitted]
            2024-12-31T21:06:00Z media Rui:  [IMG-20241231-WA0007.jpg]
            "day-first" "numbers"
            WhatsApp Chat with Rui.txt: Files it names that are not in the export: 1. They were kept by name only.
        "#]],
    );
    check(
        "2024/12/31 21:05 - Rui: こんにちは\n2025/01/02 09:00 - Rui: このメッセージは削除されました\n",
        expect![[r#"
            2024-12-31T21:05:00Z text Rui: こんにちは
            2025-01-02T09:00:00Z deleted Rui: このメッセージは削除されました
            "year-first" "written"
        "#]],
    );
    check(
        "\u{200f}[٣١\u{200f}/١٢\u{200f}/٢٠٢٤، ٩:٠٥:٣٣ م] روي: مرحبا\n",
        expect![[r#"
            2024-12-31T21:05:33Z text روي: مرحبا
            "day-first" "numbers"
        "#]],
    );
}

#[test]
fn an_unknown_language_still_finds_files_by_their_names() {
    check(
        "31/12/2024, 10:00 - Rui: IMG-20241231-WA0007.jpg (soubor připojen)\n31/12/2024, 10:00 - Rui: see a.jpg (nice)\n",
        expect![[r#"
            2024-12-31T10:00:00Z media Rui:  [IMG-20241231-WA0007.jpg]
            2024-12-31T10:00:00Z text Rui: see a.jpg (nice)
            "day-first" "numbers"
            WhatsApp Chat with Rui.txt: Files it names that are not in the export: 1. They were kept by name only.
        "#]],
    );
    check(
        "[31.12.24, 10:00:00] Rui: \u{200e}<příloha: 00000002-VIDEO-x.mp4>\n[31.12.24, 10:00:01] Rui: 00000003-AUDIO-x.opus <\u{200e}attached>\n[31.12.24, 10:00:02] Rui: a <b: c.de>\n",
        expect![[r#"
            2024-12-31T10:00:00Z media Rui:  [00000002-VIDEO-x.mp4]
            2024-12-31T10:00:01Z media Rui:  [00000003-AUDIO-x.opus]
            2024-12-31T10:00:02Z text Rui: a <b: c.de>
            "day-first" "numbers"
            WhatsApp Chat with Rui.txt: Files it names that are not in the export: 2. They were kept by name only.
        "#]],
    );
}

#[test]
fn a_guess_about_dates_is_told() {
    check(
        "1/2/24, 9:05 PM - Rui: a\n",
        expect![[r#"
            2024-01-02T21:05:00Z text Rui: a
            "month-first" "guess"
        "#]],
    );
}

#[test]
fn dates_of_another_calendar_are_a_complaint() {
    check(
        "12/10/1402, 21:05 - Rui: a\n13/10/1402, 21:05 - Rui: b\n",
        expect![[r"
            WhatsApp Chat with Rui.txt line 1: Lines before the first message that can be dated were left out.
            WhatsApp Chat with Rui.txt: No message has a date that can be understood.
        "]],
    );
}

fn keys(kept: &Kept) -> BTreeSet<String> {
    kept.of("messages").map(|draft| draft.key.clone()).collect()
}

#[test]
fn a_longer_export_keeps_the_keys_of_the_shorter() {
    let whole = String::from_utf8(fixture().bytes_mut(IOS).clone()).unwrap();
    let cut = whole.find("[1/1/24").unwrap();
    let tree = |text: &str| MemoryTree::new([(IOS, text)]);
    let (short, long) = (read(&WhatsApp, &mut tree(&whole[..cut])), read(&WhatsApp, &mut tree(&whole)));
    assert!(keys(&short).is_subset(&keys(&long)));
    assert_eq!((keys(&short).len(), keys(&long).len()), (14, 16));
}

#[test]
fn an_export_without_media_keeps_the_keys_of_one_with_them() {
    let with = "31/12/2024, 10:00 - Rui: IMG-20241231-WA0007.jpg (file attached)\nLook\n31/12/2024, 10:01 - Rui: x\n";
    let without = "31/12/2024, 10:00 - Rui: <Media omitted>\nLook\n31/12/2024, 10:01 - Rui: x\n";
    assert_eq!(keys(&read(&WhatsApp, &mut one(with))), keys(&read(&WhatsApp, &mut one(without))));
}

#[test]
fn equal_messages_of_one_minute_are_told_apart() {
    let kept = read(&WhatsApp, &mut one("31/12/2024, 10:00 - Rui: ok\n".repeat(3)));
    assert_eq!(keys(&kept).len(), 3);
}

#[test]
fn reading_twice_gives_the_same_and_an_edit_changes_one_record() {
    let before = read(&WhatsApp, &mut fixture());
    assert_eq!(before.describe(), read(&WhatsApp, &mut fixture()).describe());
    let mut edited = fixture();
    let bytes = edited.bytes_mut(IOS);
    *bytes =
        String::from_utf8(bytes.clone()).unwrap().replace("I meant Monday", "I meant Tuesday").into_bytes();
    let after = read(&WhatsApp, &mut edited);
    let changed: Vec<_> = before.records.iter().zip(&after.records).filter(|(a, b)| a != b).collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].1.data["text"], json!("I meant Tuesday"));
}

#[test]
fn many_media_are_given_without_losing_the_place() {
    let line =
        |n: u32| format!("31/12/2024, 10:00 - Rui: IMG-20241231-WA{n:04}.jpg (file attached)\nhello {n}\n");
    let text: String = (0..1_000).map(line).collect();
    let files = (0..1_000).map(|n| (format!("IMG-20241231-WA{n:04}.jpg"), vec![1]));
    let chat = [("WhatsApp Chat with Rui.txt".to_owned(), text.into_bytes())];
    let kept = read(&WhatsApp, &mut MemoryTree::new(chat.into_iter().chain(files)));
    assert_eq!((keys(&kept).len(), kept.of("media").count(), kept.complaints.len()), (1_000, 1_000, 0));
    assert!(kept.of("media").all(|draft| draft.data.contains_key("blob_ref")));
    assert_eq!(kept.of("chats").next().unwrap().data["message_count"], json!(1_000));
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&WhatsApp, &fixture());
}

#[test]
fn hostile_texts_are_survived() {
    check(
        "31/12/2024, 10:00 - Rui: a\0b\n31/12/2024, 10:01 - : c\n31/12/2024, 10:02 - Rui:\n31/12/2024, 10:03 - \n",
        expect![[r#"
            2024-12-31T10:00:00Z text Rui: a␀b
            2024-12-31T10:01:00Z system -: : c
            2024-12-31T10:02:00Z text Rui: 
            2024-12-31T10:03:00Z system -: 
            "day-first" "numbers"
        "#]],
    );
    let latin = b"31/12/2024, 10:00 - Ren\xe9: caf\xe9\n".to_vec();
    let kept = read(&WhatsApp, &mut one(latin));
    assert_eq!(kept.of("messages").count(), 1);
    expect![[r"
        WhatsApp Chat with Rui.txt line 1: From here on, lines that are not UTF-8 were read with replacement characters.
    "]]
    .assert_eq(&complaints(&kept));
    let mut long = b"31/12/2024, 10:00 - Rui: a\n".to_vec();
    long.extend(std::iter::repeat_n(b'x', 5 << 20));
    long.extend(b"\n31/12/2024, 10:01 - Rui: b\n");
    let kept = read(&WhatsApp, &mut one(long));
    assert_eq!(kept.of("messages").count(), 2);
    expect![[r"
        WhatsApp Chat with Rui.txt line 2: A line longer than 4 MiB was left out; there may be more.
    "]]
    .assert_eq(&complaints(&kept));
    let mut endless = b"31/12/2024, 10:00 - Rui: a\n".to_vec();
    for _ in 0..5_000 {
        endless.extend(std::iter::repeat_n(b'x', 1_000));
        endless.push(b'\n');
    }
    let kept = read(&WhatsApp, &mut one(endless));
    assert_eq!((kept.of("messages").count(), kept.complaints.len()), (1, 1));
}

#[test]
fn a_zip_as_the_phone_sends_it_is_named_by_its_own_name() {
    let mut tree =
        MemoryTree::new([("x/WhatsApp Chat - Rui (1).zip/_chat.txt", "[31.12.24, 10:00:00] Rui: a\n")]);
    let kept = read(&WhatsApp, &mut tree);
    assert_eq!(kept.of("chats").next().unwrap().data["name"], json!("Rui"));
}

#[test]
fn the_manifest_is_sound() {
    let mut tree = fixture();
    let claim = detect(&mut tree, &[&WhatsApp]).claims.remove(0).1;
    let manifest = WhatsApp.manifest(&mut tree, &claim).unwrap();
    let names: Vec<&str> = manifest.streams().iter().map(|stream| stream.name().as_str()).collect();
    assert_eq!(names, ["chats", "messages", "media"]);
    pdpp_store::Admission::check_manifest(&manifest).unwrap();
}
