-- The CI job that a deployment is of.
ALTER TABLE deployments ADD COLUMN job jsonb;
