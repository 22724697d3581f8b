-- What successful deployments bring to their environments, and what people call a failure.

CREATE TABLE deployment_changes (
    project_id    integer NOT NULL,
    deployment_id integer NOT NULL,
    -- Null: it is measured.
    look_at       timestamptz(3) DEFAULT CURRENT_TIMESTAMP,
    commits       integer NOT NULL DEFAULT 0,
    lead_seconds  integer[] NOT NULL DEFAULT '{}',
    rolls_back_id integer,
    PRIMARY KEY (project_id, deployment_id),
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
-- git-api looks for those that it has to measure, in every project.
CREATE INDEX deployment_changes_waiting_idx ON deployment_changes (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX deployment_changes_rolls_back_idx ON deployment_changes (project_id, rolls_back_id) WHERE rolls_back_id IS NOT NULL;

CREATE TABLE deployment_failures (
    project_id    integer NOT NULL,
    deployment_id integer NOT NULL,
    reason        text NOT NULL,
    user_id       integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, deployment_id),
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX deployment_failures_user_id_idx ON deployment_failures (user_id);
