-- One owner's whole archive, except its disclosure ledger, which has a file of its own.
-- Times are microseconds since the Unix epoch. Every table names its subject, directly or through
-- its scope.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- `sequence` numbers every accepted change; `generation` every change to the catalogue.
CREATE TABLE subjects (
    id INTEGER PRIMARY KEY,
    subject_id TEXT NOT NULL UNIQUE,
    sequence INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Declarations, each distinct document once and for ever.
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY,
    subject_id TEXT NOT NULL,
    version TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (subject_id, version)
) STRICT;

CREATE TABLE connectors (
    subject_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (subject_id, connector_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE connections (
    id INTEGER PRIMARY KEY,
    subject_id TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    display_name TEXT,
    status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'removed')),
    created_at INTEGER NOT NULL,
    UNIQUE (subject_id, connection_id)
) STRICT;

-- One connection's share of one stream. Another epoch means that earlier history is gone.
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    subject_id TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    stream TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    live_count INTEGER NOT NULL DEFAULT 0,
    UNIQUE (subject_id, connection_id, stream)
) STRICT;
CREATE INDEX scopes_by_stream ON scopes (subject_id, connector_key, stream);

-- The truth. A tombstone keeps key, creation, deletion and consent time, and nothing else.
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    scope_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    deleted_seq INTEGER,
    deleted_at INTEGER,
    emitted_at INTEGER NOT NULL,
    emitted_top INTEGER NOT NULL,
    consent_at INTEGER,
    history TEXT,
    blob_id TEXT,
    data TEXT,
    UNIQUE (scope_id, key)
) STRICT;
CREATE INDEX records_by_version ON records (scope_id, version);
CREATE INDEX records_by_creation ON records (scope_id, created_seq);
CREATE INDEX records_by_emission ON records (scope_id, emitted_top) WHERE deleted_seq IS NULL;
CREATE INDEX records_by_blob ON records (blob_id, scope_id) WHERE blob_id IS NOT NULL;

-- Which table `fields_<id>` holds the typed columns of a stream, and how they are laid out.
CREATE TABLE field_tables (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    stream TEXT NOT NULL,
    declaration_version TEXT NOT NULL,
    layout TEXT NOT NULL,
    UNIQUE (subject_id, connector_key, stream)
) STRICT;

-- Kinds: 1 upsert, 2 delete, 3 purge of a stream, 4 removal of a connection.
CREATE TABLE change_log (
    subject INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    connection_id TEXT NOT NULL,
    stream TEXT,
    kind INTEGER NOT NULL,
    record_key TEXT,
    PRIMARY KEY (subject, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    document TEXT NOT NULL,
    access_mode TEXT NOT NULL,
    consumed INTEGER NOT NULL DEFAULT 0,
    issued_at INTEGER NOT NULL,
    revoked_at INTEGER,
    UNIQUE (subject_id, grant_id)
) STRICT;

-- Tokens are known by the SHA-256 of the secret alone.
CREATE TABLE tokens (
    hash BLOB PRIMARY KEY,
    token_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('owner', 'client')),
    client_id TEXT,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_by_id ON tokens (subject_id, token_id);
CREATE INDEX tokens_by_kind ON tokens (subject_id, kind);

CREATE TABLE token_grants (
    hash BLOB NOT NULL REFERENCES tokens (hash) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    PRIMARY KEY (hash, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX token_grants_by_grant ON token_grants (subject_id, grant_id);

CREATE TABLE owner_secrets (
    subject_id TEXT PRIMARY KEY,
    phc TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- An absent connection or grant is the empty text, so that it can be part of the key.
CREATE TABLE sync_state (
    subject_id TEXT NOT NULL,
    connector_key TEXT NOT NULL,
    connection_id TEXT NOT NULL DEFAULT '',
    grant_id TEXT NOT NULL DEFAULT '',
    stream TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (subject_id, connector_key, connection_id, grant_id, stream)
) STRICT;

CREATE TABLE blobs (
    subject_id TEXT NOT NULL,
    blob_id TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    mime_type TEXT NOT NULL,
    PRIMARY KEY (subject_id, blob_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_bindings (
    subject_id TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    stream TEXT NOT NULL,
    record_key TEXT NOT NULL,
    json_path TEXT NOT NULL,
    blob_id TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    PRIMARY KEY (subject_id, connection_id, stream, record_key, json_path)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_bindings_by_blob ON blob_bindings (subject_id, blob_id);
