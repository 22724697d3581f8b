-- The whole data model of ../../schema.prisma. What Prisma cannot say stands at the end: saga_events is
-- partitioned by day, and a function makes its partitions.

-- ---- Identity: written by git-api -----------------------------------------------------------------

CREATE TABLE users (
    id           serial PRIMARY KEY,
    username     text NOT NULL,
    username_key text NOT NULL UNIQUE,
    name         text NOT NULL,
    email        text NOT NULL,
    email_key    text NOT NULL UNIQUE,
    admin        boolean NOT NULL DEFAULT false,
    state        text NOT NULL DEFAULT 'active',
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE personal_access_tokens (
    id           serial PRIMARY KEY,
    user_id      integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name         text NOT NULL,
    token_hash   bytea NOT NULL UNIQUE,
    scopes       text[] NOT NULL,
    expires_at   date,
    revoked_at   timestamptz(3),
    last_used_at timestamptz(3),
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX personal_access_tokens_user_id_idx ON personal_access_tokens (user_id);
CREATE INDEX personal_access_tokens_expires_at_idx ON personal_access_tokens (expires_at);

CREATE TABLE projects (
    id                  serial PRIMARY KEY,
    name                text NOT NULL,
    path                text NOT NULL,
    description         text,
    path_with_namespace text NOT NULL,
    path_key            text NOT NULL UNIQUE,
    owner_id            integer NOT NULL REFERENCES users (id) ON DELETE RESTRICT ON UPDATE CASCADE,
    visibility          text NOT NULL DEFAULT 'private',
    default_branch      text NOT NULL DEFAULT 'main',
    storage             text NOT NULL DEFAULT 'default',
    disk_path           text NOT NULL UNIQUE,
    created_at          timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_activity_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX projects_owner_id_idx ON projects (owner_id);

CREATE TABLE project_members (
    project_id   integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    user_id      integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    access_level integer NOT NULL,
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_members_user_id_idx ON project_members (user_id);

CREATE TABLE protected_branches (
    id                serial,
    project_id        integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name              text NOT NULL,
    push_access_level integer NOT NULL DEFAULT 40,
    allow_force_push  boolean NOT NULL DEFAULT false,
    created_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, name)
);

-- ---- Commit statuses: written by git-api ----------------------------------------------------------

CREATE TABLE commit_statuses (
    id            bigserial,
    project_id    integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    sha           text NOT NULL,
    ref           text,
    name          text NOT NULL,
    stage         text NOT NULL DEFAULT 'external',
    status        text NOT NULL,
    description   text,
    target_url    text,
    coverage      double precision,
    allow_failure boolean NOT NULL DEFAULT false,
    author_id     integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    started_at    timestamptz(3),
    finished_at   timestamptz(3),
    PRIMARY KEY (project_id, id)
);
CREATE INDEX commit_statuses_project_id_sha_ref_name_id_idx ON commit_statuses (project_id, sha, ref, name, id);

-- ---- Broadcast messages: written by admin-broadcast -----------------------------------------------

CREATE TABLE broadcast_messages (
    id         serial PRIMARY KEY,
    message    text NOT NULL,
    starts_at  timestamptz(3) NOT NULL,
    ends_at    timestamptz(3) NOT NULL,
    color      text NOT NULL DEFAULT '#E75E40',
    font       text NOT NULL DEFAULT '#FFFFFF',
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX broadcast_messages_starts_at_ends_at_idx ON broadcast_messages (starts_at, ends_at);

-- ---- Sagas: written by saga-reporter --------------------------------------------------------------

CREATE TABLE saga_events (
    tenant      text NOT NULL,
    id          bigserial,
    received_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    operation   text NOT NULL,
    saga_id     text,
    activity_id text,
    event_id    text,
    content_key bytea NOT NULL,
    result      text NOT NULL,
    request     bytea NOT NULL,
    PRIMARY KEY (tenant, id, received_at)
) PARTITION BY RANGE (received_at);
CREATE INDEX saga_events_tenant_saga_id_id_idx ON saga_events (tenant, saga_id, id);
CREATE INDEX saga_events_tenant_activity_id_id_idx ON saga_events (tenant, activity_id, id);

CREATE TABLE sagas (
    tenant        text NOT NULL,
    id            text NOT NULL,
    service_name  text,
    status        text NOT NULL,
    outcome       text,
    add_time      timestamptz(3),
    started_at    timestamptz(3),
    ended_at      timestamptz(3),
    expires_at    timestamptz(3),
    late          boolean NOT NULL DEFAULT false,
    first_seen_at timestamptz(3) NOT NULL,
    last_event_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX sagas_tenant_last_event_at_id_idx ON sagas (tenant, last_event_at DESC, id);

CREATE TABLE saga_activities (
    tenant                text NOT NULL,
    id                    text NOT NULL,
    saga_id               text,
    "order"               integer,
    status                text NOT NULL,
    time_out_seconds      integer,
    execute_attempts      integer NOT NULL DEFAULT 0,
    compensate_attempts   integer NOT NULL DEFAULT 0,
    add_time              timestamptz(3),
    first_seen_at         timestamptz(3) NOT NULL,
    last_event_at         timestamptz(3) NOT NULL,
    started_at            timestamptz(3),
    ended_at              timestamptz(3),
    aborted_at            timestamptz(3),
    overtime_at           timestamptz(3),
    revoked_at            timestamptz(3),
    compensating_at       timestamptz(3),
    compensated_at        timestamptz(3),
    compensate_aborted_at timestamptz(3),
    final_abort           boolean NOT NULL DEFAULT false,
    overtime_named_saga   boolean NOT NULL DEFAULT false,
    retry_reports         integer NOT NULL DEFAULT 0,
    execute_errors        text,
    compensate_errors     text,
    anomalies             text[] NOT NULL DEFAULT '{}',
    parameter_data        bytea,
    result_data           bytea,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX saga_activities_tenant_saga_id_order_idx ON saga_activities (tenant, saga_id, "order");

-- ---- Partitions of saga_events --------------------------------------------------------------------

-- Safety net: takes the rows of a day that has no partition, so that no event is ever refused.
CREATE TABLE saga_events_default PARTITION OF saga_events DEFAULT;

-- Makes the missing partitions saga_events_YYYYMMDD for `days` days (UTC) from `from_day` on and returns the
-- names of those it made. Safe to repeat and to run at the same time as itself and as writers.
CREATE FUNCTION ensure_saga_event_partitions(from_day date, days integer) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    day date;
    partition_name text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('switchyard.saga_event_partitions', 0));
    FOR day IN SELECT from_day + n FROM generate_series(0, days - 1) AS n LOOP
        partition_name := 'saga_events_' || to_char(day, 'YYYYMMDD');
        CONTINUE WHEN to_regclass(quote_ident(partition_name)) IS NOT NULL;
        BEGIN
            -- ATTACH lets writers of the other partitions go on; CREATE ... PARTITION OF would stop them all.
            EXECUTE format('CREATE TABLE %I (LIKE saga_events INCLUDING ALL)', partition_name);
            EXECUTE format(
                'ALTER TABLE saga_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                partition_name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
            );
            RETURN NEXT partition_name;
        EXCEPTION WHEN check_violation THEN
            -- The default partition already holds rows of this day, and goes on taking them.
            RAISE NOTICE 'no partition for %: saga_events_default holds rows of that day', day;
        END;
    END LOOP;
END;
$$;
