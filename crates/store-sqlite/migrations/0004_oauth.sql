-- What the authorization server works with. Redeemable values are SHA-256 hashes.

ALTER TABLE tokens ADD COLUMN resource TEXT;
ALTER TABLE tokens ADD COLUMN family_id TEXT;
CREATE INDEX tokens_by_family ON tokens (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX tokens_by_client ON tokens (client_id) WHERE client_id IS NOT NULL;

-- A client's grants are found when it is removed.
ALTER TABLE grants ADD COLUMN client_id TEXT
    GENERATED ALWAYS AS (json_extract(document, '$.client.client_id')) VIRTUAL;
CREATE INDEX grants_by_client ON grants (client_id);

CREATE TABLE oauth_clients (
    client_id TEXT PRIMARY KEY,
    source TEXT NOT NULL CHECK (source IN ('dynamic', 'metadata_document', 'pre_registered', 'local')),
    metadata TEXT NOT NULL,
    security_hash TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    subject_id TEXT,
    registration_token BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_clients_by_age ON oauth_clients (first_seen);

CREATE TABLE oauth_requests (
    approval_id TEXT PRIMARY KEY,
    flow TEXT NOT NULL CHECK (flow IN ('code', 'exchange', 'device', 'owner_device')),
    client_id TEXT NOT NULL,
    pushed BLOB UNIQUE,
    consent BLOB UNIQUE,
    device_code BLOB UNIQUE,
    user_code BLOB UNIQUE,
    code BLOB UNIQUE,
    polling BLOB UNIQUE,
    agent_id TEXT,
    document TEXT NOT NULL,
    review TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    poll_interval INTEGER NOT NULL,
    polled_at INTEGER,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
    subject_id TEXT,
    decided_at INTEGER,
    redeem_until INTEGER,
    redeemed_at INTEGER,
    family_id TEXT,
    token BLOB
) STRICT;
CREATE INDEX oauth_requests_by_state ON oauth_requests (state, expires_at);
CREATE INDEX oauth_requests_by_client ON oauth_requests (client_id);

CREATE TABLE oauth_request_grants (
    approval_id TEXT NOT NULL REFERENCES oauth_requests (approval_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    PRIMARY KEY (approval_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE refresh_families (
    family_id TEXT PRIMARY KEY,
    subject_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('owner', 'client')),
    resource TEXT,
    generation INTEGER NOT NULL DEFAULT 0,
    rotated_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_families_by_client ON refresh_families (client_id);

CREATE TABLE refresh_family_grants (
    family_id TEXT NOT NULL REFERENCES refresh_families (family_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    PRIMARY KEY (family_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_family_grants_by_grant ON refresh_family_grants (subject_id, grant_id);

-- Every member a family ever had, so that one that comes back is recognised.
CREATE TABLE refresh_tokens (
    hash BLOB PRIMARY KEY,
    family_id TEXT NOT NULL REFERENCES refresh_families (family_id) ON DELETE CASCADE,
    generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);

CREATE TABLE owner_sessions (
    hash BLOB PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    subject_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_sessions_by_subject ON owner_sessions (subject_id, created_at);

CREATE TABLE attempts (
    key TEXT PRIMARY KEY,
    window_ends INTEGER NOT NULL,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
