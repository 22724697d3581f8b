-- The few deployments of a project that are running.
CREATE INDEX deployments_running_idx ON deployments (project_id, id) WHERE status = 'running';
