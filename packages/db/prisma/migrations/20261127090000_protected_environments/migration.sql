-- Who may deploy to an environment, and who approves.

CREATE TABLE protected_environments (
    project_id              integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id                      serial NOT NULL,
    name                    text NOT NULL,
    deploy_access_levels    jsonb NOT NULL,
    required_approval_count integer NOT NULL DEFAULT 0,
    approval_rules          jsonb NOT NULL,
    created_at              timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at              timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX protected_environments_project_id_name_key ON protected_environments (project_id, name);

CREATE TABLE deployment_approvals (
    project_id    integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id            bigserial NOT NULL,
    deployment_id integer NOT NULL,
    user_id       integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    access_level  integer NOT NULL,
    status        text NOT NULL,
    comment       text,
    created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX deployment_approvals_project_id_deployment_id_user_id_key ON deployment_approvals (project_id, deployment_id, user_id);
CREATE INDEX deployment_approvals_user_id_idx ON deployment_approvals (user_id);
