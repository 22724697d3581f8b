-- The services that a deployment ships, by the names that sagas and queues report.
ALTER TABLE deployments ADD COLUMN services jsonb NOT NULL DEFAULT '[]';
