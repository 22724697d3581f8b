-- What webhooks have to be told of changes of references, stored before each change. A row is deleted when its deliveries are
-- stored, so that a change whose process ended in between is told by another one.
CREATE TABLE foreseen_changes (
    id          uuid PRIMARY KEY,
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    ref         text NOT NULL,
    before      text NOT NULL,
    after       text NOT NULL,
    about       jsonb NOT NULL,
    foreseen_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    look_at     timestamptz(3) NOT NULL
);
CREATE INDEX foreseen_changes_project_id_idx ON foreseen_changes (project_id);
CREATE INDEX foreseen_changes_look_at_idx ON foreseen_changes (look_at);
