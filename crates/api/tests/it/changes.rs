//! What changed since a token.

use serde_json::Value;

use crate::world::World;

async fn changes(world: &World, token: &str, path: &str) -> Value {
    let answer = world.get(token, path).await;
    serde_json::from_slice(&answer.bytes).unwrap()
}

fn keys(body: &Value) -> Vec<String> {
    let entries = body["data"].as_array().unwrap_or_else(|| panic!("{body}"));
    let key = |entry: &Value| {
        let gone = if entry["deleted"] == true { "-" } else { "" };
        format!("{gone}{}", entry["id"].as_str().unwrap())
    };
    entries.iter().map(key).collect()
}

#[tokio::test]
async fn a_session_walks_from_the_beginning_to_its_horizon_and_then_only_news() {
    let world = World::new().await;
    let mut path = "/v1/streams/notes/records?changes_since=beginning&limit=5".to_owned();
    let (mut seen, mut since) = (Vec::new(), String::new());
    loop {
        let body = changes(&world, "client", &path).await;
        seen.extend(keys(&body));
        since = body["next_changes_since"].as_str().unwrap_or(&since).to_owned();
        match body["links"]["next"].as_str() {
            Some(next) => {
                assert!(!next.contains("changes_since"), "following the link must not start over");
                path = next.to_owned();
            }
            None => break,
        }
    }
    assert_eq!(seen.len(), 12);
    let news = format!("/v1/streams/notes/records?changes_since={since}");
    assert_eq!(keys(&changes(&world, "client", &news).await), Vec::<String>::new());
    let lines = concat!(
        r#"{"key":"n_01","data":{"id":"n_01","title":"Renamed","body":"b","folder":"x"}}"#,
        "\n",
        r#"{"key":"n_02","op":"delete"}"#,
        "\n",
    );
    assert_eq!(world.ask("owner", "POST", "/v1/ingest/notes?connector_id=notes", lines).await.status, 200);
    assert_eq!(keys(&changes(&world, "client", &news).await), ["n_01", "-n_02"]);
}

#[tokio::test]
async fn a_change_to_a_hidden_field_is_no_news() {
    let world = World::new().await;
    let start =
        changes(&world, "client", "/v1/streams/notes/records?changes_since=beginning&limit=100").await;
    let since = start["next_changes_since"].as_str().unwrap();
    let hidden = r#"{"key":"n_03","data":{"id":"n_03","title":"Page 3","body":"Page 3 speaks of bread, boats and the number 3.","folder":"secret","words":99}}"#;
    assert_eq!(world.ask("owner", "POST", "/v1/ingest/notes?connector_id=notes", hidden).await.status, 200);
    let news = changes(&world, "client", &format!("/v1/streams/notes/records?changes_since={since}")).await;
    assert_eq!(keys(&news), Vec::<String>::new());
}

#[tokio::test]
async fn what_cannot_be_combined_with_changes_is_refused() {
    let world = World::new().await;
    for (query, expected) in [
        ("order=asc", "400 invalid_request (order)"),
        ("sort=sent_at", "400 invalid_request (sort)"),
        ("count=exact", "400 invalid_request (count)"),
        ("window=exact", "400 invalid_request (window)"),
        ("expand=attachments", "400 invalid_expand (expand)"),
    ] {
        let path = format!("/v1/streams/messages/records?changes_since=beginning&{query}");
        assert_eq!(world.verdict("client", &path).await, expected, "{query}");
    }
}
