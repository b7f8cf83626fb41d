//! Issuing, recognising and revoking, over a store with the sample archive.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use pdpp_access::{AuthError, Clock as _, Denial, Principal, Secret, TokenAuthority as _};
use pdpp_auth::{
    AuthFault, DEFAULT_PURPOSE, GrantOrder, GrantState, Issued, LocalAuthority, Revocation, SelectionArgs,
    TokenOrder, local_client_id, parse_selections, state_of_grant,
};
use pdpp_store::{Authority as _, Store};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, SeededEntropy, sample};
use pdpp_wire::{AccessMode, Code, GrantId, Instant, SubjectId};

struct Office {
    store: Arc<SqliteStore>,
    clock: Arc<FixedClock>,
    authority: LocalAuthority,
    subject: SubjectId,
}

impl Office {
    async fn open() -> Self {
        let (clock, entropy) = (Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
        let store = SqliteStore::in_memory(Options::new(clock.clone(), entropy.clone())).unwrap();
        let store = Arc::new(store);
        let loaded = sample::loaded(&*store).await;
        let authority = LocalAuthority::new(Arc::clone(&store) as Arc<dyn Store>, clock.clone(), entropy);
        Self { store, clock, authority, subject: loaded.subject_id }
    }

    async fn order(&self, streams: &[&str], mode: AccessMode, seconds: Option<i64>) -> GrantOrder {
        let catalogue = pdpp_store::Catalogues::catalogue(&*self.store, &self.subject).await.unwrap();
        let streams: Vec<_> = streams.iter().map(|typed| (*typed).to_owned()).collect();
        let args = SelectionArgs {
            streams: &streams,
            connection: None,
            since: None,
            until: None,
            purpose_code: DEFAULT_PURPOSE,
            purpose_description: None,
            access_mode: mode,
        };
        GrantOrder {
            client_id: local_client_id("Assistant"),
            selections: parse_selections(&catalogue, &args).unwrap(),
            expires_at: seconds.map(|seconds| self.clock.now().plus_seconds(seconds)),
        }
    }

    async fn issue(&self, streams: &[&str], mode: AccessMode, seconds: Option<i64>) -> Issued {
        let order = self.order(streams, mode, seconds).await;
        self.authority.create_grants(&self.subject, order).await.unwrap()
    }

    /// Who a token stands for, in words.
    async fn who(&self, token: &Secret) -> String {
        match self.authority.introspect(token).await {
            Ok(Principal::Owner(_)) => "owner".to_owned(),
            Ok(Principal::Client(client)) => format!("{} with {}", client.client_id(), client.grants().len()),
            Err(AuthError::Denied(denial) | AuthError::TurnedAway(_, denial)) => denial.code.to_string(),
            Err(AuthError::Unavailable(error)) => panic!("{error}"),
        }
    }

    async fn revoke(&self, id: &GrantId) -> Revocation {
        self.authority.revoke(&self.subject, id).await.unwrap()
    }
}

fn denial<T: std::fmt::Debug>(outcome: Result<T, AuthFault>) -> Denial {
    match outcome {
        Err(AuthFault::Denied(denial)) => denial,
        other => panic!("a denial was expected, not {other:?}"),
    }
}

#[tokio::test]
async fn one_order_is_one_grant_per_source_and_one_token() {
    let office = Office::open().await;
    let issued = office.issue(&["Home/messages:text", "notes"], AccessMode::Continuous, Some(60)).await;
    let sources: Vec<_> = issued.grants.iter().map(|grant| grant.source.id.as_str()).collect();
    assert_eq!(sources, ["urn:pdpp:source:chat", "urn:pdpp:source:notes"]);
    assert_eq!(issued.grants[0].streams[0].fields, ["id", "text"], "required fields are added");
    assert_eq!(issued.access_token.reveal().len(), 64);
    assert_eq!(issued.expires_at, Some(office.clock.now().plus_seconds(60)));
    assert_eq!(office.who(&issued.access_token).await, "local-assistant with 2");
    let listed = office.authority.list(&office.subject).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|stored| state_of_grant(stored, office.clock.now()) == GrantState::Active));
}

#[tokio::test]
async fn strangers_are_not_recognised() {
    let office = Office::open().await;
    let issued = office.issue(&["notes"], AccessMode::Continuous, None).await;
    for text in ["", "x", issued.token_id.as_str(), issued.grants[0].grant_id.as_str(), &"0".repeat(64)] {
        assert_eq!(office.who(&Secret::presented(text)).await, "authentication_error", "{text:?}");
    }
}

#[tokio::test]
async fn a_revocation_bites_on_the_next_call() {
    let office = Office::open().await;
    let issued = office.issue(&["Home/messages", "notes"], AccessMode::Continuous, None).await;
    let ids: Vec<_> = issued.grants.iter().map(|grant| &grant.grant_id).collect();
    assert_eq!(office.revoke(ids[0]).await, Revocation::Now);
    assert_eq!(office.who(&issued.access_token).await, "local-assistant with 1");
    assert_eq!(office.revoke(ids[0]).await, Revocation::Before(office.clock.now()));
    assert_eq!(office.revoke(ids[1]).await, Revocation::Now);
    assert_eq!(office.who(&issued.access_token).await, "grant_revoked");
    let unknown = GrantId::parse("grt_none").unwrap();
    assert_eq!(denial(office.authority.revoke(&office.subject, &unknown).await).code, Code::NotFound);
    let stored = office.authority.find(&office.subject, ids[0]).await.unwrap().unwrap();
    assert_eq!(state_of_grant(&stored, office.clock.now()), GrantState::Revoked);
}

#[tokio::test]
async fn a_token_ends_at_its_time() {
    let office = Office::open().await;
    let issued = office.issue(&["notes"], AccessMode::Continuous, Some(60)).await;
    office.clock.advance_seconds(59);
    assert_eq!(office.who(&issued.access_token).await, "local-assistant with 1");
    office.clock.advance_seconds(1);
    assert_eq!(office.who(&issued.access_token).await, "authentication_error");
    let id = &issued.grants[0].grant_id;
    let stored = office.authority.find(&office.subject, id).await.unwrap().unwrap();
    assert_eq!(state_of_grant(&stored, office.clock.now()), GrantState::Expired);
}

#[tokio::test]
async fn expired_members_drop_out_of_a_token_that_still_lives() {
    let office = Office::open().await;
    let short = office.issue(&["notes"], AccessMode::Continuous, Some(60)).await;
    let long = office.issue(&["Home/messages"], AccessMode::Continuous, Some(600)).await;
    let grant_ids = [&short, &long].map(|issued| issued.grants[0].grant_id.clone()).to_vec();
    let order = TokenOrder { grant_ids, expires_at: None };
    let both = office.authority.reissue_token(&office.subject, order).await.unwrap();
    assert_eq!(both.expires_at, long.expires_at);
    assert_eq!(office.who(&both.access_token).await, "local-assistant with 2");
    office.clock.advance_seconds(60);
    assert_eq!(office.who(&both.access_token).await, "local-assistant with 1");
    office.revoke(&long.grants[0].grant_id).await;
    assert_eq!(
        office.who(&both.access_token).await,
        "grant_revoked",
        "a revocation says more than an expiry"
    );
}

#[tokio::test]
async fn a_single_use_grant_gives_no_second_token() {
    let office = Office::open().await;
    let issued = office.issue(&["notes"], AccessMode::SingleUse, Some(60)).await;
    assert_eq!(office.who(&issued.access_token).await, "local-assistant with 1");
    assert_eq!(office.who(&issued.access_token).await, "local-assistant with 1", "reading does not consume");
    let order = TokenOrder { grant_ids: vec![issued.grants[0].grant_id.clone()], expires_at: None };
    let again = office.authority.reissue_token(&office.subject, order).await;
    assert_eq!(denial(again).code, Code::GrantConsumed);
}

#[tokio::test]
async fn a_further_token_never_outlives_its_grant() {
    let office = Office::open().await;
    let issued = office.issue(&["notes"], AccessMode::Continuous, Some(600)).await;
    let ask = async |seconds: Option<i64>| {
        let expires_at = seconds.map(|seconds| office.clock.now().plus_seconds(seconds));
        let order = TokenOrder { grant_ids: vec![issued.grants[0].grant_id.clone()], expires_at };
        office.authority.reissue_token(&office.subject, order).await
    };
    assert_eq!(ask(None).await.unwrap().expires_at, issued.expires_at);
    assert_eq!(ask(Some(9_999)).await.unwrap().expires_at, issued.expires_at);
    assert_eq!(ask(Some(60)).await.unwrap().expires_at, Some(office.clock.now().plus_seconds(60)));
    assert_eq!(denial(ask(Some(0)).await).code, Code::InvalidArgument);
    office.revoke(&issued.grants[0].grant_id).await;
    assert_eq!(denial(ask(None).await).code, Code::GrantRevoked);
}

#[tokio::test]
async fn grants_that_do_not_belong_together_are_refused() {
    let office = Office::open().await;
    let mut order = office.order(&["notes"], AccessMode::Continuous, None).await;
    order.selections.extend(order.selections.clone());
    let overlap = denial(office.authority.create_grants(&office.subject, order).await);
    assert_eq!(overlap.code, Code::InvalidAuthorizationDetails);
    let mut order = office.order(&["notes", "Home/messages"], AccessMode::Continuous, None).await;
    order.selections[1].access_mode = AccessMode::SingleUse;
    let mixed = denial(office.authority.create_grants(&office.subject, order).await);
    assert_eq!(mixed.code, Code::InvalidAuthorizationDetails);
    let order = office.order(&["notes"], AccessMode::Continuous, Some(-1)).await;
    let over = denial(office.authority.create_grants(&office.subject, order).await);
    assert_eq!(over.code, Code::InvalidArgument);
    let mut order = office.order(&["notes"], AccessMode::Continuous, None).await;
    order.selections.clear();
    denial(office.authority.create_grants(&office.subject, order).await);
    assert!(office.authority.list(&office.subject).await.unwrap().is_empty(), "nothing was kept");
}

#[tokio::test]
async fn an_owner_token_opens_everything_until_the_owner_resets() {
    let office = Office::open().await;
    let expires_at = Some(office.clock.now().plus_seconds(3_600));
    let owner = office.authority.owner_token(&office.subject, expires_at).await.unwrap();
    let client = office.issue(&["notes"], AccessMode::Continuous, None).await;
    assert_eq!(office.who(&owner.access_token).await, "owner");
    let reset =
        office.authority.reset_owner(&office.subject, &Secret::presented("open sesame")).await.unwrap();
    assert_eq!(reset.revoked_tokens, 1);
    assert_eq!(office.who(&owner.access_token).await, "authentication_error");
    assert_eq!(office.who(&client.access_token).await, "local-assistant with 1");
}

#[tokio::test]
async fn a_passphrase_is_asked_for_once_it_is_set() {
    let office = Office::open().await;
    let (authority, subject) = (&office.authority, &office.subject);
    let (right, wrong) = (Secret::presented("open sesame"), Secret::presented("open barley"));
    assert!(!authority.has_passphrase(subject).await.unwrap());
    assert!(!authority.verify_passphrase(subject, &right).await.unwrap());
    authority.set_passphrase(subject, &right).await.unwrap();
    assert!(authority.has_passphrase(subject).await.unwrap());
    assert!(authority.verify_passphrase(subject, &right).await.unwrap());
    assert!(!authority.verify_passphrase(subject, &wrong).await.unwrap());
    let short = authority.set_passphrase(subject, &Secret::presented("short")).await;
    assert_eq!(denial(short).code, Code::InvalidArgument);
    assert!(authority.verify_passphrase(subject, &right).await.unwrap(), "the old one stays");
}

#[tokio::test]
async fn no_secret_lies_in_the_store() {
    let office = Office::open().await;
    let issued = office.issue(&["notes"], AccessMode::Continuous, None).await;
    let stored = office.store.find_token(&issued.access_token.hash()).await.unwrap().unwrap();
    assert!(!format!("{stored:?}").contains(issued.access_token.reveal()));
    assert!(!format!("{issued:?}").contains(issued.access_token.reveal()), "nor does a log line show it");
    assert_eq!(stored.expires_at.map(Instant::micros), None);
}
