//! What promises about the authorization server share: requests, approvals, tokens and their families.

use pdpp_access::{Secret, SecretHash};
use pdpp_wire::{ApprovalId, ClientId, FamilyId, Grant, GrantId, Instant, TokenId};

use super::world::{World, time};
use crate::{
    Approval, ClientSource, Decided, Flow, NewFamily, NewRequest, NewToken, Redeemed, Redemption,
    RegisteredClient, Rotated, Rotation, Staged, StoredToken, TokenKind,
};

pub(super) const DAY: &str = "2026-01-05";

pub(super) fn hash(text: &str) -> SecretHash {
    Secret::presented(text).hash()
}

pub(super) fn now() -> Instant {
    time(DAY)
}

pub(super) fn approval(id: &str) -> ApprovalId {
    ApprovalId::parse(id).expect("a plain id")
}

pub(super) fn client() -> ClientId {
    ClientId::parse("reader").expect("a plain id")
}

pub(super) fn request(id: &str, flow: Flow) -> NewRequest {
    NewRequest {
        approval_id: approval(id),
        flow,
        client_id: client(),
        pushed: Some(hash(&format!("{id} pushed"))),
        consent: Some(hash(&format!("{id} consent"))),
        device_code: Some(hash(&format!("{id} device"))),
        user_code: Some(hash(&format!("{id} user"))),
        document: "{}".to_owned(),
        created_at: now(),
        expires_at: now().plus_seconds(300),
        interval: 2,
    }
}

pub(super) async fn stage(world: &World, id: &str, flow: Flow) {
    let staged = world.store.stage_request(&request(id, flow), 100).await;
    assert_eq!(staged.expect("requests are kept"), Staged::Kept);
}

pub(super) fn yes(world: &World, id: &str, grants: Vec<Grant>) -> Approval {
    Approval {
        approval_id: approval(id),
        subject_id: world.subject.clone(),
        grants,
        callback_hosts: Vec::new(),
        code: Some(hash(&format!("{id} code"))),
        redeem_until: now().plus_seconds(60),
        at: now(),
    }
}

pub(super) async fn approve(world: &World, id: &str, mode: &str) {
    let grant = world.grant_value(&format!("grt_{id}"), mode);
    let decided = world.store.approve_request(&yes(world, id, vec![grant])).await;
    assert_eq!(decided.expect("requests are decided"), Decided::Done);
}

pub(super) fn token(world: &World, id: &str, secret: &str) -> NewToken {
    NewToken {
        hash: hash(secret),
        token_id: TokenId::parse(format!("tok_{secret}")).expect("a plain id"),
        subject_id: world.subject.clone(),
        kind: TokenKind::Client {
            client_id: client(),
            grant_ids: vec![GrantId::parse(format!("grt_{id}")).expect("a plain id")],
        },
        issued_at: now(),
        expires_at: Some(now().plus_seconds(600)),
        resource: Some("https://data.test".to_owned()),
        family_id: Some(family_id(id)),
    }
}

pub(super) fn family_id(id: &str) -> FamilyId {
    FamilyId::parse(format!("rtf_{id}")).expect("a plain id")
}

pub(super) fn redemption(world: &World, id: &str, secret: &str, at: Instant) -> Redemption {
    let token = token(world, id, secret);
    let family = NewFamily {
        family_id: family_id(id),
        subject_id: world.subject.clone(),
        client_id: client(),
        kind: token.kind.clone(),
        resource: token.resource.clone(),
        first: hash(&format!("{id} r0")),
        created_at: at,
        expires_at: now().plus_seconds(86_400),
    };
    Redemption { approval_id: approval(id), token, family: Some(family), at }
}

/// A request that was approved and redeemed: access token `<id>a0`, refresh token `<id> r0`.
pub(super) async fn redeemed(world: &World, id: &str) {
    stage(world, id, Flow::Code).await;
    approve(world, id, "continuous").await;
    let outcome = world.store.redeem_request(&redemption(world, id, &format!("{id}a0"), now())).await;
    assert_eq!(outcome.expect("requests are redeemed"), Redeemed::Issued);
}

pub(super) async fn find_token(world: &World, secret: &str) -> Option<StoredToken> {
    world.store.find_token(&hash(secret)).await.expect("tokens are looked for")
}

pub(super) async fn is_alive(world: &World, secret: &str) -> bool {
    find_token(world, secret).await.is_some_and(|token| token.revoked_at.is_none())
}

pub(super) fn rotation(world: &World, id: &str, generation: u64) -> Rotation {
    Rotation {
        family_id: family_id(id),
        seen_generation: generation,
        successor: Some(hash(&format!("{id} r{}", generation + 1))),
        token: token(world, id, &format!("{id}a{}", generation + 1)),
        at: now(),
    }
}

pub(super) async fn rotate(world: &World, rotation: &Rotation) -> Rotated {
    world.store.rotate_refresh(rotation).await.expect("refresh tokens are rotated")
}

pub(super) fn registered(security_hash: &str) -> RegisteredClient {
    RegisteredClient {
        client_id: client(),
        source: ClientSource::Dynamic,
        metadata: "{}".to_owned(),
        security_hash: security_hash.to_owned(),
        first_seen: now(),
        subject_id: None,
        registration_token: Some(hash("manage")),
    }
}
