-- A project's own limit in bytes, a whole number; 0: none; null: that of the installation.
ALTER TABLE projects ADD COLUMN repository_size_limit double precision;

-- What the repositories and the objects of Git LFS of projects take. Bytes of a repository are null until they are counted.
CREATE TABLE storage_uses (
    project_id       integer PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    repository_bytes bigint,
    lfs_bytes        bigint NOT NULL DEFAULT 0
);
INSERT INTO storage_uses (project_id, lfs_bytes)
SELECT project_id, sum(size) FROM lfs_objects GROUP BY project_id;
