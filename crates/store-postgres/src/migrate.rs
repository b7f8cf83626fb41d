//! Brings a database up to the schema this program knows. Steps are only ever added.
//!
//! Only `migrate` changes the schema; a node that finds another one than it needs says so and does not start.
//! Each step is one transaction that holds the lock on the list of steps, so of two who migrate at once one waits
//! and finds the step done, and whoever is killed in the middle leaves the step before it. A step names the oldest
//! program that can go on working with its outcome: nodes of an older program keep running until they are replaced.

use deadpool_postgres::Object;
use pdpp_store::StoreError;

use crate::fault::{Fault, Outcome};

/// One step of the schema.
struct Step {
    sql: &'static str,
    /// The oldest known version whose programs still work after it.
    serves_from: i64,
}

/// The n-th leads to schema version n.
const STEPS: &[Step] = &[
    Step { sql: include_str!("../migrations/0001_archive.sql"), serves_from: 1 },
    Step { sql: include_str!("../migrations/0002_authority.sql"), serves_from: 1 },
    Step { sql: include_str!("../migrations/0003_events.sql"), serves_from: 1 },
    Step { sql: include_str!("../migrations/0004_transfers.sql"), serves_from: 1 },
    Step { sql: include_str!("../migrations/0005_quotas.sql"), serves_from: 5 },
];

/// Partitions of each table unless told otherwise. More than one server's worth, so that a table can be spread.
pub const DEFAULT_PARTITIONS: u16 = 16;

const LIST: &str = "CREATE TABLE IF NOT EXISTS schema_steps (
    version bigint PRIMARY KEY,
    serves_from bigint NOT NULL,
    partitions integer NOT NULL
)";

/// How a migration went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version that was found; zero in an empty database.
    pub from: i64,
    /// The version there is now.
    pub to: i64,
}

/// What the database says of its schema.
struct Found {
    version: i64,
    serves_from: i64,
    partitions: Option<i32>,
}

/// Runs the missing steps; tells of each before it runs.
pub(crate) async fn migrate(
    client: &mut Object,
    partitions: u16,
    mut tell: impl FnMut(i64) + Send,
) -> Outcome<Migrated> {
    // Two who create a list at once: one of them is told that it exists after all.
    if let Err(error) = client.batch_execute(LIST).await
        && find(client).await?.is_none()
    {
        return Err(error.into());
    }
    let mut from = None;
    for (step, version) in STEPS.iter().zip(1..) {
        let transaction = client.transaction().await?;
        transaction.batch_execute("LOCK TABLE schema_steps IN ACCESS EXCLUSIVE MODE").await?;
        let found = found(&transaction.query(NEWEST, &[]).await?);
        from.get_or_insert(found.version);
        check_known(&found)?;
        if found.version >= version {
            transaction.rollback().await?;
            continue;
        }
        tell(version);
        transaction.batch_execute("SET LOCAL pdpp.subject = '*'").await?;
        let partitions = found.partitions.unwrap_or_else(|| i32::from(partitions.max(1)));
        transaction.batch_execute(step.sql).await?;
        transaction.batch_execute(&fill_partitions(partitions)).await?;
        transaction.batch_execute(LOCK_ROWS).await?;
        let list = "INSERT INTO schema_steps (version, serves_from, partitions) VALUES ($1, $2, $3)";
        transaction.execute(list, &[&version, &step.serves_from, &partitions]).await?;
        transaction.commit().await?;
    }
    Ok(Migrated { from: from.unwrap_or_default(), to: known() })
}

/// Whether this program can work with what is there.
pub(crate) async fn check(client: &Object) -> Outcome<()> {
    let Some(found) = find(client).await? else {
        return Err(Fault::Store(StoreError::TooOld { found: 0, needed: known() }));
    };
    check_known(&found)?;
    if found.version < known() {
        return Err(Fault::Store(StoreError::TooOld { found: found.version, needed: known() }));
    }
    Ok(())
}

const NEWEST: &str =
    "SELECT version, serves_from, partitions FROM schema_steps ORDER BY version DESC LIMIT 1";

/// `None` when there is no schema of ours.
async fn find(client: &Object) -> Outcome<Option<Found>> {
    let there = client.query_one("SELECT to_regclass('schema_steps') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return Ok(None);
    }
    Ok(Some(found(&client.query(NEWEST, &[]).await?)))
}

fn found(rows: &[tokio_postgres::Row]) -> Found {
    rows.first().map_or(Found { version: 0, serves_from: 0, partitions: None }, |row| Found {
        version: row.get(0),
        serves_from: row.get(1),
        partitions: Some(row.get(2)),
    })
}

fn check_known(found: &Found) -> Outcome<()> {
    if found.serves_from > known() {
        return Err(Fault::Store(StoreError::TooNew { found: found.version, known: known() }));
    }
    Ok(())
}

/// The version this program's steps lead to.
pub(crate) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Tells one list of steps from another, for tests that keep a prepared database of each.
#[doc(hidden)]
pub fn schema_fingerprint() -> String {
    use sha2::{Digest as _, Sha256};
    let mut digest = Sha256::new();
    for step in STEPS {
        digest.update(step.sql);
    }
    digest.update(LOCK_ROWS);
    digest.finalize()[..6].iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Gives every partitioned table that has none its partitions.
fn fill_partitions(count: i32) -> String {
    format!(
        "DO $$
         DECLARE parent record;
         BEGIN
             FOR parent IN
                 SELECT c.oid, c.relname FROM pg_class c JOIN pg_partitioned_table p ON p.partrelid = c.oid
                 WHERE c.relnamespace = current_schema()::regnamespace
                 AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = c.oid)
             LOOP
                 FOR part IN 0..{last} LOOP
                     EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS {count}, REMAINDER %s)',
                         parent.relname || '_p' || part, parent.relname, part);
                 END LOOP;
             END LOOP;
         END $$;",
        last = count - 1
    )
}

/// Row-level security for every table that names a subject, also against the tables' own owner. A partition is
/// never named by a statement of ours; its policy keeps it shut for everybody else's.
const LOCK_ROWS: &str = "DO $$
    DECLARE named record;
    BEGIN
        FOR named IN
            SELECT c.relname FROM pg_class c
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'subject_id' AND NOT a.attisdropped
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
            AND c.relname NOT LIKE 'directory%' AND NOT c.relrowsecurity
        LOOP
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named.relname);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', named.relname);
            EXECUTE format('CREATE POLICY of_its_subject ON %I USING (
                subject_id = current_setting(''pdpp.subject'', true)
                OR current_setting(''pdpp.subject'', true) = ''*'')', named.relname);
        END LOOP;
    END $$;";
