-- The CI job that a status is of.
ALTER TABLE commit_statuses ADD COLUMN job jsonb;
