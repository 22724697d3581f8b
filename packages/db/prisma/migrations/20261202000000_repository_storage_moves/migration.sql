-- Moves of repositories between the storages of several git-api. They outlive their project, because the copy that a move
-- leaves behind is removed later.
CREATE TABLE repository_storage_moves (
    id                serial PRIMARY KEY,
    project_id        integer NOT NULL,
    disk_path         text NOT NULL,
    source            text NOT NULL,
    destination       text NOT NULL,
    state             text NOT NULL DEFAULT 'scheduled',
    error             text,
    created_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    finished_at       timestamptz(3),
    source_removed_at timestamptz(3)
);
CREATE INDEX repository_storage_moves_project_id_id_idx ON repository_storage_moves (project_id, id);
-- A project has one move at a time.
CREATE UNIQUE INDEX repository_storage_moves_active_idx ON repository_storage_moves (project_id)
    WHERE state IN ('scheduled', 'started');
CREATE INDEX repository_storage_moves_left_idx ON repository_storage_moves (source, finished_at)
    WHERE state = 'finished' AND source_removed_at IS NULL;
