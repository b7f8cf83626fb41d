//! Grants and tokens: issued together, consumed once, revoked at once.

use std::sync::Arc;

use pdpp_access::{Secret, SecretHash};
use pdpp_wire::{ClientId, Grant, GrantId, TokenId};

use super::world::{World, subject, time};
use crate::{Disclosure, Door, IssueOutcome, NewToken, Store, StoredGrant, TokenKind};

fn hash(text: &str) -> SecretHash {
    Secret::presented(text).hash()
}

fn grant_id(id: &str) -> GrantId {
    GrantId::parse(id).expect("a plain id")
}

fn token(world: &World, secret: &str, grants: &[&str]) -> NewToken {
    NewToken {
        hash: hash(secret),
        token_id: TokenId::parse(format!("tok_{secret}")).expect("a plain id"),
        subject_id: world.subject.clone(),
        kind: TokenKind::Client {
            client_id: ClientId::parse("reader").expect("a plain id"),
            grant_ids: grants.iter().map(|id| grant_id(id)).collect(),
        },
        issued_at: time("2026-01-01"),
        expires_at: Some(time("2026-02-01")),
        resource: None,
        family_id: None,
    }
}

fn owner_token(world: &World, secret: &str) -> NewToken {
    NewToken { kind: TokenKind::Owner, expires_at: None, ..token(world, secret, &[]) }
}

async fn issue(world: &World, grants: &[Grant], token: &NewToken) {
    world.store.issue(grants, token).await.expect("grants are issued");
}

/// Looks for a grant in both ways.
async fn find(world: &World, id: &str) -> Option<StoredGrant> {
    let found = world.store.find_grant(&world.subject, &grant_id(id)).await.expect("grants are looked for");
    let standing = world.store.find_standing(&world.subject, &grant_id(id)).await;
    assert_eq!(standing.expect("grants are looked for"), found.as_ref().map(|grant| grant.standing.clone()));
    found
}

pub async fn a_token_is_recognised_by_its_hash_alone(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let (first, second) =
        (world.grant_value("grt_z", "continuous"), world.grant_value("grt_a", "continuous"));
    issue(&world, &[first.clone(), second], &token(&world, "s1", &["grt_z", "grt_a"])).await;
    let found = world.store.find_token(&hash("s1")).await.expect("tokens are looked for");
    let found = found.expect("the token is known");
    assert_eq!(found.kind, token(&world, "s1", &["grt_z", "grt_a"]).kind);
    assert_eq!((&found.subject_id, found.token_id.as_str()), (&world.subject, "tok_s1"));
    assert_eq!((found.expires_at, found.revoked_at), (Some(time("2026-02-01")), None));
    let ids: Vec<_> = found
        .grants
        .iter()
        .map(|standing| Grant::parse(&standing.document).expect("grants are kept whole").grant_id)
        .collect();
    assert_eq!(ids, [grant_id("grt_z"), grant_id("grt_a")], "in the order they were given");
    assert_eq!(Grant::parse(&found.grants[0].document).expect("grants are kept whole"), first);
    for stranger in ["s2", "tok_s1", ""] {
        let found = world.store.find_token(&hash(stranger)).await.expect("tokens are looked for");
        assert_eq!(found, None, "{stranger:?}");
    }
}

pub async fn a_single_use_grant_gives_one_token(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_once", "single_use")], &token(&world, "s1", &["grt_once"])).await;
    assert!(find(&world, "grt_once").await.expect("the grant is kept").consumed);
    let again = world.store.issue_token(&token(&world, "s2", &["grt_once"])).await;
    assert_eq!(again.expect("tokens are issued"), IssueOutcome::Consumed);
    let refused = world.store.find_token(&hash("s2")).await.expect("tokens are looked for");
    assert_eq!(refused, None);
}

pub async fn a_continuous_grant_gives_many_tokens(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_1", "continuous")], &token(&world, "s1", &["grt_1"])).await;
    let again = world.store.issue_token(&token(&world, "s2", &["grt_1"])).await;
    assert_eq!(again.expect("tokens are issued"), IssueOutcome::Issued);
    for secret in ["s1", "s2"] {
        let found = world.store.find_token(&hash(secret)).await.expect("tokens are looked for");
        assert_eq!(found.expect("the token is known").grants.len(), 1, "{secret}");
    }
    assert!(!find(&world, "grt_1").await.expect("the grant is kept").consumed);
}

pub async fn a_token_for_an_unknown_grant_is_not_issued(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_1", "continuous")], &token(&world, "s1", &["grt_1"])).await;
    let outcome = world.store.issue_token(&token(&world, "s2", &["grt_1", "grt_2"])).await;
    assert_eq!(outcome.expect("tokens are issued"), IssueOutcome::UnknownGrant);
    assert_eq!(world.store.find_token(&hash("s2")).await.expect("tokens are looked for"), None);
}

pub async fn grants_and_token_are_stored_together_or_not_at_all(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let old = world.grant_value("grt_old", "continuous");
    issue(&world, std::slice::from_ref(&old), &token(&world, "s1", &["grt_old"])).await;
    let new = world.grant_value("grt_new", "continuous");
    let twice = world.store.issue(&[new, old], &token(&world, "s2", &["grt_new", "grt_old"])).await;
    assert!(twice.is_err(), "a grant's id is its own");
    assert_eq!(find(&world, "grt_new").await, None);
    assert_eq!(world.store.find_token(&hash("s2")).await.expect("tokens are looked for"), None);
}

pub async fn a_revocation_shows_at_once_and_keeps_its_time(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_1", "continuous")], &token(&world, "s1", &["grt_1"])).await;
    let revoke = async |id: &str, at: &str| {
        let before = world.store.revoke_grant(&world.subject, &grant_id(id), time(at)).await;
        before.expect("grants are revoked").map(|before| before.standing.revoked_at)
    };
    assert_eq!(revoke("grt_none", "2026-01-05").await, None, "there is no such grant");
    assert_eq!(revoke("grt_1", "2026-01-05").await, Some(None), "it had not been revoked");
    let found = world.store.find_token(&hash("s1")).await.expect("tokens are looked for");
    let found = found.expect("the token is known");
    assert_eq!(found.grants[0].revoked_at, Some(time("2026-01-05")));
    assert_eq!(revoke("grt_1", "2026-01-09").await, Some(Some(time("2026-01-05"))));
    let kept = find(&world, "grt_1").await.expect("the grant is kept");
    assert_eq!(kept.standing.revoked_at, Some(time("2026-01-05")));
}

pub async fn owner_tokens_are_revoked_without_touching_clients(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_1", "continuous")], &token(&world, "s1", &["grt_1"])).await;
    issue(&world, &[], &owner_token(&world, "o1")).await;
    issue(&world, &[], &owner_token(&world, "o2")).await;
    let revoked_at = async |secret: &str| {
        let found = world.store.find_token(&hash(secret)).await.expect("tokens are looked for");
        found.expect("the token is known").revoked_at
    };
    let found = world.store.find_token(&hash("o1")).await.expect("tokens are looked for");
    assert_eq!(found.expect("the token is known").kind, TokenKind::Owner);
    let revoke = world.store.revoke_owner_tokens(&world.subject, time("2026-01-05")).await;
    assert_eq!(revoke.expect("tokens are revoked"), 2);
    assert_eq!(revoked_at("o1").await, Some(time("2026-01-05")));
    assert_eq!(revoked_at("s1").await, None);
    let again = world.store.revoke_owner_tokens(&world.subject, time("2026-01-06")).await;
    assert_eq!(again.expect("tokens are revoked"), 0);
}

pub async fn grants_are_listed_newest_first(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for (id, issued_at) in [("grt_b", "2026-01-02"), ("grt_c", "2026-01-03"), ("grt_a", "2026-01-01")] {
        let mut grant = world.grant_value(id, "continuous");
        grant.issued_at = issued_at.to_owned();
        issue(&world, &[grant], &token(&world, id, &[id])).await;
    }
    let listed = world.store.list_grants(&world.subject).await.expect("grants are listed");
    let ids: Vec<_> = listed.iter().map(|grant| grant.grant_id.as_str()).collect();
    assert_eq!(ids, ["grt_c", "grt_b", "grt_a"]);
}

pub async fn another_subject_has_no_say(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_1", "continuous")], &token(&world, "s1", &["grt_1"])).await;
    let (other, id) = (subject("someone_else"), grant_id("grt_1"));
    assert_eq!(world.store.find_grant(&other, &id).await.expect("grants are looked for"), None);
    assert_eq!(world.store.find_standing(&other, &id).await.expect("grants are looked for"), None);
    assert!(world.store.list_grants(&other).await.expect("grants are listed").is_empty());
    let revoked = world.store.revoke_grant(&other, &id, time("2026-01-05")).await;
    assert_eq!(revoked.expect("grants are revoked"), None);
    let theirs = NewToken { subject_id: other, ..token(&world, "s2", &["grt_1"]) };
    let outcome = world.store.issue_token(&theirs).await.expect("tokens are issued");
    assert_eq!(outcome, IssueOutcome::UnknownGrant);
    assert_eq!(find(&world, "grt_1").await.expect("the grant is kept").standing.revoked_at, None);
}

pub async fn a_served_read_is_the_last_use_of_its_grant(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    issue(&world, &[world.grant_value("grt_1", "continuous")], &token(&world, "s1", &["grt_1"])).await;
    assert_eq!(find(&world, "grt_1").await.expect("the grant is kept").last_used_at, None);
    let read = |at: &str, refused| Disclosure {
        at: time(at),
        refused,
        ..super::ledger::disclosure(&world.subject, Door::Rest, &["grt_1"])
    };
    let refusal = Some(pdpp_wire::Code::FieldNotGranted);
    let entries = vec![read("2026-01-02", None), read("2026-01-03", None), read("2026-01-04", refusal)];
    world.store.append_disclosures(entries).await.expect("disclosures are kept");
    let used = find(&world, "grt_1").await.expect("the grant is kept").last_used_at;
    assert_eq!(used, Some(time("2026-01-03")));
}

pub async fn a_passphrase_is_kept_per_subject_and_replaced(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let find = async |who: &str| {
        world.store.find_passphrase(&subject(who)).await.expect("passphrases are looked for")
    };
    assert_eq!(find("owner_local").await, None);
    for phc in ["$argon2id$one", "$argon2id$two"] {
        world.store.set_passphrase(&world.subject, phc).await.expect("passphrases are kept");
        assert_eq!(find("owner_local").await.as_deref(), Some(phc));
    }
    assert_eq!(find("someone_else").await, None);
}
