-- What is done when services become worse with a deployment, and what was done.

CREATE TABLE impact_rules (
    project_id     integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id             serial NOT NULL,
    name           text NOT NULL,
    services       text[] NOT NULL DEFAULT '{}',
    measures       text[] NOT NULL DEFAULT '{}',
    environments   text[] NOT NULL DEFAULT '{}',
    tiers          text[] NOT NULL DEFAULT '{}',
    ratio_min      double precision,
    confidence_min double precision,
    freezes        boolean NOT NULL,
    banner         jsonb,
    tells_webhooks boolean NOT NULL,
    dry_run        boolean NOT NULL DEFAULT true,
    created_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);

CREATE TABLE impact_rule_runs (
    project_id     integer NOT NULL,
    id             serial NOT NULL,
    rule_id        integer NOT NULL,
    deployment_id  integer NOT NULL,
    environment_id integer NOT NULL,
    dry_run        boolean NOT NULL,
    freezes        boolean NOT NULL,
    banner         jsonb,
    tells_webhooks boolean NOT NULL,
    findings       jsonb NOT NULL,
    applied_at     timestamptz(3) NOT NULL,
    ended_at       timestamptz(3),
    end_reason     text,
    ended_by       integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, rule_id) REFERENCES impact_rules (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE,
    FOREIGN KEY (project_id, deployment_id) REFERENCES deployments (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX impact_rule_runs_project_id_rule_id_deployment_id_key
    ON impact_rule_runs (project_id, rule_id, deployment_id);
CREATE INDEX impact_rule_runs_project_id_deployment_id_idx ON impact_rule_runs (project_id, deployment_id);
CREATE INDEX impact_rule_runs_ended_by_idx ON impact_rule_runs (ended_by);
-- What is in force: few rows of many.
CREATE INDEX impact_rule_runs_in_force_idx ON impact_rule_runs (project_id, environment_id)
    WHERE ended_at IS NULL AND NOT dry_run AND (freezes OR banner IS NOT NULL);
