-- Blobs whose rows are gone and whose files may still be there: what a crash must not forget.
CREATE TABLE doomed_blobs (
    subject_id TEXT NOT NULL,
    blob_id TEXT NOT NULL,
    PRIMARY KEY (subject_id, blob_id)
) STRICT, WITHOUT ROWID;
