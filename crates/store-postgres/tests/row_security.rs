//! The second lock: a statement that forgets to name its subject sees and changes only what its transaction declared.
//!
//! Tables are taken from the catalogue of the database, so that none that is added later can be forgotten.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;

use pdpp_testkit::FreshDatabase;

/// Two of three lie in one partition, whichever way they are spread over two.
const SUBJECTS: [&str; 3] = ["anna", "bela", "cora"];

/// What has no subject: who asks does not know it yet, or it belongs to the whole database.
const WITHOUT_SUBJECT: &str = "c.relname !~ '^(directory(_p[0-9]+)?|meta|schema_steps)$'";

/// Which tables.
#[derive(Clone, Copy)]
enum Which {
    /// Those that statements name.
    Tables,
    Partitions,
}

/// The tables that hold rows of a subject, each with a statement that gives a row to the subject `$`: every column that
/// must be given, with the first value its check allows.
fn tables(database: &FreshDatabase, which: Which) -> BTreeMap<String, String> {
    let is_partition = matches!(which, Which::Partitions);
    let sql = format!(
        "SELECT c.relname, a.attname, format_type(a.atttypid, NULL),
                coalesce((SELECT substring(pg_get_constraintdef(k.oid) FROM '''([^'']*)''')
                          FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
                          AND a.attnum = ANY (k.conkey)), '')
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attnotnull
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND {WITHOUT_SUBJECT}
         AND c.relispartition = {is_partition} ORDER BY c.relname, a.attnum"
    );
    let mut columns: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for line in database.ask(&sql).lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let value = match cells[1..] {
            ["subject_id", ..] => "'$'".to_owned(),
            [_, "text", ""] => "'x'".to_owned(),
            [_, "text", allowed] => format!("'{allowed}'"),
            [_, "bytea", _] => "'\\x01'".to_owned(),
            [_, "boolean", _] => "false".to_owned(),
            [_, "bigint" | "integer" | "smallint" | "double precision", _] => "1".to_owned(),
            _ => panic!("what to put into {cells:?}"),
        };
        columns.entry(cells[0].to_owned()).or_default().push((cells[1].to_owned(), value));
    }
    let insert = |(table, columns): (String, Vec<(String, String)>)| {
        let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let insert = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "));
        (table, insert)
    };
    columns.into_iter().map(insert).collect()
}

/// A database in which every subject has a row in every table, and those tables.
fn database_of_three() -> (FreshDatabase, BTreeMap<String, String>) {
    let database = support::fresh_database();
    let tables = tables(&database, Which::Tables);
    assert!(tables.len() > 30, "{tables:?}");
    let rows = |subject: &str| {
        let inserts: Vec<_> = tables.values().map(|insert| insert.replace('$', subject)).collect();
        format!("SET pdpp.subject = '{subject}'; {};", inserts.join("; "))
    };
    database.ask(&SUBJECTS.map(rows).concat());
    (database, tables)
}

/// Whose rows there are in each table, for whoever declared this, asked without naming a subject.
fn seen(
    database: &FreshDatabase,
    declared: &str,
    tables: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let of_table = |table: &String| format!("SELECT '{table}', string_agg(subject_id, ',') FROM {table}");
    let asked: Vec<_> = tables.keys().map(of_table).collect();
    pairs(&database.ask(&format!("SET pdpp.subject = '{declared}'; {}", asked.join(" UNION ALL "))))
}

fn pairs(answer: &str) -> Vec<(String, String)> {
    let pair = |line: &str| line.split_once('|').map(|(table, whose)| (table.to_owned(), whose.to_owned()));
    answer.lines().map(|line| pair(line).unwrap()).collect()
}

/// A block that fails unless the server refuses the statement for want of rights.
fn refused(statement: &str) -> String {
    format!(
        "DO $$ BEGIN
             EXECUTE $do${statement}$do$;
             RAISE EXCEPTION 'was let through';
         EXCEPTION WHEN insufficient_privilege THEN NULL; END $$;"
    )
}

#[test]
fn whoever_declares_a_subject_sees_its_rows_and_no_others() {
    let (database, tables) = database_of_three();
    for subject in SUBJECTS {
        for (table, whose) in seen(&database, subject, &tables) {
            assert_eq!(whose, subject, "{table}");
        }
    }
    for (table, whose) in seen(&database, "*", &tables) {
        assert_eq!(whose.split(',').count(), 3, "maintenance says that it means everybody's: {table}");
    }
}

#[test]
fn a_partition_shows_no_more_than_its_table() {
    let (database, all) = database_of_three();
    let partitions = tables(&database, Which::Partitions);
    for subject in SUBJECTS {
        let seen = seen(&database, subject, &partitions);
        assert!(seen.iter().all(|(_, whose)| whose.is_empty() || whose == subject), "{seen:?}");
        let rows = seen.iter().filter(|(_, whose)| !whose.is_empty()).count();
        assert_eq!(rows, all.len(), "each table keeps its row in one of its partitions");
    }
}

#[test]
fn whoever_declares_nothing_sees_nothing() {
    let (database, tables) = database_of_three();
    for declared in ["", "nobody"] {
        for (table, whose) in seen(&database, declared, &tables) {
            assert_eq!(whose, "", "{table} after {declared:?}");
        }
    }
    let asked: Vec<_> = tables.keys().map(|table| format!("SELECT subject_id FROM {table}")).collect();
    assert_eq!(database.ask(&asked.join(" UNION ALL ")), "", "without a word");
}

#[test]
fn no_row_is_given_to_another_subject() {
    let (database, tables) = database_of_three();
    let partitions = self::tables(&database, Which::Partitions);
    let inserts = tables.values().chain(partitions.values()).map(|insert| insert.replace('$', "bela"));
    let updates = tables.keys().map(|table| format!("UPDATE {table} SET subject_id = 'bela'"));
    let refused: String = inserts.chain(updates).map(|statement| refused(&statement)).collect();
    database.ask(&format!("SET pdpp.subject = 'anna'; {refused}"));
}

#[test]
fn a_change_without_a_subject_reaches_only_the_declared_one() {
    let (database, tables) = database_of_three();
    for change in ["UPDATE $ SET subject_id = subject_id", "DELETE FROM $"] {
        let changes = tables
            .keys()
            .map(|table| format!("of_{table} AS ({} RETURNING subject_id)", change.replace('$', table)));
        let changes: Vec<_> = changes.collect();
        let counts = tables
            .keys()
            .map(|table| format!("SELECT '{table}', string_agg(subject_id, ',') FROM of_{table}"));
        let counts: Vec<_> = counts.collect();
        let sql = format!("WITH {} {}", changes.join(", "), counts.join(" UNION ALL "));
        for (table, whose) in pairs(&database.ask(&format!("SET pdpp.subject = 'anna'; {sql}"))) {
            assert_eq!(whose, "anna", "{change}: {table}");
        }
    }
    for (table, whose) in seen(&database, "*", &tables) {
        assert_eq!(whose.split(',').count(), 2, "the others' rows are still in {table}: {whose}");
    }
}

#[test]
fn every_table_is_partitioned_by_its_subject_and_locked_against_its_own_owner() {
    let database = support::fresh_database();
    let sql = format!(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
         AND c.relkind IN ('r', 'p') AND {WITHOUT_SUBJECT} AND NOT (
             c.relrowsecurity AND c.relforcerowsecurity
             AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid)
             AND (c.relispartition OR pg_get_partkeydef(c.oid) = 'HASH (subject_id)'))"
    );
    assert_eq!(database.ask(&sql), "", "these lie open, or cannot be moved with their subject");
}

#[test]
fn every_key_is_led_by_the_subject() {
    let database = support::fresh_database();
    let sql = format!(
        "SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
         WHERE c.relnamespace = 'public'::regnamespace AND {WITHOUT_SUBJECT}
         AND i.indisunique AND a.attname <> 'subject_id'"
    );
    assert_eq!(database.ask(&sql), "", "these would have to know of every subject's rows");
}
