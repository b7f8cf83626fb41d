//! Promises about owners, the link of a first run and passkeys.

use std::sync::Arc;

use pdpp_access::{Secret, SecretHash};
use pdpp_wire::{Instant, SubjectId};

use crate::{Store, StoredPasskey};

fn owner() -> SubjectId {
    SubjectId::parse("owner_local").expect("a plain id")
}

fn hash(text: &str) -> SecretHash {
    Secret::presented(text).hash()
}

fn at(seconds: i64) -> Instant {
    Instant::from_micros(1_700_000_000_000_000).plus_seconds(seconds)
}

fn named(name: &str) -> SubjectId {
    SubjectId::parse(name).expect("a plain id")
}

pub async fn an_owner_is_made_once_and_listed_by_name(store: Arc<dyn Store>) {
    let list = async |after: Option<&str>, limit| {
        let after = after.map(named);
        let listed = store.list_subjects(after.as_ref(), limit).await.expect("owners are listed");
        listed.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(list(None, 10).await, [""; 0]);
    for name in ["cleo", "ana", "ben"] {
        assert!(!store.has_subject(&named(name)).await.expect("owners are looked for"));
        assert!(store.create_subject(&named(name)).await.expect("owners are made"));
        assert!(store.has_subject(&named(name)).await.expect("owners are looked for"));
    }
    assert!(!store.create_subject(&named("ben")).await.expect("owners are made"), "a name is taken once");
    assert_eq!(list(None, 2).await, ["ana", "ben"]);
    assert_eq!(list(Some("ben"), 2).await, ["cleo"]);
    assert_eq!(list(Some("b"), 10).await, ["ben", "cleo"]);
    assert!(!store.has_subject(&named("be")).await.expect("owners are looked for"));
    let head = store.log_head(&named("ana")).await.expect("an owner who has nothing has a log");
    assert_eq!(head, 0);
}

pub async fn whoever_has_a_passphrase_or_records_is_an_owner(store: Arc<dyn Store>) {
    store.set_passphrase(&named("guarded"), "phc").await.expect("passphrases are set");
    let world = super::world::World::of(Arc::clone(&store), "writer").await;
    let listed = store.list_subjects(None, 10).await.expect("owners are listed");
    assert_eq!(listed, [named("guarded"), world.subject.clone()]);
    for owner in listed {
        assert!(store.has_subject(&owner).await.expect("owners are looked for"));
        assert!(!store.create_subject(&owner).await.expect("owners are made"));
    }
}

async fn put_link(store: &dyn Store, link: &str) -> bool {
    store.put_first_run(&owner(), &hash(link), at(100)).await.expect("links are kept")
}

async fn claim(store: &dyn Store, link: &str, seconds: i64) -> bool {
    let claimed = store.claim_first_run(&owner(), &hash(link), "phc of the first", at(seconds)).await;
    claimed.expect("links are claimed")
}

pub async fn a_first_run_link_makes_an_owner_once(store: Arc<dyn Store>) {
    assert!(put_link(&*store, "one").await && put_link(&*store, "two").await);
    assert!(!claim(&*store, "one", 0).await, "a later link takes the place of an earlier one");
    assert!(!claim(&*store, "two", 100).await, "it ends");
    let waits = store.is_first_run(&owner(), &hash("two"), at(99)).await;
    assert!(waits.expect("links are looked at"));
    assert!(claim(&*store, "two", 99).await);
    assert!(!claim(&*store, "two", 99).await, "it works once");
    let phc = store.find_passphrase(&owner()).await.expect("passphrases are looked for");
    assert_eq!(phc.as_deref(), Some("phc of the first"));
}

pub async fn an_owned_store_takes_no_first_run(store: Arc<dyn Store>) {
    assert!(put_link(&*store, "early").await);
    store.set_passphrase(&owner(), "phc").await.expect("passphrases are set");
    assert!(!claim(&*store, "early", 0).await);
    assert!(!put_link(&*store, "late").await);
    let waits = store.is_first_run(&owner(), &hash("early"), at(0)).await;
    assert!(!waits.expect("links are looked at"));
    let phc = store.find_passphrase(&owner()).await.expect("passphrases are looked for");
    assert_eq!(phc.as_deref(), Some("phc"), "the passphrase stays");
}

pub async fn a_passkey_is_kept_used_and_forgotten(store: Arc<dyn Store>) {
    let passkey = |id: &str, subject: &str, seconds| StoredPasskey {
        passkey_id: id.to_owned(),
        subject_id: SubjectId::parse(subject).expect("a plain id"),
        label: format!("key {id}"),
        document: "{\"counter\":0}".to_owned(),
        created_at: at(seconds),
        last_used_at: None,
    };
    let (one, two, other) =
        (passkey("one", "owner_local", 0), passkey("two", "owner_local", 1), passkey("other", "someone", 0));
    for passkey in [&two, &one, &other] {
        assert!(store.put_passkey(passkey).await.expect("passkeys are kept"));
    }
    let again = StoredPasskey { subject_id: other.subject_id.clone(), ..one.clone() };
    assert!(!store.put_passkey(&again).await.expect("passkeys are kept"), "a name is taken once");
    let list = async || store.list_passkeys(&owner()).await.expect("passkeys are listed");
    assert_eq!(list().await, [one.clone(), two.clone()]);
    let renew = async |seen: &StoredPasskey, seconds| {
        store.use_passkey(seen, "{\"counter\":1}", at(seconds)).await.expect("passkeys are used")
    };
    assert!(renew(&one, 5).await);
    assert!(!renew(&one, 6).await, "whoever saw an older state comes too late");
    let used = list().await.remove(0);
    assert_eq!((used.last_used_at, used.document.as_str()), (Some(at(5)), "{\"counter\":1}"));
    let remove =
        async |id: Option<&str>| store.remove_passkeys(&owner(), id).await.expect("passkeys are forgotten");
    assert_eq!((remove(Some("other")).await, remove(Some("one")).await), (0, 1));
    assert_eq!(remove(None).await, 1);
    let others = store.list_passkeys(&other.subject_id).await.expect("passkeys are listed");
    assert_eq!(others, [other], "another owner's stays");
}
