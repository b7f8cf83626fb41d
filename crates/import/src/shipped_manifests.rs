//! Every shipped manifest, held against what makes a source easy to understand and to grant in small pieces.

use std::collections::BTreeSet;
use std::path::Path;

use pdpp_store::Admission;
use pdpp_wire::manifest::{FieldDeclaration, Manifest, Sensitivity, StreamDeclaration};
use serde_json::Value;

/// Streams of which an export says no times, so that no grant can be limited in time.
const TIMELESS: [&str; 6] = [
    "google/chats",
    "mastodon/bookmarks",
    "mastodon/likes",
    "slack/workspaces",
    "x/connections",
    // The stream of points has nothing to read but times and numbers.
    "google/location_points",
];

fn shipped() -> Vec<(String, Manifest)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        all.push((name.clone(), Manifest::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"))));
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(all.len() >= 12, "{}", all.len());
    all
}

/// Runs a check over every stream; `place` is `mail/messages`.
fn each_stream(check: impl Fn(&str, &StreamDeclaration, &Value)) {
    for (name, manifest) in shipped() {
        for (stream, document) in
            manifest.streams().iter().zip(manifest.document()["streams"].as_array().unwrap())
        {
            check(&format!("{name}/{}", stream.name()), stream, document);
        }
    }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A sentence for a person: it has words, begins with a capital, and names no member of a program.
#[track_caller]
fn is_said(place: &str, said: &str) {
    assert!(
        said.chars().next().is_some_and(|first| first.is_uppercase() || first.is_numeric()),
        "{place}: {said:?}"
    );
    assert!(said.len() >= 4 && !said.contains('\n'), "{place}: {said:?}");
}

#[test]
fn every_manifest_is_admitted_and_says_how_careful_to_be() {
    for (name, manifest) in shipped() {
        Admission::check_manifest(&manifest).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(manifest.display_name().is_some_and(|label| !label.is_empty()), "{name}");
        // Every shipped source holds letters, people, places or thoughts.
        assert_eq!(manifest.sensitivity(), Sensitivity::Sensitive, "{name}");
    }
}

#[test]
fn every_stream_and_field_is_said_in_words() {
    each_stream(|place, stream, document| {
        is_said(place, text(document, "/display/label"));
        is_said(place, text(document, "/display/detail"));
        is_said(place, text(document, "/description"));
        assert!(!text(document, "/display/label").contains('_'), "{place}");
        let level = text(document, "/x_pdpp_sensitivity");
        assert!(["low", "medium", "high"].contains(&level), "{place}: {level:?}");
        for field in stream.fields() {
            let place = format!("{place}.{}", field.name());
            is_said(&place, text(field.schema(), "/description"));
        }
        for view in stream.views() {
            is_said(&format!("{place} view {}", view.id), view.label.as_deref().unwrap_or_default());
        }
    });
}

#[test]
fn every_stream_can_be_narrowed_searched_counted_and_limited_in_time() {
    each_stream(|place, stream, document| {
        let fields: BTreeSet<&str> = stream.fields().iter().map(FieldDeclaration::name).collect();
        assert_eq!(document["selection"], serde_json::json!({"fields": true, "resources": true}), "{place}");
        assert!(
            stream.views().iter().any(|view| view.fields.len() < fields.len()),
            "{place} has no narrow view"
        );
        assert!(stream.aggregations().count, "{place} cannot be counted");
        let roles: BTreeSet<&str> = stream.fields().iter().filter_map(|field| field.role()).collect();
        let is_points = place == "google/location_points";
        assert!(is_points || roles.contains("primary-title") || roles.contains("body"), "{place}: {roles:?}");
        assert!(is_points || !stream.lexical_fields().is_empty(), "{place} cannot be searched");
        let said =
            stream.fields().iter().filter(|field| matches!(field.role(), Some("body" | "primary-title")));
        // Each date of a series repeats the title of its event, which is searched there, once.
        for field in said.filter(|_| place != "calendar/event_instances") {
            let is_searched = stream.lexical_fields().iter().any(|path| path == field.name());
            assert!(is_searched, "{place}.{}", field.name());
        }
        for relationship in document["relationships"].as_array().into_iter().flatten() {
            let expand = document.pointer("/query/expand").and_then(Value::as_array);
            let mut named = expand.into_iter().flatten().map(|one| text(one, "/name"));
            assert!(named.any(|name| name == text(relationship, "/name")), "{place}: {relationship}");
        }
        match stream.consent_time_field() {
            None => assert!(TIMELESS.contains(&place), "{place} has no time"),
            Some(time) => {
                assert_eq!(stream.cursor_field(), Some(time), "{place}");
                assert_eq!(stream.find_field(time).unwrap().role(), Some("event-time"), "{place}");
                assert!(stream.range_filters().iter().any(|(name, _)| name == time), "{place}");
                assert!(stream.aggregations().group_by_time.iter().any(|name| name == time), "{place}");
            }
        }
    });
}

#[test]
fn files_can_be_left_out_of_a_grant() {
    each_stream(|place, stream, _| {
        if stream.find_field("blob_ref").is_some() {
            let without =
                stream.views().iter().find(|view| view.fields.iter().all(|name| name != "blob_ref"));
            assert!(without.is_some(), "{place} has no view without the files");
            assert_eq!(stream.find_field("blob_ref").unwrap().role(), Some("media"), "{place}");
        }
    });
}

#[test]
fn presets_name_what_exists_and_one_of_them_leaves_the_files_and_words_out() {
    for (name, manifest) in shipped() {
        let presets = manifest.presets();
        assert!(presets.len() >= 3, "{name} offers {}", presets.len());
        let ids: BTreeSet<&str> = presets.iter().map(|preset| preset.id.as_str()).collect();
        assert_eq!(ids.len(), presets.len(), "{name}");
        let mut narrow = false;
        for preset in presets {
            let place = format!("{name} preset {}", preset.id);
            is_said(&place, &preset.label);
            assert!(!preset.streams.is_empty(), "{place}");
            for chosen in &preset.streams {
                let stream = manifest.find_stream(&chosen.name).unwrap();
                if let Some(view) = &chosen.view {
                    assert!(stream.views().iter().any(|one| one.id == *view), "{place}: {view}");
                }
                for field in chosen.fields.iter().flatten() {
                    assert!(stream.find_field(field).is_some(), "{place}: {field}");
                }
            }
            narrow |= preset.streams.iter().all(|chosen| chosen.view.is_some() || chosen.fields.is_some());
        }
        assert!(narrow, "{name} has no preset that narrows every stream");
        let with_files = |chosen: &pdpp_wire::manifest::PresetStream| {
            let stream = manifest.find_stream(&chosen.name).unwrap();
            stream.find_field("blob_ref").is_some() && chosen.view.is_none() && chosen.fields.is_none()
        };
        assert!(presets.iter().any(|preset| !preset.streams.iter().any(with_files)), "{name}");
    }
}

#[test]
fn what_hurts_most_is_marked_so() {
    for place in [
        "calendar/events",
        "chatgpt/messages",
        "claude/messages",
        "contacts/contacts",
        "google/activities",
        "google/chat_messages",
        "google/location_points",
        "google/trips",
        "google/visits",
        "mail/attachments",
        "mail/messages",
        "notes/notes",
        "slack/messages",
        "telegram/messages",
        "whatsapp/messages",
        "x/messages",
    ] {
        let (name, stream) = place.split_once('/').unwrap();
        let all = shipped();
        let (_, manifest) = all.iter().find(|(shipped, _)| shipped == name).unwrap();
        let mut streams = manifest.document()["streams"].as_array().unwrap().iter();
        let document = streams.find(|document| document["name"] == stream).unwrap();
        assert_eq!(text(document, "/x_pdpp_sensitivity"), "high", "{place}");
    }
}
