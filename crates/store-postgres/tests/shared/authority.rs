//! What one node revokes the others refuse, and what many try at once one of them does.

use futures_util::future::join_all;
use pdpp_access::{Secret, SecretHash};
use pdpp_store::{
    Approval, Authority as _, ClientPut, ClientSource, Decided, Events as _, Flow, IssueOutcome, NewFamily,
    NewRequest, NewToken, OAuth as _, Owners as _, Redeemed, Redemption, RegisteredClient, RequestHandle,
    Rotated, Rotation, Staged, TokenKind,
};
use pdpp_store_postgres::PostgresStore;
use pdpp_wire::{ApprovalId, ClientId, FamilyId, Grant, GrantId, Instant, SubjectId, TokenId};

use crate::patient;
use crate::support::{Kept, connect};

fn now() -> Instant {
    Instant::parse("2026-01-05").unwrap()
}

fn hash(text: &str) -> SecretHash {
    Secret::presented(text).hash()
}

fn subject(id: &str) -> SubjectId {
    SubjectId::parse(id).unwrap()
}

fn client() -> ClientId {
    ClientId::parse("reader").unwrap()
}

fn grant(owner: &str, mode: &str) -> Grant {
    let document = format!(
        r#"{{"version": "0.1.0", "grant_id": "grt_{owner}", "issued_at": "2026-01-01T00:00:00.000Z",
             "subject": {{"id": "{owner}"}}, "client": {{"client_id": "reader"}},
             "source": {{"kind": "connector", "id": "urn:pdpp:source:desk"}}, "source_declaration": {{"version": "1"}},
             "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "{mode}",
             "streams": [{{"name": "letters", "instance_ids": ["con_1"], "fields": ["id"]}}]}}"#
    );
    Grant::parse(&document).unwrap()
}

fn grant_id(owner: &str) -> GrantId {
    GrantId::parse(format!("grt_{owner}")).unwrap()
}

fn token(owner: &str, secret: &str) -> NewToken {
    NewToken {
        hash: hash(secret),
        token_id: TokenId::parse(format!("tok_{secret}")).unwrap(),
        subject_id: subject(owner),
        kind: TokenKind::Client { client_id: client(), grant_ids: vec![grant_id(owner)] },
        issued_at: now(),
        expires_at: Some(now().plus_seconds(600)),
        resource: None,
        family_id: Some(FamilyId::parse(format!("rtf_{owner}")).unwrap()),
    }
}

fn registered(security_hash: &str) -> RegisteredClient {
    RegisteredClient {
        client_id: client(),
        source: ClientSource::Dynamic,
        metadata: "{}".to_owned(),
        security_hash: security_hash.to_owned(),
        first_seen: now(),
        subject_id: None,
        registration_token: None,
    }
}

fn request(id: &str) -> NewRequest {
    NewRequest {
        approval_id: ApprovalId::parse(id).unwrap(),
        flow: Flow::Code,
        client_id: client(),
        pushed: None,
        consent: None,
        device_code: None,
        user_code: None,
        document: "{}".to_owned(),
        created_at: now(),
        expires_at: now().plus_seconds(300),
        interval: 5,
    }
}

fn approval(owner: &str) -> Approval {
    Approval {
        approval_id: ApprovalId::parse(owner).unwrap(),
        subject_id: subject(owner),
        grants: vec![grant(owner, "continuous")],
        callback_hosts: Vec::new(),
        code: Some(hash(&format!("{owner} code"))),
        redeem_until: now().plus_seconds(60),
        at: now(),
    }
}

fn redemption(owner: &str, secret: &str) -> Redemption {
    let token = token(owner, secret);
    let family = NewFamily {
        family_id: token.family_id.clone().unwrap(),
        subject_id: subject(owner),
        client_id: client(),
        kind: token.kind.clone(),
        resource: None,
        first: hash(&format!("{owner} r0")),
        created_at: now(),
        expires_at: now().plus_seconds(86_400),
    };
    Redemption { approval_id: ApprovalId::parse(owner).unwrap(), token, family: Some(family), at: now() }
}

/// An owner who gave the client access: token `<owner>a0`, refresh token `<owner> r0`.
async fn give_access(store: &PostgresStore, owner: &str) {
    assert_eq!(store.stage_request(&request(owner), 100).await.unwrap(), Staged::Kept);
    assert_eq!(store.approve_request(&approval(owner)).await.unwrap(), Decided::Done);
    let redeemed = store.redeem_request(&redemption(owner, &format!("{owner}a0"))).await.unwrap();
    assert_eq!(redeemed, Redeemed::Issued);
}

/// Whether the token opens anything: neither it nor its grant was revoked.
async fn opens(store: &PostgresStore, secret: &str) -> bool {
    let found = store.find_token(&hash(secret)).await.unwrap();
    found.is_some_and(|token| {
        token.revoked_at.is_none() && token.grants.iter().any(|grant| grant.revoked_at.is_none())
    })
}

#[tokio::test]
async fn what_one_node_revokes_every_node_refuses_at_once() {
    let kept = Kept::new();
    let (here, there) = (connect(&kept, patient()), connect(&kept, patient()));
    for owner in ["anna", "bela"] {
        give_access(&here, owner).await;
        assert!(opens(&there, &format!("{owner}a0")).await);
    }
    here.revoke_grant(&subject("anna"), &grant_id("anna"), now()).await.unwrap();
    assert!(!opens(&there, "annaa0").await);
    let presented = there.find_refresh(&hash("anna r0")).await.unwrap().unwrap();
    assert!(presented.family.revoked_at.is_some());
    there.revoke_token(&hash("belaa0"), now()).await.unwrap();
    assert!(!opens(&here, "belaa0").await);
}

#[tokio::test]
async fn of_many_who_decide_redeem_and_refresh_at_once_one_does() {
    let kept = Kept::new();
    let (here, there) = (connect(&kept, patient()), connect(&kept, patient()));
    let nodes: Vec<&PostgresStore> = [&here, &there].into_iter().cycle().take(8).collect();
    here.stage_request(&request("anna"), 100).await.unwrap();
    let yes = approval("anna");
    let decided = join_all(nodes.iter().map(|node| node.approve_request(&yes))).await;
    assert_eq!(decided.iter().filter(|decided| matches!(decided, Ok(Decided::Done))).count(), 1);
    assert_eq!(decided.iter().filter(|decided| matches!(decided, Ok(Decided::Conflict))).count(), 7);
    let redemptions: Vec<_> = (0..8).map(|n| redemption("anna", &format!("a{n}"))).collect();
    let redeemed = nodes.iter().zip(&redemptions).map(|(node, one)| node.redeem_request(one));
    let redeemed = join_all(redeemed).await;
    assert_eq!(redeemed.iter().filter(|one| matches!(one, Ok(Redeemed::Issued))).count(), 1);
    assert_eq!(redeemed.iter().filter(|one| matches!(one, Ok(Redeemed::Already))).count(), 7);
    let rotation = |n: usize| Rotation {
        family_id: FamilyId::parse("rtf_anna").unwrap(),
        seen_generation: 0,
        successor: Some(hash(&format!("successor {n}"))),
        token: token("anna", &format!("b{n}")),
        at: now(),
    };
    let rotations: Vec<_> = (0..8).map(rotation).collect();
    let rotated = join_all(nodes.iter().zip(&rotations).map(|(node, one)| node.rotate_refresh(one))).await;
    assert_eq!(rotated.iter().filter(|one| matches!(one, Ok(Rotated::Done))).count(), 1);
    assert_eq!(rotated.iter().filter(|one| matches!(one, Ok(Rotated::Overtaken))).count(), 7);
}

#[tokio::test]
async fn of_many_who_ask_at_once_a_single_use_grant_gives_one_a_token_and_a_link_one_the_store() {
    let kept = Kept::new();
    let (here, there) = (connect(&kept, patient()), connect(&kept, patient()));
    let nodes: Vec<&PostgresStore> = [&here, &there].into_iter().cycle().take(8).collect();
    let owners_own = NewToken { kind: TokenKind::Owner, family_id: None, ..token("anna", "own") };
    here.issue(&[grant("anna", "single_use")], &owners_own).await.unwrap();
    let tokens: Vec<_> = (0..8).map(|n| token("anna", &format!("t{n}"))).collect();
    let issued = join_all(nodes.iter().zip(&tokens).map(|(node, token)| node.issue_token(token))).await;
    assert_eq!(issued.iter().filter(|one| matches!(one, Ok(IssueOutcome::Issued))).count(), 1);
    assert_eq!(issued.iter().filter(|one| matches!(one, Ok(IssueOutcome::Consumed))).count(), 7);
    let anna = subject("anna");
    here.put_first_run(&anna, &hash("link"), now().plus_seconds(60)).await.unwrap();
    let link = hash("link");
    let claimed = join_all(nodes.iter().map(|node| node.claim_first_run(&anna, &link, "phc", now()))).await;
    assert_eq!(claimed.iter().filter(|one| matches!(one, Ok(true))).count(), 1);
    let keys = join_all(nodes.iter().map(|node| node.count_attempt("anna", 60, now()))).await;
    let most = keys.into_iter().map(|counted| counted.unwrap().count).max();
    assert_eq!(most, Some(8), "every attempt counts, on whichever node");
}

#[tokio::test]
async fn no_more_requests_wait_than_are_allowed_on_all_nodes_together() {
    let kept = Kept::new();
    let (here, there) = (connect(&kept, patient()), connect(&kept, patient()));
    let requests: Vec<_> = (0..12).map(|n| request(&format!("r{n}"))).collect();
    let nodes = [&here, &there].into_iter().cycle();
    let staged = join_all(nodes.zip(&requests).map(|(node, one)| node.stage_request(one, 5))).await;
    assert_eq!(staged.iter().filter(|one| matches!(one, Ok(Staged::Kept))).count(), 5);
    assert_eq!(here.list_requests(now()).await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_client_that_changes_or_goes_loses_its_access_of_every_owner() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    store.put_client(&registered("one"), now()).await.unwrap();
    for owner in ["anna", "bela", "cora"] {
        give_access(&store, owner).await;
    }
    let host = "hooks.example.org";
    store.allow_callback(&subject("dora"), &client(), host, now()).await.unwrap();
    assert_eq!(store.put_client(&registered("two"), now()).await.unwrap(), ClientPut::Changed);
    for owner in ["anna", "bela", "cora"] {
        assert!(!opens(&store, &format!("{owner}a0")).await, "{owner}");
        let family = store.find_refresh(&hash(&format!("{owner} r0"))).await.unwrap().unwrap().family;
        assert_eq!(family.revoked_at, Some(now()), "{owner}");
        let handle = RequestHandle::Code(hash(&format!("{owner} code")));
        assert_eq!(store.find_request(&handle).await.unwrap(), None, "{owner}");
    }
    assert!(!store.is_callback_allowed(&subject("dora"), &client(), host).await.unwrap());
    assert_eq!(store.put_client(&registered("two"), now()).await.unwrap(), ClientPut::Known);
    give_access(&store, "emil").await;
    assert!(opens(&store, "emila0").await, "what is given afterwards stays");
    assert!(store.remove_client(&client(), now()).await.unwrap());
    assert!(!opens(&store, "emila0").await);
    let left = "SET pdpp.subject = ''; SELECT count(*) FROM client_owners";
    assert_eq!(kept.database.ask(left), "0", "nobody is listed any more");
}

#[tokio::test]
async fn what_is_pruned_is_gone_from_the_directory_too() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    give_access(&store, "anna").await;
    let handles = || kept.database.ask("SELECT count(*) FROM directory");
    assert_eq!(handles(), "3", "a token, a family and its member");
    store.prune_oauth(now().plus_seconds(2 * 86_400)).await.unwrap();
    assert_eq!(handles(), "2", "the token has ended");
    store.prune_oauth(now().plus_seconds(40 * 86_400)).await.unwrap();
    assert_eq!(handles(), "0");
    let counts = "SET pdpp.subject = '*'; SELECT (SELECT count(*) FROM token_grants)
        + (SELECT count(*) FROM refresh_family_grants) + (SELECT count(*) FROM refresh_tokens)
        + (SELECT count(*) FROM oauth_request_grants)";
    assert_eq!(kept.database.ask(counts), "0");
}
