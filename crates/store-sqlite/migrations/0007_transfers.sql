-- How far a copy of another store got, per subject; the empty text for what belongs to none.
CREATE TABLE transfers (
    subject_id TEXT PRIMARY KEY,
    mark TEXT NOT NULL
) STRICT, WITHOUT ROWID;
