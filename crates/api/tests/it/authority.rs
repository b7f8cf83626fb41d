//! Every route and every kind of token, as one table.

use std::fmt::Write as _;

use expect_test::expect;
use pdpp_api::{Verb, routes};
use pdpp_testkit::{client, grant, owner};
use pdpp_wire::{Code, SubjectId};

use crate::world::World;

#[tokio::test]
async fn every_route_serves_exactly_the_tokens_it_says() {
    let world = World::with(crate::events::subscribable).await;
    world.refuse("expired", Code::AuthenticationError, "The token is invalid or has expired.");
    world.refuse("revoked", Code::GrantRevoked, "The owner revoked this grant.");
    world.refuse("ended", Code::GrantExpired, "This grant has expired.");
    world.admit("stranger", owner(&SubjectId::parse("somebody_else").unwrap()));
    let foreign = grant(&world.catalogue.sources[1]).stream("notes", &["id"]).build();
    world.admit("notes", client(&[foreign]));
    let mut table = String::new();
    for route in routes() {
        let path = world.path(&example(route.method, route.path));
        write!(table, "{:6} {:48}", route.method.as_str(), route.path).unwrap();
        for token in ["", "expired", "revoked", "ended", "stranger", "notes", "client", "owner"] {
            let answer = world.ask(token, route.method.as_str(), &path, body(route.path)).await;
            let name = if token.is_empty() { "none" } else { token };
            write!(table, " {name}={}", answer.status).unwrap();
        }
        table.push('\n');
    }
    expect![[r#"
        GET    /                                                none=200 expired=200 revoked=200 ended=200 stranger=200 notes=200 client=200 owner=200
        GET    /.well-known/oauth-protected-resource            none=200 expired=200 revoked=200 ended=200 stranger=200 notes=200 client=200 owner=200
        GET    /.well-known/oauth-protected-resource/mcp        none=200 expired=200 revoked=200 ended=200 stranger=200 notes=200 client=200 owner=200
        GET    /openapi.json                                    none=200 expired=200 revoked=200 ended=200 stranger=200 notes=200 client=200 owner=200
        GET    /healthz                                         none=200 expired=200 revoked=200 ended=200 stranger=200 notes=200 client=200 owner=200
        GET    /readyz                                          none=200 expired=200 revoked=200 ended=200 stranger=200 notes=200 client=200 owner=200
        GET    /v1/streams                                      none=401 expired=401 revoked=403 ended=403 stranger=200 notes=200 client=200 owner=200
        GET    /v1/streams/{stream}                             none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=200 owner=200
        GET    /v1/schema                                       none=401 expired=401 revoked=403 ended=403 stranger=200 notes=200 client=200 owner=200
        GET    /v1/connectors                                   none=401 expired=401 revoked=403 ended=403 stranger=200 notes=200 client=200 owner=200
        GET    /v1/streams/{stream}/records                     none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=200 owner=200
        DELETE /v1/streams/{stream}/records                     none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=403 owner=204
        GET    /v1/streams/{stream}/records/{id}                none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=200 owner=200
        DELETE /v1/streams/{stream}/records/{id}                none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=403 owner=204
        GET    /v1/streams/{stream}/records/{id}/field-window   none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=200 owner=200
        GET    /v1/streams/{stream}/aggregate                   none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=200 owner=200
        GET    /v1/search                                       none=401 expired=401 revoked=403 ended=403 stranger=404 notes=404 client=404 owner=404
        GET    /v1/search/semantic                              none=401 expired=401 revoked=403 ended=403 stranger=404 notes=404 client=404 owner=404
        GET    /v1/search/hybrid                                none=401 expired=401 revoked=403 ended=403 stranger=404 notes=404 client=404 owner=404
        GET    /v1/blobs/{blob_id}                              none=401 expired=401 revoked=403 ended=403 stranger=404 notes=404 client=404 owner=200
        POST   /v1/blobs                                        none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=403 owner=200
        GET    /v1/event-subscriptions                          none=401 expired=401 revoked=403 ended=403 stranger=403 notes=200 client=200 owner=403
        POST   /v1/event-subscriptions                          none=401 expired=401 revoked=403 ended=403 stranger=403 notes=403 client=403 owner=403
        GET    /v1/event-subscriptions/{subscription_id}        none=401 expired=401 revoked=403 ended=403 stranger=403 notes=404 client=404 owner=403
        PATCH  /v1/event-subscriptions/{subscription_id}        none=401 expired=401 revoked=403 ended=403 stranger=403 notes=404 client=404 owner=403
        DELETE /v1/event-subscriptions/{subscription_id}        none=401 expired=401 revoked=403 ended=403 stranger=403 notes=404 client=404 owner=403
        POST   /v1/event-subscriptions/{subscription_id}/test-event none=401 expired=401 revoked=403 ended=403 stranger=403 notes=404 client=404 owner=403
        GET    /v1/event-subscriptions/{subscription_id}/deliveries none=401 expired=401 revoked=403 ended=403 stranger=403 notes=404 client=404 owner=403
        POST   /v1/ingest/{stream}                              none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=403 owner=200
        GET    /v1/state/{connector_id}                         none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=403 owner=200
        PUT    /v1/state/{connector_id}                         none=401 expired=401 revoked=403 ended=403 stranger=404 notes=403 client=403 owner=200
        POST   /connectors                                      none=401 expired=401 revoked=403 ended=403 stranger=201 notes=403 client=403 owner=201
        GET    /connectors/{connector_id}                       none=401 expired=401 revoked=403 ended=403 stranger=404 notes=404 client=200 owner=200
    "#]].assert_eq(&table);
}

fn example(method: Verb, path: &str) -> String {
    let blob = pdpp_testkit::sample::chat::blob_id();
    if path.starts_with("/v1/event-subscriptions") {
        return path.replace("{subscription_id}", "sub_000000000000000000000000");
    }
    if method == Verb::Delete {
        // Another stream than the one that is read, so that rows do not depend on each other.
        let path = path.replace("{stream}", "pins").replace("{id}", "p_1");
        return format!("{path}?connector_id=chat&connection_id=HOME");
    }
    let path = path.replace("{stream}", "messages").replace("{blob_id}", blob.as_str());
    let path = path.replace("{id}", "m_20").replace("{connector_id}", "chat");
    match path.as_str() {
        "/v1/blobs" => {
            format!("{path}?connector_id=chat&connection_id=HOME&stream=attachments&record_key=a_1")
        }
        "/v1/ingest/messages" => format!("{path}?connector_id=chat&connection_id=HOME"),
        "/v1/streams/messages/aggregate" => format!("{path}?connection_id=HOME&metric=count"),
        "/v1/streams/messages/records/m_20/field-window" => format!("{path}?connection_id=HOME&field=text"),
        "/v1/streams/messages/records" | "/v1/streams/messages/records/m_20" => {
            format!("{path}?connector_id=chat")
        }
        _ if path.starts_with("/v1/streams/") => format!("{path}?connection_id=HOME"),
        _ if path.starts_with("/v1/blobs/") => format!("{path}?connection_id=HOME"),
        _ => path,
    }
}

fn body(path: &str) -> &'static str {
    match path {
        "/connectors" => include_str!("second_chat.json"),
        "/v1/state/{connector_id}" => r#"{"state":{}}"#,
        "/v1/event-subscriptions" => r#"{"callback_url":"https://hooks.example.org/"}"#,
        "/v1/event-subscriptions/{subscription_id}" => r#"{"enabled":true}"#,
        _ => "",
    }
}

#[tokio::test]
async fn an_owner_route_tells_a_client_what_it_needs() {
    let world = World::new().await;
    expect![[r#"
        403
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "error": {
            "type": "permission_error",
            "code": "permission_error",
            "message": "This route needs an owner token; this is a client token.",
            "request_id": "req_test"
          }
        }"#]]
    .assert_eq(&world.ask("client", "POST", "/v1/ingest/messages?connector_id=chat", "").await.show());
}

#[tokio::test]
async fn a_missing_or_bad_token_is_challenged() {
    let world = World::new().await;
    expect![[r#"
        401
        content-type: application/json
        www-authenticate: Bearer resource_metadata="https://data.test/.well-known/oauth-protected-resource"
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "error": {
            "type": "authentication_error",
            "code": "authentication_error",
            "message": "Send `Authorization: Bearer <token>`.",
            "request_id": "req_test",
            "resource_metadata": "https://data.test/.well-known/oauth-protected-resource",
            "next_step": "Read https://data.test/.well-known/oauth-protected-resource to learn how to obtain a token for this server."
          }
        }"#]].assert_eq(&world.get("", "/v1/streams").await.show());
    let unknown = world.get("unknown", "/v1/streams").await;
    assert_eq!(unknown.verdict(), "401 authentication_error");
    assert!(unknown.header("www-authenticate").unwrap().ends_with("error=\"invalid_token\""));
    let basic = async |header: &str| {
        let mut request = crate::world::request("", "GET", "/v1/streams", axum::body::Body::empty());
        request.headers_mut().insert("authorization", header.parse().unwrap());
        crate::world::Answer::of(&world, world.send(request).await).await.verdict()
    };
    for header in ["Basic b3duZXI6", "bearer owner", "Bearer", "Bearer ", "Bearer a b"] {
        assert_eq!(basic(header).await, "401 authentication_error", "{header}");
    }
}

#[tokio::test]
async fn two_tokens_at_once_are_refused() {
    let world = World::new().await;
    let mut request = crate::world::request("owner", "GET", "/v1/streams", axum::body::Body::empty());
    request.headers_mut().append("authorization", "Bearer client".parse().unwrap());
    let answer = crate::world::Answer::of(&world, world.send(request).await).await;
    assert_eq!(answer.verdict(), "401 authentication_error");
}
