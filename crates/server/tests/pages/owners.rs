//! Several owners on one server: each signs in by name, sees what is theirs, and learns nothing of the others.

use pdpp_access::{Clock as _, Secret};
use pdpp_auth::{NOBODY, SESSION_COOKIE};
use pdpp_server::{ConfigFile, Server, owner_subject};
use pdpp_store::{Disclosure, DisclosureFilter, Door};
use pdpp_testkit::sample;
use pdpp_wire::{ClientId, SubjectId};
use serde_json::json;

use crate::authenticator::Authenticator;
use crate::browser::{Browser, PASSPHRASE, Shown};
use crate::desk::{Desk, query_of};
use crate::flow::{REDIRECT, Tokens, notes};
use crate::passkeys::{call, origin};

const ANAS: &str = "nine quiet harbours";
const HOST: &str = "127.0.0.1:9";
const WRONG: &str = "That is not an owner and their passphrase.";

fn ana() -> SubjectId {
    SubjectId::parse("ana").unwrap()
}

/// A desk of two owners, each with the sample archive and a passphrase.
async fn two_owners() -> Desk {
    let desk = Desk::set_up(1, |file| file.allow_loopback_callbacks = Some(true)).await;
    let (store, authority) = (desk.personal.store(), desk.personal.authority());
    assert!(store.create_subject(&ana()).await.unwrap());
    sample::loaded_for(&*store, ana()).await;
    for (owner, passphrase) in [(owner_subject(), PASSPHRASE), (ana(), ANAS)] {
        authority.set_passphrase(&owner, &Secret::presented(passphrase)).await.unwrap();
    }
    desk
}

impl Desk {
    /// The token of another owner, for the steps an owner takes without a browser.
    async fn acting_for(mut self, owner: &SubjectId) -> Self {
        let token = self.personal.authority().owner_token(owner, None).await.unwrap();
        token.access_token.reveal().clone_into(&mut self.owner);
        self
    }

    async fn ledger_of(&self, owner: &SubjectId) -> Vec<Disclosure> {
        let filter = DisclosureFilter { limit: 200, ..DisclosureFilter::default() };
        self.personal.store().list_disclosures(owner, &filter).await.unwrap()
    }

    /// A client that both owners let read their notes, and what each gave it.
    async fn connected_to_both(self) -> (Self, Tokens, Tokens) {
        let client_id = self.register().await;
        let mut given = Vec::new();
        let mut desk = self;
        for owner in [owner_subject(), ana()] {
            desk = desk.acting_for(&owner).await;
            let code = desk.code(&client_id, &notes("continuous")).await;
            given.push(Tokens::of(&desk.redeem(&client_id, &code, &[]).await.expect("200 ok"), &client_id));
        }
        let anas = given.pop().unwrap();
        (desk, given.pop().unwrap(), anas)
    }
}

async fn sign_in<'d>(desk: &'d Desk, name: &str, passphrase: &str) -> (Browser<'d>, Shown) {
    let browser = Browser::new(desk);
    let form = browser.get("/owner/login").await.expect(200).form("login-form");
    let shown = browser.send(&form.set("owner", name).set("password", passphrase)).await;
    (browser, shown)
}

async fn both(desk: &Desk) -> (Browser<'_>, Browser<'_>) {
    let (first, shown) = sign_in(desk, "owner_local", PASSPHRASE).await;
    shown.expect(303);
    let (anas, shown) = sign_in(desk, "ana", ANAS).await;
    shown.expect(303);
    (first, anas)
}

#[tokio::test]
async fn a_name_is_asked_for_only_where_there_are_several_owners() {
    let desk = Desk::owned().await;
    let page = Browser::new(&desk).get("/owner/login").await.expect(200);
    assert!(!page.html.contains("name=\"owner\""), "{}", page.html);
    let desk = two_owners().await;
    let page = Browser::new(&desk).get("/owner/login").await.expect(200);
    assert!(page.html.contains("name=\"owner\""), "{}", page.html);
    crate::headers::check_semantics(&page.html);
}

/// 9.2-6: nothing but the right name with the right passphrase signs in, and what is wrong is not said.
#[tokio::test]
async fn an_owner_signs_in_by_their_own_name_and_passphrase() {
    let desk = two_owners().await;
    both(&desk).await;
    for (name, passphrase) in
        [("ana", PASSPHRASE), ("owner_local", ANAS), ("nina", ANAS), (NOBODY, ANAS), ("an a", ANAS)]
    {
        let (_, shown) = sign_in(&desk, name, passphrase).await;
        assert_eq!(shown.expect(401).text("problem"), WRONG, "{name}");
    }
    let named = json!({ "owner": "ana", "password": ANAS });
    desk.json("/owner/login", None, &named).await.expect("200 ok");
    desk.json("/owner/login", None, &json!({ "password": ANAS })).await.expect("400 invalid_request");
    let refused = |entry: &&Disclosure| entry.action == "owner.sign_in" && entry.refused.is_some();
    let failed = async |owner: &SubjectId| desk.ledger_of(owner).await.iter().filter(refused).count();
    let nobody = SubjectId::parse(NOBODY).unwrap();
    assert_eq!(
        (failed(&ana()).await, failed(&owner_subject()).await, failed(&nobody).await),
        (1, 1, 4),
        "a try at an owner is in that owner's ledger, the rest in nobody's"
    );
}

/// 9.3-3: a request is nobody's until somebody opens it, and then it is theirs alone.
#[tokio::test]
async fn a_request_is_shown_to_the_owner_who_opened_it_first() {
    let desk = two_owners().await;
    let (other, anas) = both(&desk).await;
    let client = desk.register().await;
    let request_uri = desk.ask(&client, Some(&notes("continuous"))).await;
    for browser in [&other, &anas] {
        assert!(!browser.get("/owner").await.expect(200).html.contains("/consent?"), "it is not known whose");
    }
    let page = anas.consent(&request_uri).await.expect(200);
    other.consent(&request_uri).await.expect(404);
    let home = anas.get("/owner").await.expect(200);
    let approval =
        crate::html::tags(&home.html).into_iter().find(|tag| tag.get("href").starts_with("/consent?"));
    let approval = approval.unwrap().get("href").to_owned();
    other.get(&approval).await.expect(404);
    let home = other.get("/owner").await.expect(200).html;
    assert!(!home.contains("/consent?") && !home.contains("Test App") && !home.contains(&client), "{home}");
    let shown = anas.send(&page.form("consent-form")).await.expect(303);
    let code = query_of(shown.header("location"))["code"].clone();
    let tokens = Tokens::of(&desk.redeem(&client, &code, &[]).await.expect("200 ok"), &client);
    let store = desk.personal.store();
    assert_eq!(store.list_grants(&ana()).await.unwrap().len(), 1);
    assert_eq!(store.list_grants(&owner_subject()).await.unwrap().len(), 0);
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
    assert!(desk.ledger_of(&ana()).await.iter().any(|entry| entry.door == Door::Rest));
    assert!(!desk.ledger_of(&owner_subject()).await.iter().any(|entry| entry.client_id.is_some()));
}

#[tokio::test]
async fn grants_ledger_and_sessions_are_each_owners_own() {
    let (desk, given, anas_given) = two_owners().await.connected_to_both().await;
    let (other, anas) = both(&desk).await;
    for token in [&given.access, &anas_given.access] {
        assert_eq!(desk.read(token).await, "200 ok");
    }
    let (page, anas_page) = (other.get("/owner").await.expect(200), anas.get("/owner").await.expect(200));
    assert!(page.html.contains(&given.grant_id) && !page.html.contains(&anas_given.grant_id));
    assert!(anas_page.html.contains(&anas_given.grant_id) && !anas_page.html.contains(&given.grant_id));
    for (owner, own, foreign) in [(owner_subject(), &given, &anas_given), (ana(), &anas_given, &given)] {
        let told = serde_json::to_string(&desk.ledger_of(&owner).await).unwrap();
        assert!(told.contains(&own.grant_id) && !told.contains(&foreign.grant_id), "{told}");
    }
    // What one owner's page can send reaches nothing of the other's.
    let revoke = page.form_of_button(&format!("revoke-{}", given.grant_id));
    other.send(&revoke.set("grant_id", &anas_given.grant_id)).await.expect(404);
    assert_eq!(desk.read(&anas_given.access).await, "200 ok");
    let store = desk.personal.store();
    let sessions = async |owner: SubjectId| store.list_sessions(&owner).await.unwrap();
    let (own, foreign) = (sessions(owner_subject()).await.remove(0), sessions(ana()).await.remove(0));
    assert!(!page.html.contains(foreign.session_id.as_str()));
    let end = page.form_of_button(&format!("end-{}", own.session_id));
    other.send(&end.set("session_id", foreign.session_id.as_str())).await.expect(404);
    anas.get("/owner").await.expect(200);
    let revoke = anas_page.form_of_button(&format!("revoke-{}", anas_given.grant_id));
    anas.send(&revoke).await.expect(303);
    assert_eq!(desk.read(&anas_given.access).await, "403 grant_revoked");
    assert_eq!(desk.read(&given.access).await, "200 ok");
}

#[tokio::test]
async fn subscriptions_are_each_owners_own() {
    let (desk, given, anas_given) = two_owners().await.connected_to_both().await;
    let (store, now) = (desk.personal.store(), desk.clock.now());
    let client = ClientId::parse(&given.client_id).unwrap();
    store.allow_callback(&ana(), &client, HOST, now).await.unwrap();
    let wish = json!({ "callback_url": format!("http://{HOST}/hook") });
    let path = "/v1/event-subscriptions";
    desk.json(path, Some(&given.access), &wish).await.expect("403 callback_not_allowed");
    let made =
        desk.json(path, Some(&anas_given.access), &wish).await.expect("201 ok").text("subscription_id");
    desk.get(&format!("{path}/{made}"), Some(&given.access)).await.expect("404 not_found");
    let (other, anas) = both(&desk).await;
    let page = anas.get("/owner").await.expect(200);
    assert_eq!(page.text(&made), format!("Test App at {HOST}"));
    let html = other.get("/owner").await.expect(200).html;
    assert!(!html.contains(&made) && !html.contains(HOST), "{html}");
    let form = page.form_of_button(&format!("disable-{made}"));
    let foreign = other.get("/owner").await.form_of_button("sign-out");
    let token = foreign.pairs.iter().find(|(name, _)| name == "_csrf").unwrap().1.clone();
    other.send(&form.clone().set("_csrf", &token)).await.expect(404);
    anas.send(&form).await.expect(303);
}

#[tokio::test]
async fn whoever_removes_a_client_ends_its_access_to_their_own_data_alone() {
    let (desk, given, anas_given) = two_owners().await.connected_to_both().await;
    let (other, anas) = both(&desk).await;
    let form = other.get("/owner").await.expect(200).form_of_button("remove-0");
    other.send(&form).await.expect(303);
    assert_eq!(desk.read(&given.access).await, "403 grant_revoked");
    assert_eq!(desk.read(&anas_given.access).await, "200 ok");
    desk.refresh(&anas_given.client_id, anas_given.refresh()).await.expect("200 ok");
    assert!(anas.get("/owner").await.expect(200).html.contains("Test App"), "the client is still known");
}

/// 9.2-6: where there are several owners, a passkey too needs to be told whose it is to be.
#[tokio::test]
async fn a_passkey_signs_in_the_owner_it_belongs_to() {
    let desk = two_owners().await;
    let (_, anas) = both(&desk).await;
    let session = anas.cookie(SESSION_COOKIE).unwrap();
    let asked = json!({ "password": ANAS });
    let begun = call(&desk, "/owner/passkeys/begin", Some(&session), &asked).await.expect("200 ok");
    let mut key = Authenticator::new(7);
    let credential = key.create(&begun.body["options"], &origin(&desk));
    let made = json!({ "ceremony": begun.text("ceremony"), "credential": credential });
    call(&desk, "/owner/passkeys/finish", Some(&session), &made).await.expect("201 ok");
    let ask = async |body| call(&desk, "/owner/login/passkey/begin", None, &body).await;
    ask(json!({})).await.expect("400 invalid_request");
    ask(json!({ "owner": "owner_local" })).await.expect("404 not_found");
    ask(json!({ "owner": "nina" })).await.expect("404 not_found");
    let begun = ask(json!({ "owner": "ana" })).await.expect("200 ok");
    let credential = key.get(&begun.body["options"], &origin(&desk));
    let proof = json!({ "ceremony": begun.text("ceremony"), "credential": credential });
    call(&desk, "/owner/login/passkey/finish", None, &proof).await.expect("200 ok");
    assert_eq!(desk.personal.store().list_sessions(&ana()).await.unwrap().len(), 2);
    assert_eq!(desk.personal.store().list_sessions(&owner_subject()).await.unwrap().len(), 1);
}

/// A request for all of a connector is understood when it is known whose connector is meant.
#[tokio::test]
async fn a_request_by_connector_is_of_the_owner_who_opens_it() {
    let desk = two_owners().await;
    let (_, anas) = both(&desk).await;
    let client = desk.register().await;
    let path = desk.authorize_path(&client, None, &[("connector_id", "notes"), ("redirect_uri", REDIRECT)]);
    let answer = desk.get(&path, None).await;
    let request_uri = query_of(answer.header("location"))["request_uri"].clone();
    let page = anas.consent(&request_uri).await.expect(200);
    assert!(page.html.contains("Notebook"), "{}", page.html);
    anas.send(&page.form("consent-form")).await.expect(303);
    assert_eq!(desk.personal.store().list_grants(&ana()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_owner_whom_an_operator_made_gets_in_by_a_link_of_their_own() {
    let desk = Desk::owned().await;
    let store = desk.personal.store();
    assert!(store.create_subject(&ana()).await.unwrap());
    let link = desk.personal.first_run_link(&ana(), &desk.issuer).await.unwrap().unwrap();
    let path = link.strip_prefix(&desk.issuer).unwrap();
    assert!(path.starts_with("/owner/first-run?owner=ana&secret="), "{path}");
    let stolen = Browser::new(&desk);
    stolen.get(&path.replace("owner=ana", "owner=owner_local")).await.expect(404);
    stolen.get(&path.replace("owner=ana&", "")).await.expect(404);
    let browser = Browser::new(&desk);
    let page = browser.get(path).await.expect(200);
    assert!(page.text("named").contains("is ana"), "{}", page.html);
    let form = page.form("first-run-form").set("password", ANAS).set("password_again", ANAS);
    browser.send(&form).await.expect(303);
    browser.get("/owner").await.expect(200);
    browser.get(path).await.expect(404);
    assert_eq!(store.list_sessions(&ana()).await.unwrap().len(), 1);
    assert_eq!(desk.personal.first_run_link(&ana(), &desk.issuer).await.unwrap(), None);
    let (_, shown) = sign_in(&desk, "ana", ANAS).await;
    shown.expect(303);
}

/// Where others are the owners, starting a server makes nobody one.
#[tokio::test]
async fn a_server_of_owners_who_were_made_prints_no_link() {
    let directory = tempfile::TempDir::new().unwrap();
    let personal = pdpp_server::Personal::open(directory.path()).unwrap();
    personal.store().create_subject(&ana()).await.unwrap();
    let file = ConfigFile { listen: Some("127.0.0.1:0".parse().unwrap()), ..ConfigFile::default() };
    let server = Server::bind(personal, file.resolve().unwrap()).await.unwrap();
    assert_eq!(server.first_run_link(), None);
}
