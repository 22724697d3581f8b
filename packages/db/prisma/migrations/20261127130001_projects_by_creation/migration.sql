-- A list of projects, the newest first, reads no more of them than it shows.
CREATE INDEX CONCURRENTLY projects_created_at_id_idx ON projects (created_at, id);
