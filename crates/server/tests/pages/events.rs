//! Who is told of changes: seen and stopped on the owner's page, and asked for at consent.

use pdpp_access::Clock as _;
use pdpp_server::owner_subject;
use pdpp_store::{Claim, Ending, Finished, Lease, Saying, StoredDelivery};
use pdpp_wire::{ClientId, DeliveryOutcome, EventId};
use serde_json::{Value, json};

use crate::browser::{Browser, Shown};
use crate::desk::{Answer, Desk, query_of, request};
use crate::flow::{Tokens, notes};
use crate::headers::check_semantics;

/// Nobody listens here.
const HOST: &str = "127.0.0.1:9";
const CALLBACK: &str = "http://127.0.0.1:9/hook?key=s3cret";
const PATH: &str = "/v1/event-subscriptions";

/// A desk that may call receivers on this machine.
async fn owned() -> Desk {
    let desk = Desk::set_up(1, |file| file.allow_loopback_callbacks = Some(true)).await;
    let passphrase = pdpp_access::Secret::presented(crate::browser::PASSPHRASE);
    desk.personal.authority().set_passphrase(&owner_subject(), &passphrase).await.unwrap();
    desk
}

async fn subscribe(desk: &Desk, token: &str, url: &str) -> Answer {
    desk.json(PATH, Some(token), &json!({ "callback_url": url })).await
}

/// A client with a grant and a subscription.
async fn subscribed(desk: &Desk) -> (Tokens, String) {
    let tokens = desk.connect(&notes("continuous")).await;
    let client = ClientId::parse(&tokens.client_id).unwrap();
    let store = desk.personal.store();
    store.allow_callback(&owner_subject(), &client, HOST, desk.clock.now()).await.unwrap();
    let made = subscribe(desk, &tokens.access, CALLBACK).await.expect("201 ok");
    (tokens, made.text("subscription_id"))
}

/// Writes down an attempt on the first event that is due.
async fn attempted(desk: &Desk, ending: Ending, outcome: DeliveryOutcome) {
    let (store, now) = (desk.personal.store(), desk.clock.now());
    let due = store.due_events(now, &[], 1).await.unwrap().remove(0);
    let event_id = EventId::parse("evt_1").unwrap();
    let saying = Saying::Words(event_id.clone(), "{}".to_owned());
    let claim = Claim { row: due.row, subscription_id: due.subscription_id.clone(), saying };
    let lease = Lease { id: "test".into(), until: now.plus_seconds(60) };
    assert_eq!(store.claim_events(&[claim], &lease, now).await.unwrap(), [true]);
    let delivery = StoredDelivery {
        event_id,
        event_type: due.kind.event_type(),
        attempt: due.attempts + 1,
        at: now,
        outcome,
        http_status: Some(500),
        reason: (outcome == DeliveryOutcome::Failed).then(|| "The receiver answered 500.".to_owned()),
        snippet: Some("<script>not shown</script>".to_owned()),
        next_at: None,
    };
    let finished = Finished { row: due.row, subscription_id: due.subscription_id, ending, delivery };
    store.finish_events(&[finished], "test", now).await.unwrap();
}

async fn standing(desk: &Desk, tokens: &Tokens, id: &str) -> (Value, Value) {
    let row = desk.get(&format!("{PATH}/{id}"), Some(&tokens.access)).await.expect("200 ok").body;
    (row["status"].clone(), row["disabled_reason"].clone())
}

#[tokio::test]
async fn the_owner_sees_who_is_told_where_and_how_it_went() {
    let desk = owned().await;
    let browser = Browser::signed_in(&desk).await;
    let empty = browser.get("/owner").await.expect(200);
    assert!(empty.html.contains("Who is told of changes") && !empty.html.contains("/owner/events/"));
    let (_, id) = subscribed(&desk).await;
    let page = browser.get("/owner").await.expect(200);
    check_semantics(&page.html);
    assert_eq!(page.text(&id), "Test App at 127.0.0.1:9");
    for words in ["waits until its receiver has proved itself", "No message yet.", "Hosts you allowed"] {
        assert!(page.html.contains(words), "{words}: {}", page.html);
    }
    assert!(!page.html.contains("s3cret"), "an address may hold a key: only its host is shown");
    for _ in 0..2 {
        attempted(&desk, Ending::Failed(desk.clock.now()), DeliveryOutcome::Failed).await;
    }
    let page = browser.get("/owner").await.expect(200);
    for words in
        ["Told of <bdi>notes</bdi>", ": failed. The receiver answered 500.", "2 failed attempts in a row."]
    {
        assert!(page.html.contains(words), "{words}: {}", page.html);
    }
    assert!(!page.html.contains("not shown"), "nothing that a receiver answered");
    attempted(&desk, Ending::Verified, DeliveryOutcome::Delivered).await;
    let page = browser.get("/owner").await.expect(200);
    assert!(page.html.contains(": delivered.") && !page.html.contains("in a row"), "{}", page.html);
    assert!(page.html.contains("asked to be told of changes"), "it is in the ledger");
}

#[tokio::test]
async fn a_subscription_is_switched_off_on_the_page_and_stays_off() {
    let desk = owned().await;
    let browser = Browser::signed_in(&desk).await;
    let (tokens, id) = subscribed(&desk).await;
    let form = browser.get("/owner").await.form_of_button(&format!("disable-{id}"));
    browser.send(&form.clone().without("_csrf")).await.expect(403);
    Browser::new(&desk).send(&form).await.expect(303);
    assert_eq!(standing(&desk, &tokens, &id).await.0, "pending_verification", "only the owner does it");
    let shown = browser.send(&form).await.expect(303);
    assert_eq!(standing(&desk, &tokens, &id).await, (json!("disabled"), json!("owner_disabled")));
    let after = browser.get(shown.header("location")).await.expect(200);
    assert!(after.text("notice").contains("Nothing more is sent"));
    assert!(after.html.contains("switched off by you") && !after.html.contains(&format!("disable-{id}")));
    assert!(after.html.contains("is no longer told of changes"), "it is in the ledger");
    browser.send(&form).await.expect(409);
    browser.send(&form.clone().set("subscription_id", "sub_none")).await.expect(404);
    browser.send(&form.set("subscription_id", "../x")).await.expect(404);
    let on = request("PATCH", &format!("{PATH}/{id}"), Some(&tokens.access));
    let on = on.header("content-type", "application/json").body(r#"{"enabled":true}"#.into()).unwrap();
    desk.send(on).await.expect("409 invalid_state");
}

#[tokio::test]
async fn a_host_that_is_taken_back_is_sent_nothing_more() {
    let desk = owned().await;
    let browser = Browser::signed_in(&desk).await;
    let (tokens, id) = subscribed(&desk).await;
    let form = browser.get("/owner").await.form_of_button("forbid-0");
    browser.send(&form.clone().without("_csrf")).await.expect(403);
    browser.send(&form.clone().set("host", "hooks.example.org")).await.expect(404);
    let shown = browser.send(&form).await.expect(303);
    assert_eq!(standing(&desk, &tokens, &id).await, (json!("disabled"), json!("owner_disabled")));
    subscribe(&desk, &tokens.access, CALLBACK).await.expect("403 callback_not_allowed");
    let after = browser.get(shown.header("location")).await.expect(200);
    assert!(after.text("notice").contains("taken back") && !after.html.contains("Hosts you allowed"));
    browser.send(&form).await.expect(404);
}

/// Opens the consent page of a request that asks for these hosts.
async fn asked(
    desk: &Desk,
    browser: &Browser<'_>,
    client: &str,
    details: Option<&Value>,
    hosts: &str,
) -> Shown {
    let path = desk.authorize_path(client, details, &[("event_callback_hosts", hosts)]);
    let answer = desk.get(&path, None).await;
    assert_eq!(answer.status, 303, "{:#}", answer.body);
    browser.consent(&query_of(answer.header("location"))["request_uri"]).await
}

async fn token(desk: &Desk, client: &str, shown: &Shown) -> String {
    let code = query_of(shown.header("location"))["code"].clone();
    desk.redeem(client, &code, &[]).await.expect("200 ok").text("access_token")
}

#[tokio::test]
async fn a_host_is_allowed_by_a_tick_of_its_own_and_by_nothing_else() {
    let desk = owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let hosts = "Hooks.Example.org:443 127.0.0.1:9 app.test";
    let page = asked(&desk, &browser, &client, Some(&notes("continuous")), hosts).await.expect(200);
    check_semantics(&page.html);
    assert_eq!(page.text("callback-2"), "To app.test: allowed before.", "it registered that one");
    let enforced = page.blocks("protocol").join(" ");
    assert!(enforced.contains("To hooks.example.org") && enforced.contains("To 127.0.0.1:9"), "{enforced}");
    let form = page.form("consent-form");
    assert!(form.pairs.iter().all(|(name, _)| name != "callback"), "nothing is ticked beforehand");
    let form = form.tick("callback", "1").tick("callback", "7").tick("callback", "evil.example.org");
    let token = token(&desk, &client, &browser.send(&form).await.expect(303)).await;
    subscribe(&desk, &token, CALLBACK).await.expect("201 ok");
    for other in ["https://hooks.example.org/x", "https://evil.example.org/x", "http://127.0.0.1:10/"] {
        subscribe(&desk, &token, other).await.expect("403 callback_not_allowed");
    }
    let allowed = desk.personal.store().list_callbacks(&owner_subject()).await.unwrap();
    assert_eq!(allowed.iter().map(|one| one.host.as_str()).collect::<Vec<_>>(), [HOST]);
    assert!(browser.get("/owner").await.html.contains("id=\"forbid-0\""), "and can be taken back");
    let again = asked(&desk, &browser, &client, Some(&notes("continuous")), HOST).await.expect(200);
    assert_eq!(again.text("callback-0"), "To 127.0.0.1:9: allowed before.");
}

#[tokio::test]
async fn without_a_tick_or_without_a_yes_no_host_is_allowed() {
    let desk = owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let plain = asked(&desk, &browser, &client, Some(&notes("continuous")), "").await.expect(200);
    assert!(!plain.html.contains("Being told of changes"), "nothing is asked, nothing is said");
    let page = asked(&desk, &browser, &client, Some(&notes("continuous")), HOST).await.expect(200);
    let form = page.form("consent-form");
    let ticked = form.clone().tick("callback", "0");
    // The page comes back with what was ticked on it.
    let wrong = browser.send(&ticked.clone().set("expiry", "soon")).await.expect(400);
    assert!(wrong.form("consent-form").has("callback", "0"));
    browser.send(&page.form("deny-form")).await.expect(303);
    browser.send(&ticked).await.expect(409);
    let page = asked(&desk, &browser, &client, Some(&notes("continuous")), HOST).await.expect(200);
    let token = token(&desk, &client, &browser.send(&page.form("consent-form")).await.expect(303)).await;
    subscribe(&desk, &token, CALLBACK).await.expect("403 callback_not_allowed");
    assert!(desk.personal.store().list_callbacks(&owner_subject()).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_picker_and_a_device_ask_for_hosts_too() {
    let desk = owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = asked(&desk, &browser, &client, None, HOST).await.expect(200);
    check_semantics(&page.html);
    let form = page.form("consent-form").tick("pick", "1.0.0").tick("callback", "0");
    let token = token(&desk, &client, &browser.send(&form).await.expect(303)).await;
    subscribe(&desk, &token, CALLBACK).await.expect("201 ok");
    let details = notes("continuous").to_string();
    let pairs = [
        ("client_id", client.as_str()),
        ("authorization_details", details.as_str()),
        ("event_callback_hosts", "hooks.example.org"),
    ];
    let started = desk.form("/oauth/device_authorization", &pairs).await.expect("200 ok");
    let path = format!("/device?{}", crate::desk::encoded(&[("user_code", &started.text("user_code"))]));
    assert!(browser.get(&path).await.expect(200).html.contains("hooks.example.org"));
    let owner = [("client_id", "pdpp_cli"), ("event_callback_hosts", "hooks.example.org")];
    desk.form("/oauth/device_authorization", &owner).await.expect("400 invalid_request");
}

#[tokio::test]
async fn hosts_that_are_none_are_refused_and_an_approval_cannot_add_one() {
    let desk = owned().await;
    let client = desk.register().await;
    for hosts in ["https://hooks.example.org", "10.0.0.1", "hooks", "a.example.org b", "h.example.org/x"] {
        let path =
            desk.authorize_path(&client, Some(&notes("continuous")), &[("event_callback_hosts", hosts)]);
        let answer = desk.get(&path, None).await;
        assert_eq!(query_of(answer.header("location"))["error"], "invalid_request", "{hosts}");
    }
    let body = json!({ "client_id": client, "authorization_details": notes("continuous"),
        "event_callback_hosts": "hooks.example.org" });
    let pushed = desk.json("/oauth/par", None, &body).await.expect("201 ok").text("request_uri");
    let shown = desk.show(&pushed).await.expect("200 ok");
    let asked = json!([{ "host": "hooks.example.org", "allowed": false }]);
    assert_eq!(shown.body["approval_review"]["event_callbacks"], asked);
    let revision = shown.text("approval_review_revision");
    let approve = |host: &str| {
        json!({ "request_uri": pushed, "approval_review_revision": revision,
            "narrowing": { "callback_hosts": [host] } })
    };
    desk.decide("approve", &approve("evil.example.org")).await.expect("400 invalid_request");
    desk.decide("approve", &approve("hooks.example.org")).await.expect("200 ok");
    let allowed = desk.personal.store().list_callbacks(&owner_subject()).await.unwrap();
    assert_eq!(allowed[0].host, "hooks.example.org");
}
