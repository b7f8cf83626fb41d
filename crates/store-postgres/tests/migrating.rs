//! The schema: made only when told to, in steps that are whole, and refused when it is not the one that is needed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

use pdpp_store::{Authority as _, Catalogues as _, Quotas as _, StoreError};
use pdpp_store_postgres::{DatabaseUrl, Migrated, PostgresStore};
use pdpp_testkit::{FreshDatabase, PostgresServer, sample};
use pdpp_wire::SubjectId;
use tempfile::TempDir;

fn url(database: &FreshDatabase) -> DatabaseUrl {
    DatabaseUrl::parse(&database.url()).unwrap()
}

fn owner() -> SubjectId {
    SubjectId::parse("owner_local").unwrap()
}

async fn migrate(database: &FreshDatabase) -> Result<Migrated, StoreError> {
    PostgresStore::migrate(&url(database), &support::options(), 2, |_| ()).await
}

/// A store, and where its bytes would lie.
async fn connect(database: &FreshDatabase) -> Result<(PostgresStore, TempDir), StoreError> {
    connect_to(&url(database)).await
}

async fn connect_to(url: &DatabaseUrl) -> Result<(PostgresStore, TempDir), StoreError> {
    let place = tempfile::tempdir().unwrap();
    let objects = support::objects(place.path());
    Ok((PostgresStore::connect(url, objects, support::options()).await?, place))
}

fn steps(database: &FreshDatabase) -> String {
    database.ask("SELECT string_agg(version::text, ' ' ORDER BY version) FROM schema_steps")
}

/// Everything the schema consists of, so that two can be compared.
fn schema(database: &FreshDatabase) -> String {
    database.ask(
        "SELECT c.relname, c.relkind, c.relrowsecurity, count(a.*) FROM pg_class c
         LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
         WHERE c.relnamespace = 'public'::regnamespace GROUP BY 1, 2, 3 ORDER BY 1",
    )
}

#[tokio::test]
async fn an_empty_database_is_refused_and_says_what_to_do() {
    let database = PostgresServer::of_this_run().empty();
    let refused = connect(&database).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooOld { found: 0, .. }), "{refused:?}");
    assert!(refused.to_string().ends_with("run `pdpp migrate`"), "{refused}");
    let tables = database.ask("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace");
    assert_eq!(tables, "0", "looking changes nothing");
}

#[tokio::test]
async fn migrating_makes_an_empty_database_usable_and_again_changes_nothing() {
    let database = PostgresServer::of_this_run().empty();
    let mut told = Vec::new();
    let first = PostgresStore::migrate(&url(&database), &support::options(), 2, |step| told.push(step)).await;
    let first = first.unwrap();
    assert_eq!((first.from, told), (0, (1..=first.to).collect::<Vec<_>>()));
    let (store, _objects) = connect(&database).await.unwrap();
    store.set_passphrase(&owner(), "phc").await.unwrap();
    let before = schema(&database);
    let mut told = Vec::new();
    let again = PostgresStore::migrate(&url(&database), &support::options(), 8, |step| told.push(step)).await;
    assert_eq!((again.unwrap(), told), (Migrated { from: first.to, to: first.to }, Vec::new()));
    assert_eq!(schema(&database), before);
    assert_eq!(store.find_passphrase(&owner()).await.unwrap().as_deref(), Some("phc"));
}

#[tokio::test]
async fn of_two_who_migrate_at_once_both_succeed_and_each_step_is_there_once() {
    let (one, other) = (PostgresServer::of_this_run().empty(), PostgresServer::of_this_run().empty());
    let (first, second) = tokio::join!(migrate(&one), migrate(&one));
    assert_eq!(first.unwrap().to, second.unwrap().to);
    let alone = migrate(&other).await.unwrap();
    let all: Vec<_> = (1..=alone.to).map(|version| version.to_string()).collect();
    assert_eq!(steps(&one), all.join(" "));
    assert_eq!(schema(&one), schema(&other), "as if one had done it alone");
}

#[tokio::test]
async fn whoever_is_cut_off_between_steps_leaves_whole_steps_and_the_next_goes_on() {
    let (broken, whole) = (PostgresServer::of_this_run().empty(), PostgresServer::of_this_run().empty());
    let last = migrate(&whole).await.unwrap().to;
    for step in 2..=last {
        let cut = |version| {
            if version == step {
                broken.ask(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE datname = current_database() AND pid <> pg_backend_pid()",
                );
            }
        };
        let failed = PostgresStore::migrate(&url(&broken), &support::options(), 2, cut).await;
        let failed = failed.unwrap_err();
        assert!(matches!(failed, StoreError::Unreachable(_)), "{failed:?}");
        let done: Vec<_> = (1..step).map(|version| version.to_string()).collect();
        assert_eq!(steps(&broken), done.join(" "));
        let refused = connect(&broken).await.unwrap_err();
        let StoreError::TooOld { found, needed } = refused else { panic!("{refused:?}") };
        assert_eq!((found, needed), (step - 1, last));
    }
    assert_eq!(migrate(&broken).await.unwrap(), Migrated { from: last - 1, to: last });
    assert_eq!(schema(&broken), schema(&whole));
    connect(&broken).await.unwrap();
}

#[tokio::test]
async fn what_was_kept_before_quotas_is_counted_once() {
    let database = support::fresh_database();
    let (store, _objects) = connect(&database).await.unwrap();
    let subject_id = sample::loaded(&store).await.subject_id;
    let used = store.find_usage(&subject_id).await.unwrap();
    assert!(used.records > 0 && used.bytes > 0);
    for column in ["quota_records", "quota_bytes", "quota_requests", "used_records", "used_bytes"] {
        database.ask(&format!("ALTER TABLE subjects DROP COLUMN {column}"));
    }
    database.ask("DELETE FROM schema_steps WHERE version >= 5");
    assert_eq!(migrate(&database).await.unwrap().from, 4);
    let (store, _objects) = connect(&database).await.unwrap();
    assert_eq!(store.find_usage(&subject_id).await.unwrap(), used);
}

#[tokio::test]
async fn a_newer_schema_is_refused_unless_it_serves_programs_as_old_as_this() {
    let database = support::fresh_database();
    database.ask("INSERT INTO schema_steps (version, serves_from, partitions) VALUES (98, 1, 2)");
    connect(&database).await.unwrap();
    database.ask("INSERT INTO schema_steps (version, serves_from, partitions) VALUES (99, 98, 2)");
    for refused in [connect(&database).await.unwrap_err(), migrate(&database).await.unwrap_err()] {
        assert!(matches!(refused, StoreError::TooNew { found: 99, .. }), "{refused:?}");
    }
}

#[tokio::test]
async fn a_user_without_rights_is_told_so() {
    let database = PostgresServer::of_this_run().empty();
    database.ask("REVOKE CREATE ON SCHEMA public FROM pg_database_owner");
    let refused = migrate(&database).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unwritable(_)), "{refused:?}");

    let database = support::fresh_database();
    let (store, _objects) = connect(&database).await.unwrap();
    database.ask("REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM CURRENT_USER");
    let refused = store.set_passphrase(&owner(), "phc").await.unwrap_err();
    assert!(matches!(refused, StoreError::Unwritable(_)), "{refused:?}");
    assert_eq!(store.find_passphrase(&owner()).await.unwrap(), None, "what may be read is read");

    let (scheme, place) =
        database.url().split_once("://").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let place = place.rsplit_once('@').unwrap().1;
    let stranger = DatabaseUrl::parse(&format!("{scheme}://nobody_of_this_name@{place}")).unwrap();
    let refused = connect_to(&stranger).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreachable(_)), "{refused:?}");
}

#[tokio::test]
async fn a_database_that_only_reads_is_read_and_is_not_ready() {
    let database = support::fresh_database();
    let name = database.ask("SELECT current_database()");
    let (store, _objects) = connect(&database).await.unwrap();
    store.set_passphrase(&owner(), "phc").await.unwrap();
    store.check_ready().await.unwrap();
    database.ask(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    let (store, _objects) = connect(&database).await.unwrap();
    assert_eq!(store.find_passphrase(&owner()).await.unwrap().as_deref(), Some("phc"));
    let refused = store.set_passphrase(&owner(), "another").await.unwrap_err();
    assert!(matches!(refused, StoreError::Unwritable(_)), "{refused:?}");
    let unready = store.check_ready().await.unwrap_err();
    assert!(matches!(unready, StoreError::Unwritable(_)), "{unready:?}");
}
