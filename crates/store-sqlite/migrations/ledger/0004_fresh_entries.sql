-- The rows of a grant are dropped by their time, as their entries are. So nothing looks them up by entry, and no index
-- for that is written with every read.
CREATE TABLE grants_of_disclosures (
    subject_id TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    disclosure_id INTEGER NOT NULL,
    PRIMARY KEY (subject_id, grant_id, at, disclosure_id)
) STRICT, WITHOUT ROWID;
INSERT INTO grants_of_disclosures (subject_id, grant_id, at, disclosure_id)
    SELECT subject_id, grant_id, at, disclosure_id FROM disclosure_grants ORDER BY 1, 2, 3, 4;
DROP TABLE disclosure_grants;
ALTER TABLE grants_of_disclosures RENAME TO disclosure_grants;

-- Entries as they come, until they are put into their tables: an entry is one row at the end of one table, and not a
-- row in every index, while somebody waits for it.
CREATE TABLE fresh_disclosures (
    id INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
) STRICT;
