-- The services that deployments ship which name none.
ALTER TABLE projects ADD COLUMN default_services text[] NOT NULL DEFAULT '{}';
