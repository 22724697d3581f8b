-- What became worse in services with a deployment, and what people say about it.

CREATE TABLE deployment_impacts (
    project_id    integer NOT NULL,
    deployment_id integer NOT NULL,
    window_from   timestamptz(3) NOT NULL,
    started_at    timestamptz(3) NOT NULL,
    window_to     timestamptz(3) NOT NULL,
    next_look_at  timestamptz(3),
    services      jsonb NOT NULL,
    PRIMARY KEY (project_id, deployment_id),
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE deployment_findings (
    project_id     integer NOT NULL,
    id             bigserial NOT NULL,
    deployment_id  integer NOT NULL,
    tenant         text NOT NULL,
    service_name   text NOT NULL,
    measure        text NOT NULL,
    fingerprint    text NOT NULL DEFAULT '',
    before         double precision,
    after          double precision NOT NULL,
    samples_before integer NOT NULL,
    samples_after  integer NOT NULL,
    chance         double precision NOT NULL,
    onset_at       timestamptz(3) NOT NULL,
    found_at       timestamptz(3) NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX deployment_findings_figure_key
    ON deployment_findings (project_id, deployment_id, tenant, service_name, measure, fingerprint);
CREATE INDEX deployment_findings_tenant_service_name_onset_at_idx ON deployment_findings (tenant, service_name, onset_at);
-- What began a failure.
CREATE INDEX deployment_findings_fingerprint_idx ON deployment_findings (tenant, fingerprint) WHERE fingerprint <> '';

CREATE TABLE deployment_dismissals (
    project_id    integer NOT NULL,
    deployment_id integer NOT NULL,
    reason        text NOT NULL,
    user_id       integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, deployment_id),
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX deployment_dismissals_user_id_idx ON deployment_dismissals (user_id);
