-- Every owner's archive. Times are microseconds since the Unix epoch.
--
-- Every table is partitioned by its subject, and every key and index is led by it, so that one owner's rows lie
-- together and no request looks at another's. There are no sequences (numbers are counted in the subject's own
-- row), no foreign keys (what belongs together is written together), and nothing that needs one server to hold it
-- all. Partitions and the policies of row-level security are made after each step, for every table alike.

-- What belongs to no owner: the sealing key, the number of partitions.
CREATE TABLE meta (
    name text PRIMARY KEY,
    value bytea NOT NULL
);

-- `sequence` numbers every accepted change, `generation` every change to the catalogue, `counter` gives numbers to
-- whatever needs an order of its own. Whoever writes for a subject locks this row first.
CREATE TABLE subjects (
    subject_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL DEFAULT 0,
    generation bigint NOT NULL DEFAULT 0,
    counter bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);

-- Declarations, each distinct document once and for ever.
CREATE TABLE snapshots (
    subject_id text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    document text NOT NULL,
    PRIMARY KEY (subject_id, version)
) PARTITION BY HASH (subject_id);

CREATE TABLE connectors (
    subject_id text COLLATE "C" NOT NULL,
    connector_key text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, connector_key)
) PARTITION BY HASH (subject_id);

-- `ordinal` is the order in which they were made.
CREATE TABLE connections (
    subject_id text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    connector_key text COLLATE "C" NOT NULL,
    display_name text,
    status text NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'removed')),
    created_at bigint NOT NULL,
    ordinal bigint NOT NULL,
    PRIMARY KEY (subject_id, connection_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX connections_by_connector ON connections (subject_id, connector_key, ordinal);

-- One connection's share of one stream, numbered within its subject. Another epoch means that earlier history is gone.
CREATE TABLE scopes (
    subject_id text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    connector_key text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    live_count bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (subject_id, connection_id, stream),
    UNIQUE (subject_id, scope_id)
) PARTITION BY HASH (subject_id);
CREATE INDEX scopes_by_stream ON scopes (subject_id, connector_key, stream);

-- How the declared fields of a stream are numbered in `record_fields`, as the code spells it.
CREATE TABLE layouts (
    subject_id text COLLATE "C" NOT NULL,
    connector_key text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    declaration_version text COLLATE "C" NOT NULL,
    layout text NOT NULL,
    PRIMARY KEY (subject_id, connector_key, stream)
) PARTITION BY HASH (subject_id);

-- The truth. A tombstone keeps key, creation, deletion and consent time, and nothing else. `ord` is the cursor
-- field's value, as bytes that sort.
CREATE TABLE records (
    subject_id text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    created_seq bigint NOT NULL,
    version bigint NOT NULL,
    deleted_seq bigint,
    deleted_at bigint,
    emitted_at bigint NOT NULL,
    emitted_top bigint NOT NULL,
    consent_at bigint,
    ord bytea,
    history text,
    blob_id text COLLATE "C",
    data text,
    PRIMARY KEY (subject_id, scope_id, key)
) PARTITION BY HASH (subject_id);
CREATE INDEX records_by_order ON records (subject_id, scope_id, ord, key) WHERE deleted_seq IS NULL;
CREATE INDEX records_by_emission ON records (subject_id, scope_id, emitted_top) WHERE deleted_seq IS NULL;
CREATE INDEX records_by_blob ON records (subject_id, blob_id, scope_id, key) WHERE blob_id IS NOT NULL;

-- The declared scalar fields of live records, one row for each field that a stream declares (also for those a record
-- lacks: `value` is null then). `value` is bytes that sort; `whole` and `broken` are for sums. `ord` repeats the
-- record's, so that a filtered page comes out of the index in its order.
CREATE TABLE record_fields (
    subject_id text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    field integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    value bytea,
    whole bigint,
    broken double precision,
    ord bytea,
    PRIMARY KEY (subject_id, scope_id, field, key)
) PARTITION BY HASH (subject_id);
CREATE INDEX record_fields_by_value ON record_fields (subject_id, scope_id, field, value, ord, key);

-- Where each record stands in the change feed: a live record at its creation and at every sequence its history still
-- names, a deleted one at its deletion. What is superseded is taken away again.
CREATE TABLE revisions (
    subject_id text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    sequence bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, scope_id, sequence)
) PARTITION BY HASH (subject_id);

-- The ended lives of records that came back: a reader who saw one must still be told that it is gone.
CREATE TABLE past_lives (
    subject_id text COLLATE "C" NOT NULL,
    scope_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    created_seq bigint NOT NULL,
    deleted_seq bigint NOT NULL,
    consent_at bigint,
    PRIMARY KEY (subject_id, scope_id, key, created_seq)
) PARTITION BY HASH (subject_id);

-- Kinds: 1 upsert, 2 delete, 3 purge of a stream, 4 removal of a connection.
CREATE TABLE change_log (
    subject_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    stream text COLLATE "C",
    kind smallint NOT NULL,
    record_key text COLLATE "C",
    PRIMARY KEY (subject_id, sequence)
) PARTITION BY HASH (subject_id);

-- An absent connection or grant is the empty text, so that it can be part of the key.
CREATE TABLE sync_state (
    subject_id text COLLATE "C" NOT NULL,
    connector_key text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL DEFAULT '',
    grant_id text COLLATE "C" NOT NULL DEFAULT '',
    stream text COLLATE "C" NOT NULL,
    value text NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (subject_id, connector_key, connection_id, grant_id, stream)
) PARTITION BY HASH (subject_id);

-- Bytes lie outside, under a name made of subject, blob and `upload`, which no two uploads share.
CREATE TABLE blobs (
    subject_id text COLLATE "C" NOT NULL,
    blob_id text COLLATE "C" NOT NULL,
    upload text COLLATE "C" NOT NULL,
    size_bytes bigint NOT NULL,
    mime_type text NOT NULL,
    PRIMARY KEY (subject_id, blob_id)
) PARTITION BY HASH (subject_id);

-- The record an upload was for. The longest key there can be fits a page of its index.
CREATE TABLE blob_bindings (
    subject_id text COLLATE "C" NOT NULL,
    connection_id text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    record_key text COLLATE "C" NOT NULL,
    json_path text COLLATE "C" NOT NULL,
    blob_id text COLLATE "C" NOT NULL,
    mime_type text NOT NULL,
    PRIMARY KEY (subject_id, connection_id, stream, record_key, json_path)
) PARTITION BY HASH (subject_id);
CREATE INDEX blob_bindings_by_blob ON blob_bindings (subject_id, blob_id);

-- Uploads that have a name and may have bytes there, and no row yet: what an upload that dies must not leave behind.
CREATE TABLE blob_claims (
    subject_id text COLLATE "C" NOT NULL,
    blob_id text COLLATE "C" NOT NULL,
    upload text COLLATE "C" NOT NULL,
    claimed_at bigint NOT NULL,
    PRIMARY KEY (subject_id, blob_id, upload)
) PARTITION BY HASH (subject_id);
CREATE INDEX blob_claims_by_age ON blob_claims (claimed_at);

-- Bytes whose rows are gone and that may still be there: what a crash must not forget.
CREATE TABLE doomed_blobs (
    subject_id text COLLATE "C" NOT NULL,
    blob_id text COLLATE "C" NOT NULL,
    upload text COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_id, blob_id, upload)
) PARTITION BY HASH (subject_id);

-- Finds the subject a secret or an id belongs to, when nothing else names it. The one table led by something else,
-- asked for one row at a time by its whole key.
CREATE TABLE directory (
    handle bytea NOT NULL,
    subject_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (handle)
) PARTITION BY HASH (handle);
