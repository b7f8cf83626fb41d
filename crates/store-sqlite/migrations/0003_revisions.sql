-- Where each record stands in the change feed: a live record at its creation and at every sequence its
-- history still names, a deleted one at its deletion. What is superseded is taken away again.
CREATE TABLE revisions (
    scope_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (scope_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO revisions SELECT scope_id, created_seq, id FROM records WHERE deleted_seq IS NULL;
INSERT INTO revisions SELECT scope_id, deleted_seq, id FROM records WHERE deleted_seq IS NOT NULL;
INSERT OR IGNORE INTO revisions
    SELECT r.scope_id, json_extract(f.value, '$[0]'), r.id FROM records AS r, json_each(r.history, '$.f') AS f
    WHERE r.deleted_seq IS NULL AND r.history IS NOT NULL;
DROP INDEX records_by_version;
DROP INDEX records_by_creation;

-- The ended lives of records that came back: a reader who saw one must still be told that it is gone.
CREATE TABLE past_lives (
    record_id INTEGER NOT NULL,
    created_seq INTEGER NOT NULL,
    deleted_seq INTEGER NOT NULL,
    consent_at INTEGER,
    PRIMARY KEY (record_id, created_seq)
) STRICT, WITHOUT ROWID;
