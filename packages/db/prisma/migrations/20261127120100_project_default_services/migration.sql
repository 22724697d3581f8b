-- The services of deployments that name none.
ALTER TABLE projects ADD COLUMN default_services text[] NOT NULL DEFAULT '{}';
