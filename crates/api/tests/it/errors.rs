//! A refusal for every row of the error tables.

use pdpp_store::Catalogues as _;
use pdpp_testkit::{client, grant, sample};

use crate::world::World;

#[tokio::test]
async fn every_fault_of_a_records_request_has_its_code() {
    let world = World::new().await;
    for (query, expected) in [
        ("view=headline&fields=id", "400 invalid_request (view)"),
        ("view=nope", "400 invalid_request (view)"),
        ("fields=", "400 invalid_request (fields)"),
        ("fields=nope", "400 unknown_field (fields)"),
        ("filter[nope]=1", "400 unknown_field (filter)"),
        ("fields=stars", "403 field_not_granted (fields)"),
        ("view=reading", "403 field_not_granted (view)"),
        ("filter[stars]=1", "403 field_not_granted (filter)"),
        ("filter[text][gte]=1", "400 invalid_request (filter)"),
        ("filter[sent_at][near]=1", "400 invalid_request (filter)"),
        ("filter[sent_at][gte]=yesterday", "400 invalid_request (filter)"),
        ("filter=x", "400 invalid_request (filter)"),
        ("sort=author", "400 invalid_sort (sort)"),
        ("sort=-", "400 invalid_sort (sort)"),
        ("sort=sent_at&order=desc", "400 invalid_sort (sort)"),
        ("order=up", "400 invalid_request (order)"),
        ("count=many", "400 invalid_request (count)"),
        ("window=wide", "400 invalid_request (window)"),
        ("limit=0", "400 invalid_request (limit)"),
        ("limit=-5", "400 invalid_request (limit)"),
        ("limit=ten", "400 invalid_request (limit)"),
        ("cursor=forged", "400 invalid_cursor (cursor)"),
        ("changes_since=forged", "400 invalid_cursor (changes_since)"),
        ("expand=nope", "400 invalid_expand (expand)"),
        ("expand=attachments.more", "400 invalid_expand (expand)"),
        ("expand_limit[attachments]=1", "400 invalid_expand (expand_limit)"),
        ("expand=attachments&expand_limit[attachments]=11", "400 invalid_expand (expand_limit)"),
        ("expand=attachments&expand_limit[attachments]=0", "400 invalid_expand (expand_limit)"),
        ("unheard_of=1", "400 invalid_request (unheard_of)"),
        ("connection_id=WORK", "404 connection_not_found (connection_id)"),
        ("connection_id=HOME&connector_instance_id=WORK", "400 invalid_argument (connector_instance_id)"),
    ] {
        let path = world.path(&format!("/v1/streams/messages/records?{query}"));
        assert_eq!(world.verdict("client", &path).await, expected, "{query}");
    }
}

#[tokio::test]
async fn a_stream_outside_the_grant_is_refused_without_saying_whether_it_exists() {
    let world = World::new().await;
    for stream in ["channels", "nonsense"] {
        for path in
            ["", "/records", "/records/x", "/records/x/field-window?field=id", "/aggregate?metric=count"]
        {
            let verdict = world.verdict("client", &format!("/v1/streams/{stream}{path}")).await;
            assert_eq!(verdict, "403 grant_stream_not_allowed", "{stream}{path}");
        }
    }
}

#[tokio::test]
async fn an_owner_must_choose_among_connectors() {
    let world = World::new().await;
    for (query, expected) in [
        ("", "400 invalid_request (connector_id)"),
        ("?connector_id=chat", "200 ok"),
        ("?connector_id=urn:pdpp:source:chat", "200 ok"),
        ("?connector_id=nope", "404 not_found (connector_id)"),
        ("?connector_id=notes", "404 not_found"),
        ("?connection_id=nope", "404 connector_instance_not_found (connection_id)"),
        (
            "?connector_id=notes&connection_id=HOME",
            "400 connector_instance_connector_mismatch (connection_id)",
        ),
        ("?connection_id=HOME&subject_id=whoever", "200 ok"),
    ] {
        let path = world.path(&format!("/v1/streams/messages/records{query}"));
        assert_eq!(world.verdict("owner", &path).await, expected, "{query}");
    }
}

#[tokio::test]
async fn a_relation_outside_the_grant_is_refused() {
    let world = World::new().await;
    let alone = grant(&world.catalogue.sources[0]).stream("messages", &["id"]).build();
    world.admit("alone", client(&[alone]));
    let path = "/v1/streams/messages/records?expand=attachments";
    assert_eq!(world.verdict("alone", path).await, "403 insufficient_scope (expand)");
}

#[tokio::test]
async fn a_stream_granted_from_two_sources_asks_for_a_connection() {
    let world = World::new().await;
    assert_eq!(world.ask("owner", "POST", "/connectors", include_str!("second_chat.json")).await.status, 201);
    let line = r#"{"key":"z1","data":{"id":"z1"}}"#;
    assert_eq!(
        world.ask("owner", "POST", "/v1/ingest/messages?connector_id=letters", line).await.status,
        200
    );
    let catalogue =
        pdpp_store::Catalogues::catalogue(world.store.as_ref(), &world.loaded.subject_id).await.unwrap();
    let letters = catalogue.find_source("letters").unwrap();
    let grants = [
        grant(&catalogue.sources[0]).id("grt_a").stream("messages", &["id"]).build(),
        grant(letters).id("grt_b").stream("messages", &["id"]).build(),
    ];
    world.admit("both", client(&grants));
    let refused = world.get("both", "/v1/streams/messages/records").await;
    assert_eq!(refused.verdict(), "409 ambiguous_connection");
    assert_eq!(refused.json()["error"]["available_connections"].as_array().unwrap().len(), 3);
    assert_eq!(
        world.verdict("both", &world.path("/v1/streams/messages/records?connection_id=HOME")).await,
        "200 ok"
    );
}

#[tokio::test]
async fn a_granted_stream_that_is_no_longer_declared_says_so() {
    let world = World::new().await;
    let gone = include_str!("second_chat.json").replace("letters", "chat");
    assert_eq!(world.ask("owner", "POST", "/connectors?replace=true", gone).await.status, 201);
    assert_eq!(world.verdict("client", "/v1/streams/attachments/records").await, "404 stream_not_declared");
}

#[tokio::test]
async fn a_connection_that_never_took_a_record_is_not_active_for_reads() {
    let world = World::new().await;
    let key = world.catalogue.sources[0].key();
    let made = world.store.create_connection(&world.loaded.subject_id, key, Some("Phone")).await;
    let draft = made.unwrap().unwrap().connection_id;
    let inactive = "400 connector_instance_inactive (connection_id)";
    let blob = format!("/v1/blobs/{}", sample::chat::blob_id());
    let reads = [
        "/v1/streams/messages",
        "/v1/streams/messages/records",
        "/v1/streams/messages/records?changes_since=beginning",
        "/v1/streams/messages/records/m_20",
        "/v1/streams/messages/records/m_20/field-window?field=text",
        "/v1/streams/messages/aggregate?metric=count",
        blob.as_str(),
    ];
    let at =
        |path: &str| format!("{path}{}connection_id={draft}", if path.contains('?') { '&' } else { '?' });
    for path in reads {
        assert_eq!(world.verdict("owner", &at(path)).await, inactive, "{path}");
    }
    let ingest = format!("/v1/ingest/messages?connector_id=chat&connector_instance_id={draft}");
    let line = r#"{"key":"p1","data":{"id":"p1","text":"first"}}"#;
    assert_eq!(world.ask("owner", "POST", &ingest, line).await.json()["records_accepted"], 1);
    for path in &reads[..3] {
        assert_eq!(world.verdict("owner", &at(path)).await, "200 ok", "{path}");
    }
}
