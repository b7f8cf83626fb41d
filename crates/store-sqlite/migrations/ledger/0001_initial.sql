-- Who read what, when, through which door. Times are microseconds since the Unix epoch.
-- The columns beside `entry` repeat what the owner filters by.

CREATE TABLE disclosures (
    id INTEGER PRIMARY KEY,
    subject_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    client_id TEXT,
    stream TEXT,
    refused TEXT,
    entry TEXT NOT NULL
) STRICT;
CREATE INDEX disclosures_by_time ON disclosures (subject_id, at, id);
CREATE INDEX disclosures_by_client ON disclosures (subject_id, client_id, at, id);

CREATE TABLE disclosure_grants (
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    disclosure_id INTEGER NOT NULL REFERENCES disclosures (id) ON DELETE CASCADE,
    PRIMARY KEY (subject_id, grant_id, at, disclosure_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX disclosure_grants_by_entry ON disclosure_grants (disclosure_id);
