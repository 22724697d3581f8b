-- The deployments of every project that ended in a time.
CREATE INDEX CONCURRENTLY deployments_finished_at_idx ON deployments (finished_at);
