-- What an owner may have, where an operator says so, and what they have: live records, and bytes of their data and of
-- blobs. It is counted here once; afterwards whoever changes it counts along.
ALTER TABLE subjects ADD COLUMN quota_records INTEGER;
ALTER TABLE subjects ADD COLUMN quota_bytes INTEGER;
ALTER TABLE subjects ADD COLUMN quota_requests INTEGER;
ALTER TABLE subjects ADD COLUMN used_records INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subjects ADD COLUMN used_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE subjects SET
    used_records = (SELECT coalesce(sum(live_count), 0) FROM scopes AS s WHERE s.subject_id = subjects.subject_id),
    used_bytes = (SELECT coalesce(sum(octet_length(r.data)), 0) FROM scopes AS s
                  CROSS JOIN records AS r ON r.scope_id = s.id WHERE s.subject_id = subjects.subject_id)
        + (SELECT coalesce(sum(size_bytes), 0) FROM blobs AS b WHERE b.subject_id = subjects.subject_id);
