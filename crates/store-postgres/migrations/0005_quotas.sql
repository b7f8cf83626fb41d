-- What an owner may have, where an operator says so, and what they have: live records, and bytes of their data and of
-- blobs. It stands in the row that every writer of the subject locks and reads anyway. It is counted here once;
-- afterwards whoever changes it counts along, which programs from before this step do not.
ALTER TABLE subjects
    ADD COLUMN quota_records bigint,
    ADD COLUMN quota_bytes bigint,
    ADD COLUMN quota_requests bigint,
    ADD COLUMN used_records bigint NOT NULL DEFAULT 0,
    ADD COLUMN used_bytes bigint NOT NULL DEFAULT 0;
UPDATE subjects AS o SET
    used_records = (SELECT coalesce(sum(live_count), 0) FROM scopes AS s WHERE s.subject_id = o.subject_id),
    used_bytes = (SELECT coalesce(sum(octet_length(data)), 0) FROM records AS r WHERE r.subject_id = o.subject_id)
        + (SELECT coalesce(sum(size_bytes), 0) FROM blobs AS b WHERE b.subject_id = o.subject_id);
