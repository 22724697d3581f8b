-- The worker looks for deployments that it has to compare, in every project.
CREATE INDEX CONCURRENTLY deployments_with_services_idx ON deployments (finished_at) WHERE services <> '[]';
