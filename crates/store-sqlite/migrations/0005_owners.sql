-- How the owner proves to be the owner, beside the passphrase.

CREATE TABLE first_run_links (
    subject_id TEXT PRIMARY KEY,
    link BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE owner_passkeys (
    passkey_id TEXT PRIMARY KEY,
    subject_id TEXT NOT NULL,
    label TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_passkeys_by_subject ON owner_passkeys (subject_id, created_at);
