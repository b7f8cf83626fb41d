-- Entries of the authorization server name grants too, and are no use of them.

ALTER TABLE disclosures ADD COLUMN is_read INTEGER NOT NULL DEFAULT 1;
