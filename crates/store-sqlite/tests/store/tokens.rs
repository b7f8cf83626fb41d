//! Tokens and disclosures when several hands reach for them at once.

use std::sync::Arc;

use pdpp_access::Secret;
use pdpp_store::{
    Authority as _, Disclosure, DisclosureFilter, Door, IssueOutcome, Ledger as _, NewToken, TokenKind,
};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::{client_id, grant, sample};
use pdpp_wire::{Grant, Instant, TokenId};

use crate::support::{options, options_seeded};

fn token(secret: &str, kind: TokenKind) -> NewToken {
    NewToken {
        hash: Secret::presented(secret).hash(),
        token_id: TokenId::parse(format!("tok_{secret}")).unwrap(),
        subject_id: sample::subject(),
        kind,
        issued_at: Instant::from_micros(0),
        expires_at: None,
        resource: None,
        family_id: None,
    }
}

fn client(grant: &Grant) -> TokenKind {
    TokenKind::Client { client_id: client_id(), grant_ids: vec![grant.grant_id.clone()] }
}

fn single_use() -> Grant {
    grant(&sample::catalogue().sources[1]).stream("notes", &["id"]).single_use().build()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_ask_at_once_one_gets_the_single_use_token() {
    let home = tempfile::tempdir().unwrap();
    let stores: Vec<_> =
        (0..2).map(|seed| Arc::new(SqliteStore::open(home.path(), options_seeded(seed)).unwrap())).collect();
    let grant = single_use();
    stores[0].issue(std::slice::from_ref(&grant), &token("owner", TokenKind::Owner)).await.unwrap();
    let asking: Vec<_> = (0..20)
        .map(|n| {
            let (store, token) = (Arc::clone(&stores[n % 2]), token(&format!("s{n}"), client(&grant)));
            tokio::spawn(async move { store.issue_token(&token).await.unwrap() })
        })
        .collect();
    let mut issued = 0;
    for asked in asking {
        issued += usize::from(asked.await.unwrap() == IssueOutcome::Issued);
    }
    assert_eq!(issued, 1);
}

#[tokio::test]
async fn a_revocation_by_a_command_is_seen_by_the_server_at_once() {
    let home = tempfile::tempdir().unwrap();
    let server = SqliteStore::open(home.path(), options()).unwrap();
    let grant = grant(&sample::catalogue().sources[1]).stream("notes", &["id"]).build();
    server.issue(std::slice::from_ref(&grant), &token("s", client(&grant))).await.unwrap();
    let hash = Secret::presented("s").hash();
    assert_eq!(server.find_token(&hash).await.unwrap().unwrap().grants[0].revoked_at, None);
    let command = SqliteStore::open(home.path(), options_seeded(2)).unwrap();
    let at = Instant::from_micros(7);
    command.revoke_grant(&sample::subject(), &grant.grant_id, at).await.unwrap();
    assert_eq!(server.find_token(&hash).await.unwrap().unwrap().grants[0].revoked_at, Some(at));
}

#[tokio::test]
async fn the_secret_of_a_token_is_in_no_file() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let owner = NewToken { hash: Secret::presented(secret).hash(), ..token("owner", TokenKind::Owner) };
    store.issue(&[], &owner).await.unwrap();
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
}

fn entry(n: usize) -> Disclosure {
    Disclosure {
        at: Instant::from_micros(i64::try_from(n).unwrap()),
        subject_id: sample::subject(),
        request_id: format!("r{n}"),
        door: Door::Rest,
        client_id: Some(client_id()),
        grant_ids: Vec::new(),
        token_id: None,
        action: "records".to_owned(),
        refused: None,
        stream: None,
        connection_ids: Vec::new(),
        record_count: 1,
        record_keys: Vec::new(),
        fields: Vec::new(),
        char_range: None,
        query: None,
        filter_fields: Vec::new(),
        note: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn disclosures_of_two_processes_are_all_kept() {
    let home = tempfile::tempdir().unwrap();
    let stores: Vec<_> =
        (0..2).map(|seed| Arc::new(SqliteStore::open(home.path(), options_seeded(seed)).unwrap())).collect();
    let appending: Vec<_> = (0..400)
        .map(|n| {
            let (store, entry) = (Arc::clone(&stores[n % 2]), entry(n));
            tokio::spawn(async move { store.append_disclosures(vec![entry]).await.unwrap() })
        })
        .collect();
    for appended in appending {
        appended.await.unwrap();
    }
    let filter = DisclosureFilter { limit: 1_000, ..DisclosureFilter::default() };
    let kept = stores[0].list_disclosures(&sample::subject(), &filter).await.unwrap();
    let expected: Vec<_> = (0..400).rev().map(|n| format!("r{n}")).collect();
    assert_eq!(kept.into_iter().map(|entry| entry.request_id).collect::<Vec<_>>(), expected);
}

/// The requests of the entries in the ledger's tables, as another process sees them.
fn in_tables(home: &std::path::Path) -> Vec<String> {
    let ledger = rusqlite::Connection::open(home.join("ledger.db")).unwrap();
    let sql = "SELECT json_extract(entry, '$.request_id') FROM disclosures ORDER BY id";
    let mut statement = ledger.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn fresh_disclosures_are_kept_and_put_away_in_their_order() {
    let home = tempfile::tempdir().unwrap();
    let filter = DisclosureFilter { limit: 5_000, ..DisclosureFilter::default() };
    let store = SqliteStore::open(home.path(), options()).unwrap();
    store.append_disclosures(vec![entry(0), entry(1)]).await.unwrap();
    store.append_disclosures(vec![entry(2)]).await.unwrap();
    drop(store);
    assert!(in_tables(home.path()).is_empty());
    let store = SqliteStore::open(home.path(), options()).unwrap();
    store.append_disclosures(vec![entry(3)]).await.unwrap();
    let listed = store.list_disclosures(&sample::subject(), &filter).await.unwrap();
    assert_eq!(
        listed.iter().map(|entry| entry.request_id.as_str()).collect::<Vec<_>>(),
        ["r3", "r2", "r1", "r0"]
    );
    assert_eq!(in_tables(home.path()), ["r0", "r1", "r2", "r3"]);
    for n in 4..1_500 {
        store.append_disclosures(vec![entry(n)]).await.unwrap();
    }
    // Nobody looked, and most are in their tables all the same once the writer's thread came to it.
    drop(store);
    assert!(in_tables(home.path()).len() > 1_000);
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let pruned = store.prune_disclosures(&sample::subject(), Instant::from_micros(1_000)).await.unwrap();
    assert_eq!(pruned, 1_000);
    let listed = store.list_disclosures(&sample::subject(), &filter).await.unwrap();
    assert_eq!(listed.len(), 500);
    assert_eq!(listed[0], entry(1_499));
}

/// Another program on the same directory may write what this one does not know.
#[tokio::test]
async fn an_entry_that_cannot_be_read_keeps_no_other_from_being_listed() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let ledger = rusqlite::Connection::open(home.path().join("ledger.db")).unwrap();
    store.append_disclosures(vec![entry(0)]).await.unwrap();
    ledger.execute("INSERT INTO fresh_disclosures (entry) VALUES ('{\"door\":\"new\"}')", []).unwrap();
    store.append_disclosures(vec![entry(1)]).await.unwrap();
    let filter = DisclosureFilter { limit: 10, ..DisclosureFilter::default() };
    for _ in 0..2 {
        let listed = store.list_disclosures(&sample::subject(), &filter).await.unwrap();
        assert_eq!(listed, [entry(1), entry(0)]);
    }
    let waiting = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
    assert_eq!(ledger.query_row("SELECT count(*) FROM fresh_disclosures", [], waiting).unwrap(), 1);
    let findings = store.verify().await.unwrap();
    assert_eq!(findings, ["ledger.db: 1 entries cannot be read by this program"]);
}

/// Commands that read once and end would never put their entries away if each counted only its own.
#[tokio::test]
async fn entries_of_many_short_processes_are_put_away_too() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..26 {
        let store = SqliteStore::open(home.path(), options()).unwrap();
        store.append_disclosures((20 * n..20 * (n + 1)).map(entry).collect()).await.unwrap();
    }
    assert_eq!(in_tables(home.path()).len(), 520);
}

/// The owner has to see a grant, and end it, also while the ledger cannot be written to.
#[tokio::test]
async fn grants_are_listed_while_another_process_holds_the_ledger() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let grant = grant(&sample::catalogue().sources[1]).stream("notes", &["id"]).build();
    store.issue(std::slice::from_ref(&grant), &token("a", client(&grant))).await.unwrap();
    let read = |n| Disclosure { grant_ids: vec![grant.grant_id.clone()], ..entry(n) };
    store.append_disclosures(vec![read(3)]).await.unwrap();
    store.list_disclosures(&sample::subject(), &DisclosureFilter::default()).await.unwrap();
    store.append_disclosures(vec![read(7), entry(9)]).await.unwrap();
    let refused = Disclosure { refused: Some(pdpp_wire::Code::FieldNotGranted), ..read(8) };
    store.append_disclosures(vec![refused]).await.unwrap();
    let ledger = rusqlite::Connection::open(home.path().join("ledger.db")).unwrap();
    ledger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let listed = store.list_grants(&sample::subject()).await.unwrap();
    let last = Some(Instant::from_micros(7));
    assert_eq!(listed.iter().map(|grant| grant.last_used_at).collect::<Vec<_>>(), [last]);
    let found = store.find_grant(&sample::subject(), &grant.grant_id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, last);
}
