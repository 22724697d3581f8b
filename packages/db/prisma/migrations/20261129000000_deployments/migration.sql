-- Topics and archiving of projects, and the number that the newest deployment of a project has.
ALTER TABLE projects
    ADD COLUMN topics              text[] NOT NULL DEFAULT '{}',
    ADD COLUMN archived            boolean NOT NULL DEFAULT false,
    ADD COLUMN last_deployment_iid integer NOT NULL DEFAULT 0;
CREATE INDEX projects_topics_idx ON projects USING gin (topics);

-- Where a project is deployed to.
CREATE TABLE environments (
    project_id        integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id                serial,
    name              text NOT NULL,
    slug              text NOT NULL,
    external_url      text,
    tier              text NOT NULL,
    description       text,
    auto_stop_setting text NOT NULL DEFAULT 'always',
    state             text NOT NULL DEFAULT 'available',
    created_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX environments_project_id_name_key ON environments (project_id, name);

-- A commit that was brought to an environment, or is on its way there.
CREATE TABLE deployments (
    project_id     integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id             serial,
    iid            integer NOT NULL,
    environment_id integer NOT NULL,
    ref            text NOT NULL,
    tag            boolean NOT NULL,
    sha            text NOT NULL,
    status         text NOT NULL,
    user_id        integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    saga_tenant    text,
    saga_id        text,
    frozen         boolean NOT NULL,
    created_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    finished_at    timestamptz(3),
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, environment_id) REFERENCES environments (project_id, id)
        ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX deployments_project_id_iid_key ON deployments (project_id, iid);
CREATE INDEX deployments_environment_idx ON deployments (project_id, environment_id, status, finished_at, id);
CREATE INDEX deployments_project_id_created_at_id_idx ON deployments (project_id, created_at, id);
CREATE INDEX deployments_project_id_updated_at_id_idx ON deployments (project_id, updated_at, id);
CREATE INDEX deployments_project_id_finished_at_id_idx ON deployments (project_id, finished_at, id);
CREATE INDEX deployments_user_id_idx ON deployments (user_id);
-- For the deployments of a saga.
CREATE INDEX deployments_saga_tenant_saga_id_id_idx ON deployments (saga_tenant, saga_id, id);

-- Times in which a project should not be deployed, as two cron expressions.
CREATE TABLE freeze_periods (
    project_id    integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id            serial,
    freeze_start  text NOT NULL,
    freeze_end    text NOT NULL,
    cron_timezone text NOT NULL,
    created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
