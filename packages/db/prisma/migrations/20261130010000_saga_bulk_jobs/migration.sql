-- Resolving or noting every saga of a filter; written by saga-reporter.
CREATE TABLE saga_bulk_jobs (
    tenant         text COLLATE "C" NOT NULL,
    id             serial,
    action         text NOT NULL,
    note           text NOT NULL,
    filter         jsonb NOT NULL,
    state          text NOT NULL DEFAULT 'running',
    matched        integer NOT NULL DEFAULT 0,
    done           integer NOT NULL DEFAULT 0,
    failed         integer NOT NULL DEFAULT 0,
    undone         integer NOT NULL DEFAULT 0,
    undo_failed    integer NOT NULL DEFAULT 0,
    position       integer NOT NULL DEFAULT 0,
    author_id      integer NOT NULL,
    author_name    text NOT NULL,
    undo_name      text,
    audit_author   jsonb NOT NULL,
    active_user_id integer,
    owner          text,
    owned_until    timestamptz(3),
    created_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    finished_at    timestamptz(3),
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX saga_bulk_jobs_active_user_id_key ON saga_bulk_jobs (active_user_id);
CREATE INDEX saga_bulk_jobs_finished_at_idx ON saga_bulk_jobs (finished_at);

-- The sagas that the filter of a job found when the job was created.
CREATE TABLE saga_bulk_items (
    tenant               text COLLATE "C" NOT NULL,
    job_id               integer NOT NULL,
    position             integer NOT NULL,
    saga_id              text COLLATE "C" NOT NULL,
    state                text NOT NULL DEFAULT 'pending',
    error                text,
    resolved_at          timestamptz(3),
    previous_resolved_at timestamptz(3),
    previous_resolved_by text,
    PRIMARY KEY (tenant, job_id, position),
    FOREIGN KEY (tenant, job_id) REFERENCES saga_bulk_jobs (tenant, id) ON DELETE CASCADE ON UPDATE CASCADE
);
