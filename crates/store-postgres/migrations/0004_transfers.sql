-- How far a copy of another store got, per subject; the empty text for what belongs to none.
CREATE TABLE transfers (
    subject_id text COLLATE "C" NOT NULL,
    mark text NOT NULL,
    PRIMARY KEY (subject_id)
) PARTITION BY HASH (subject_id);
