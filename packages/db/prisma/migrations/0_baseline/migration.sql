-- The whole data model of ../../schema.prisma, which describes the columns. What Prisma cannot say is said here: partial
-- indexes, collations, room on pages, the partitions of saga_events and the functions that make and drop them.
-- Identifiers of sagas are compared byte by byte (COLLATE "C").

-- For searching in texts by their trigrams.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- ---- Users, projects and tokens -----------------------------------------------------------------

CREATE TABLE users (
    id           serial PRIMARY KEY,
    username     text NOT NULL,
    username_key text NOT NULL UNIQUE,
    name         text NOT NULL,
    email        text NOT NULL,
    email_key    text NOT NULL UNIQUE,
    admin        boolean NOT NULL DEFAULT false,
    state        text NOT NULL DEFAULT 'active',
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    bot          boolean NOT NULL DEFAULT false,
    updated_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    profile      jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE projects (
    id                    serial PRIMARY KEY,
    name                  text NOT NULL,
    path                  text NOT NULL,
    description           text,
    path_with_namespace   text NOT NULL,
    path_key              text NOT NULL UNIQUE,
    owner_id              integer NOT NULL REFERENCES users (id) ON DELETE RESTRICT ON UPDATE CASCADE,
    visibility            text NOT NULL DEFAULT 'private',
    default_branch        text NOT NULL DEFAULT 'main',
    storage               text NOT NULL DEFAULT 'default',
    disk_path             text NOT NULL UNIQUE,
    created_at            timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_activity_at      timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    topics                text[] NOT NULL DEFAULT '{}',
    archived              boolean NOT NULL DEFAULT false,
    last_deployment_iid   integer NOT NULL DEFAULT 0,
    lfs_enabled           boolean NOT NULL DEFAULT true,
    repository_size_limit double precision,
    updated_at            timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    wanted_default_branch text,
    settings              jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX projects_owner_id_idx ON projects (owner_id);
CREATE INDEX projects_topics_idx ON projects USING gin (topics);

CREATE TABLE personal_access_tokens (
    id           serial PRIMARY KEY,
    user_id      integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name         text NOT NULL,
    token_hash   bytea NOT NULL UNIQUE,
    scopes       text[] NOT NULL,
    expires_at   date,
    revoked_at   timestamptz(3),
    last_used_at timestamptz(3),
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    project_id   integer REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    created_by   integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    tenants      text[] NOT NULL DEFAULT '{}',
    description  text
);
CREATE INDEX personal_access_tokens_user_id_idx ON personal_access_tokens (user_id);
CREATE INDEX personal_access_tokens_expires_at_idx ON personal_access_tokens (expires_at);
CREATE INDEX personal_access_tokens_project_id_idx ON personal_access_tokens (project_id);
CREATE INDEX personal_access_tokens_created_by_idx ON personal_access_tokens (created_by);

CREATE TABLE sessions (
    id           serial PRIMARY KEY,
    secret_hash  bytea NOT NULL,
    token_id     integer NOT NULL REFERENCES personal_access_tokens (id) ON DELETE CASCADE ON UPDATE CASCADE,
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_used_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    idle_until   timestamptz(3) NOT NULL,
    expires_at   timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX sessions_secret_hash_key ON sessions (secret_hash);
CREATE INDEX sessions_token_id_idx ON sessions (token_id);
CREATE INDEX sessions_idle_until_idx ON sessions (idle_until);

-- A move outlives its project, because the copy that it leaves behind is removed later.
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
CREATE UNIQUE INDEX repository_storage_moves_active_idx
    ON repository_storage_moves (project_id) WHERE state IN ('scheduled', 'started');
-- Copies that are still to be removed.
CREATE INDEX repository_storage_moves_left_idx
    ON repository_storage_moves (source, finished_at) WHERE state = 'finished' AND source_removed_at IS NULL;

CREATE TABLE project_members (
    project_id   integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    user_id      integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    access_level integer NOT NULL,
    created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expires_at   date,
    updated_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_members_user_id_idx ON project_members (user_id);

CREATE TABLE protected_branches (
    id                           serial,
    project_id                   integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name                         text NOT NULL,
    push_access_level            integer NOT NULL DEFAULT 40,
    allow_force_push             boolean NOT NULL DEFAULT false,
    created_at                   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    push_access_levels           integer[] NOT NULL DEFAULT '{}',
    merge_access_levels          integer[] NOT NULL DEFAULT '{}',
    unprotect_access_levels      integer[] NOT NULL DEFAULT '{}',
    code_owner_approval_required boolean NOT NULL DEFAULT false,
    updated_at                   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id),
    UNIQUE (project_id, name)
);

CREATE TABLE protected_tags (
    id                   serial,
    project_id           integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name                 text NOT NULL,
    create_access_level  integer NOT NULL DEFAULT 40,
    created_at           timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    create_access_levels integer[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX protected_tags_project_id_name_key ON protected_tags (project_id, name);

-- ---- Git LFS and deploy tokens ------------------------------------------------------------------

CREATE TABLE lfs_objects (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    oid        text NOT NULL,
    size       bigint NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, oid)
);

CREATE TABLE storage_uses (
    project_id       integer PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    repository_bytes bigint,
    lfs_bytes        bigint NOT NULL DEFAULT 0
);

CREATE TABLE lfs_locks (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         serial,
    path       text NOT NULL,
    owner_id   integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    locked_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX lfs_locks_project_id_path_key ON lfs_locks (project_id, path);
CREATE INDEX lfs_locks_owner_id_idx ON lfs_locks (owner_id);

CREATE TABLE deploy_tokens (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         serial,
    name       text NOT NULL,
    username   text,
    token_hash bytea NOT NULL,
    expires_at timestamptz(3),
    created_by integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX deploy_tokens_token_hash_key ON deploy_tokens (token_hash);
CREATE INDEX deploy_tokens_created_by_idx ON deploy_tokens (created_by);

-- ---- Releases -----------------------------------------------------------------------------------

CREATE TABLE releases (
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id          bigserial,
    tag         text NOT NULL,
    name        text NOT NULL,
    description text,
    author_id   integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    released_at timestamptz(3) NOT NULL,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX releases_project_id_tag_key ON releases (project_id, tag);
CREATE INDEX releases_project_id_released_at_id_idx ON releases (project_id, released_at, id);
CREATE INDEX releases_project_id_created_at_id_idx ON releases (project_id, created_at, id);

CREATE TABLE release_links (
    project_id integer NOT NULL,
    id         bigserial,
    release_id bigint NOT NULL,
    name       text NOT NULL,
    url        text NOT NULL,
    file_path  text,
    link_type  text NOT NULL DEFAULT 'other',
    updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, release_id) REFERENCES releases (project_id, id)
        ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX release_links_project_id_release_id_name_key ON release_links (project_id, release_id, name);
CREATE UNIQUE INDEX release_links_project_id_release_id_url_key ON release_links (project_id, release_id, url);
CREATE UNIQUE INDEX release_links_project_id_release_id_file_path_key
    ON release_links (project_id, release_id, file_path);

-- ---- Commit statuses, pipelines and comments ----------------------------------------------------

-- Room on each page lets a change of state stay there without touching any index.
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
    superseded    boolean NOT NULL DEFAULT false,
    pipeline_id   bigint NOT NULL,
    PRIMARY KEY (project_id, id)
) WITH (fillfactor = 85);
-- One newest record for each ref and name, whatever the number of writers.
CREATE UNIQUE INDEX commit_statuses_newest_idx
    ON commit_statuses (project_id, sha, ref, name) NULLS NOT DISTINCT WHERE NOT superseded;
-- Pages of a commit's statuses are counted and skipped in the index alone.
CREATE INDEX commit_statuses_page_idx ON commit_statuses (project_id, sha, id, ref, superseded);

-- Room on each page lets a change of state stay there without touching any index.
CREATE TABLE pipelines (
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id          bigserial,
    sha         text NOT NULL,
    ref         text,
    status      text NOT NULL DEFAULT 'created',
    coverage    double precision,
    author_id   integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    started_at  timestamptz(3),
    finished_at timestamptz(3),
    PRIMARY KEY (project_id, id)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX pipelines_project_id_sha_ref_key ON pipelines (project_id, sha, ref) NULLS NOT DISTINCT;
CREATE INDEX pipelines_project_id_ref_id_idx ON pipelines (project_id, ref, id);

CREATE TABLE commit_comments (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         bigserial,
    sha        text NOT NULL,
    note       text NOT NULL,
    path       text,
    line       integer,
    line_type  text,
    author_id  integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX commit_comments_project_id_sha_id_idx ON commit_comments (project_id, sha, id);

-- ---- Deployments --------------------------------------------------------------------------------

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
-- The few deployments of a project that are running.
CREATE INDEX deployments_running_idx ON deployments (project_id, id) WHERE status = 'running';

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

-- ---- Console, audit log and broadcast messages --------------------------------------------------

CREATE TABLE saved_views (
    user_id    integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         serial,
    page       text NOT NULL,
    name       text NOT NULL,
    query      text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX saved_views_user_id_page_name_key ON saved_views (user_id, page, name);

-- Append-only, and without references: an entry outlives what it tells of.
CREATE TABLE audit_events (
    id          bigserial PRIMARY KEY,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    author_id   integer,
    author_name text NOT NULL,
    token_id    integer,
    event_name  text NOT NULL,
    entity_type text NOT NULL,
    entity_id   text NOT NULL,
    details     jsonb NOT NULL,
    request_id  text,
    ip_address  text
);
CREATE INDEX audit_events_entity_type_entity_id_id_idx ON audit_events (entity_type, entity_id, id);
CREATE INDEX audit_events_author_id_id_idx ON audit_events (author_id, id);
CREATE INDEX audit_events_created_at_idx ON audit_events (created_at);
CREATE INDEX audit_events_search_idx
    ON audit_events USING gin (event_name gin_trgm_ops, entity_type gin_trgm_ops, entity_id gin_trgm_ops, author_name gin_trgm_ops)
    WITH (gin_pending_list_limit = 256);

CREATE TABLE broadcast_messages (
    id             serial PRIMARY KEY,
    message        text NOT NULL,
    starts_at      timestamptz(3) NOT NULL,
    ends_at        timestamptz(3) NOT NULL,
    color          text NOT NULL DEFAULT '#E75E40',
    font           text NOT NULL DEFAULT '#FFFFFF',
    created_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    broadcast_type text NOT NULL DEFAULT 'banner',
    dismissable    boolean NOT NULL DEFAULT false,
    target_path    text,
    theme          text NOT NULL DEFAULT 'indigo'
);
CREATE INDEX broadcast_messages_starts_at_ends_at_idx ON broadcast_messages (starts_at, ends_at);
-- Messages that are not over yet.
CREATE INDEX broadcast_messages_ends_at_idx ON broadcast_messages (ends_at);

-- ---- Log of saga events -------------------------------------------------------------------------

-- Append-only log of every acknowledged event, partitioned by the day (UTC) of its receipt. Nobody may keep ids of its
-- sequence for later (CACHE 1): a follower waits until whoever has drawn an id has ended, and sees that by the lock that
-- drawing takes on the sequence for the rest of the transaction.
CREATE TABLE saga_events (
    tenant         text COLLATE "C" NOT NULL,
    id             bigserial,
    received_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    operation      text NOT NULL,
    saga_id        text COLLATE "C",
    activity_id    text COLLATE "C",
    event_id       text COLLATE "C",
    content_key    bytea NOT NULL,
    result         text NOT NULL,
    request        bytea NOT NULL,
    event_time     timestamptz(3),
    event_seq      bigint,
    attempt        integer,
    trace_parent   text,
    payload_size   integer,
    payload_sha256 bytea,
    parent_saga_id text COLLATE "C",
    PRIMARY KEY (id, received_at)
) PARTITION BY RANGE (received_at);
CREATE INDEX saga_events_tenant_saga_id_id_idx ON saga_events (tenant, saga_id, id);
-- Events whose saga is not known yet. An event with a saga is found by its saga.
CREATE INDEX saga_events_parked_idx ON saga_events (tenant, activity_id, id) WHERE saga_id IS NULL;
-- Takes the rows of a day that has no partition, so that no event is ever refused.
CREATE TABLE saga_events_default PARTITION OF saga_events DEFAULT;

-- Services log in as roles that own nothing. These two functions do for the worker what only the owner of saga_events
-- may do, and nothing else; `applyRoles` of packages/db says who may call them.

-- Makes the missing partitions saga_events_YYYYMMDD for `days` days (UTC) from `from_day` on and returns the
-- names of those it made. Safe to repeat and to run at the same time as itself and as writers.
CREATE FUNCTION ensure_saga_event_partitions(from_day date, days integer) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
            -- Retention looks through one partition at a time. Without roles of services there is nobody to grant to.
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'switchyard_worker') THEN
                EXECUTE format('GRANT SELECT, DELETE ON %I TO switchyard_worker', partition_name);
            END IF;
            RETURN NEXT partition_name;
        EXCEPTION WHEN check_violation THEN
            -- The default partition already holds rows of this day, and goes on taking them.
            RAISE NOTICE 'no partition for %: saga_events_default holds rows of that day', day;
        END;
    END LOOP;
END;
$$;

-- Drops the partition of one day.
CREATE FUNCTION drop_saga_event_partition(partition_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF partition_name !~ '^saga_events_[0-9]{8}$' OR NOT EXISTS (
        SELECT FROM pg_inherits
        WHERE inhparent = 'saga_events'::regclass AND inhrelid = to_regclass(quote_ident(partition_name))
    ) THEN
        RAISE EXCEPTION '% is not the partition of a day of saga_events', partition_name;
    END IF;
    EXECUTE format('DROP TABLE %I', partition_name);
END;
$$;

REVOKE ALL ON FUNCTION ensure_saga_event_partitions(date, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION drop_saga_event_partition(text) FROM PUBLIC;

-- The log has no unique index on the callers' ids, because a partitioned table would need the day in it.
CREATE TABLE saga_event_ids (
    tenant   text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, event_id)
);

-- ---- Sagas, derived from the log ----------------------------------------------------------------

-- Room on each page lets a change of state stay there without touching any index.
CREATE TABLE sagas (
    tenant         text COLLATE "C" NOT NULL,
    id             text COLLATE "C" NOT NULL,
    service_name   text,
    status         text NOT NULL,
    outcome        text,
    add_time       timestamptz(3),
    started_at     timestamptz(3),
    ended_at       timestamptz(3),
    expires_at     timestamptz(3),
    late           boolean NOT NULL DEFAULT false,
    first_seen_at  timestamptz(3) NOT NULL,
    last_event_at  timestamptz(3) NOT NULL,
    content_keys   bytea NOT NULL DEFAULT '',
    resolved_at    timestamptz(3),
    resolved_by    text,
    parent_saga_id text COLLATE "C",
    PRIMARY KEY (tenant, id)
) WITH (fillfactor = 85);
CREATE INDEX sagas_tenant_last_event_at_id_idx ON sagas (tenant, last_event_at DESC, id);
CREATE INDEX sagas_tenant_first_seen_at_id_idx ON sagas (tenant, first_seen_at DESC, id);
CREATE INDEX sagas_tenant_service_name_first_seen_at_id_idx ON sagas (tenant, service_name, first_seen_at DESC, id);
CREATE INDEX sagas_tenant_status_first_seen_at_id_idx ON sagas (tenant, status, first_seen_at DESC, id);
CREATE INDEX sagas_outcome_idx ON sagas (tenant, outcome, first_seen_at DESC, id) WHERE outcome IS NOT NULL;
CREATE INDEX sagas_ended_idx ON sagas (tenant, ended_at DESC, id) WHERE ended_at IS NOT NULL;
CREATE INDEX sagas_late_idx ON sagas (tenant, first_seen_at DESC, id) WHERE late;
-- What is not over, the stalest first.
CREATE INDEX sagas_open_idx ON sagas (last_event_at) WHERE ended_at IS NULL;
-- Candidates of sweeps. An ordinary saga is in none of the next three indexes for long, so they cost reporting little.
CREATE INDEX sagas_unstarted_idx ON sagas (first_seen_at, tenant, id) WHERE started_at IS NULL AND ended_at IS NULL;
CREATE INDEX sagas_inconsistent_idx ON sagas (tenant, id) WHERE outcome = 'inconsistent';
CREATE INDEX sagas_expiry_idx ON sagas (expires_at, tenant, id) WHERE expires_at IS NOT NULL;
-- Retention finds resolved sagas that never ended by it.
CREATE INDEX sagas_resolved_idx ON sagas (resolved_at, tenant, id) WHERE resolved_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX sagas_parent_idx
    ON sagas (tenant, parent_saga_id, first_seen_at DESC, id) WHERE parent_saga_id IS NOT NULL;

-- An activity is written twice, and holds its result from then on: room for that within its page.
CREATE TABLE saga_activities (
    tenant                   text COLLATE "C" NOT NULL,
    id                       text COLLATE "C" NOT NULL,
    saga_id                  text COLLATE "C",
    "order"                  integer,
    status                   text NOT NULL,
    time_out_seconds         integer,
    execute_attempts         integer NOT NULL DEFAULT 0,
    compensate_attempts      integer NOT NULL DEFAULT 0,
    add_time                 timestamptz(3),
    first_seen_at            timestamptz(3) NOT NULL,
    last_event_at            timestamptz(3) NOT NULL,
    started_at               timestamptz(3),
    ended_at                 timestamptz(3),
    aborted_at               timestamptz(3),
    overtime_at              timestamptz(3),
    revoked_at               timestamptz(3),
    compensating_at          timestamptz(3),
    compensated_at           timestamptz(3),
    compensate_aborted_at    timestamptz(3),
    final_abort              boolean NOT NULL DEFAULT false,
    overtime_named_saga      boolean NOT NULL DEFAULT false,
    retry_reports            integer NOT NULL DEFAULT 0,
    execute_errors           text,
    compensate_errors        text,
    anomalies                text[] NOT NULL DEFAULT '{}',
    parameter_data           bytea,
    result_data              bytea,
    content_keys             bytea NOT NULL DEFAULT '',
    deadline_at              timestamptz(3),
    given_up_at              timestamptz(3),
    parameter_size           integer,
    parameter_sha256         bytea,
    result_size              integer,
    result_sha256            bytea,
    execute_errors_size      integer,
    execute_errors_sha256    bytea,
    compensate_errors_size   integer,
    compensate_errors_sha256 bytea,
    error_fingerprint        text COLLATE "C",
    PRIMARY KEY (tenant, id)
) WITH (fillfactor = 50);
CREATE INDEX saga_activities_tenant_saga_id_order_idx ON saga_activities (tenant, saga_id, "order");
CREATE INDEX saga_activities_deadline_idx ON saga_activities (deadline_at) WHERE deadline_at IS NOT NULL;
-- Candidates of sweeps. An ordinary activity is in neither of the next two indexes.
CREATE INDEX saga_activities_parked_idx ON saga_activities (first_seen_at, tenant, id) WHERE saga_id IS NULL;
CREATE INDEX saga_activities_anomalies_idx ON saga_activities (tenant, id) WHERE anomalies <> '{}';

CREATE TABLE saga_tags (
    tenant        text COLLATE "C" NOT NULL,
    saga_id       text COLLATE "C" NOT NULL,
    tag           text COLLATE "C" NOT NULL,
    first_seen_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant, saga_id, tag)
);
CREATE INDEX saga_tags_tenant_tag_first_seen_at_saga_id_idx ON saga_tags (tenant, tag, first_seen_at DESC, saga_id);

-- The errors of the few activities that have some: narrow rows that are quick to look through. Whoever writes or deletes an
-- activity does the same to its errors in one transaction.
CREATE TABLE saga_errors (
    tenant        text COLLATE "C" NOT NULL,
    activity_id   text COLLATE "C" NOT NULL,
    saga_id       text COLLATE "C" NOT NULL,
    first_seen_at timestamptz(3) NOT NULL,
    failed_at     timestamptz(3) NOT NULL,
    fingerprint   text COLLATE "C" NOT NULL,
    text          text NOT NULL,
    folded        text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, activity_id)
);
CREATE INDEX saga_errors_tenant_first_seen_at_saga_id_idx ON saga_errors (tenant, first_seen_at DESC, saga_id);
CREATE INDEX saga_errors_tenant_saga_id_idx ON saga_errors (tenant, saga_id);
-- A short list of pending entries: every search reads through it.
CREATE INDEX saga_errors_folded_idx ON saga_errors USING gin (folded gin_trgm_ops) WITH (gin_pending_list_limit = 256);
CREATE INDEX saga_errors_tenant_fingerprint_first_seen_at_saga_id_idx
    ON saga_errors (tenant, fingerprint, first_seen_at DESC, saga_id);

-- ---- Work of operators and workers on sagas -----------------------------------------------------

-- A row stays when its lease has ended: it knows the attempts and the pause after them.
CREATE TABLE saga_leases (
    tenant       text COLLATE "C" NOT NULL,
    saga_id      text COLLATE "C" NOT NULL,
    token        uuid NOT NULL UNIQUE,
    worker       text NOT NULL,
    leased_at    timestamptz(3) NOT NULL,
    leased_until timestamptz(3) NOT NULL,
    attempts     integer NOT NULL,
    available_at timestamptz(3) NOT NULL,
    resolution   text,
    resolved_at  timestamptz(3),
    note         text,
    PRIMARY KEY (tenant, saga_id)
);

CREATE TABLE saga_notes (
    tenant      text COLLATE "C" NOT NULL,
    id          bigserial,
    saga_id     text COLLATE "C" NOT NULL,
    author_id   integer NOT NULL,
    author_name text NOT NULL,
    body        text NOT NULL,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX saga_notes_tenant_saga_id_id_idx ON saga_notes (tenant, saga_id, id);

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
    FOREIGN KEY (tenant, job_id) REFERENCES saga_bulk_jobs (tenant, id)
        ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE saga_flags (
    tenant        text COLLATE "C" NOT NULL,
    kind          text NOT NULL,
    saga_id       text COLLATE "C" NOT NULL,
    activity_id   text COLLATE "C" NOT NULL DEFAULT '',
    since         timestamptz(3) NOT NULL,
    first_seen_at timestamptz(3) NOT NULL,
    set_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tenant, kind, saga_id, activity_id)
);
CREATE INDEX saga_flags_tenant_kind_first_seen_at_saga_id_idx
    ON saga_flags (tenant, kind, first_seen_at DESC, saga_id);
-- Followers of new flags read by it.
CREATE INDEX saga_flags_set_at_idx ON saga_flags (set_at);
-- Sweeps look through the flags of one kind over all tenants, and metrics count them.
CREATE INDEX saga_flags_kind_tenant_saga_id_activity_id_idx ON saga_flags (kind, tenant, saga_id, activity_id);
CREATE INDEX saga_flags_tenant_saga_id_idx ON saga_flags (tenant, saga_id);

CREATE TABLE saga_tombstones (
    tenant    text COLLATE "C" NOT NULL,
    kind      text NOT NULL,
    id        text COLLATE "C" NOT NULL,
    purged_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tenant, kind, id)
);
CREATE INDEX saga_tombstones_purged_at_idx ON saga_tombstones (purged_at);

CREATE TABLE saga_sweeps (
    name        text PRIMARY KEY,
    position    jsonb NOT NULL DEFAULT '{}',
    owner       text,
    owned_until timestamptz(3),
    updated_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- ---- Webhooks -----------------------------------------------------------------------------------

CREATE TABLE webhooks (
    id                     serial PRIMARY KEY,
    scope                  text NOT NULL,
    tenant                 text COLLATE "C",
    project_id             integer REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    url                    text NOT NULL,
    host                   text NOT NULL,
    secret                 text,
    events                 text[] NOT NULL,
    service_name           text,
    enabled                boolean NOT NULL DEFAULT true,
    disabled_reason        text,
    disabled_at            timestamptz(3),
    failing_since          timestamptz(3),
    consecutive_failures   integer NOT NULL DEFAULT 0,
    created_by             integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at             timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at             timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    encrypted_secret       bytea,
    secret_key_id          text,
    previous_secret        bytea,
    previous_secret_key_id text,
    previous_secret_until  timestamptz(3),
    name                   text,
    description            text,
    branch_filter          text,
    branch_filter_strategy text NOT NULL DEFAULT 'wildcard',
    verify_tls             boolean NOT NULL DEFAULT true,
    body_template          text,
    header_names           text[] NOT NULL DEFAULT '{}',
    encrypted_headers      bytea,
    headers_key_id         text,
    CONSTRAINT webhooks_scope_check CHECK (
        (scope = 'saga' AND tenant IS NOT NULL AND project_id IS NULL)
        OR (scope = 'project' AND project_id IS NOT NULL AND tenant IS NULL)
    )
);
CREATE INDEX webhooks_tenant_idx ON webhooks (tenant);
CREATE INDEX webhooks_project_id_idx ON webhooks (project_id);
CREATE INDEX webhooks_host_idx ON webhooks (host);
CREATE INDEX webhooks_created_by_idx ON webhooks (created_by);

CREATE TABLE webhook_deliveries (
    webhook_id       integer NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id               uuid NOT NULL DEFAULT gen_random_uuid(),
    event            text NOT NULL,
    dedupe_key       text NOT NULL,
    payload          text NOT NULL,
    request_headers  jsonb NOT NULL DEFAULT '{}',
    state            text NOT NULL DEFAULT 'pending',
    attempts         integer NOT NULL DEFAULT 0,
    -- While it is being sent, when it is due again should nobody tell its end.
    next_attempt_at  timestamptz(3),
    created_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    attempted_at     timestamptz(3),
    duration_ms      integer,
    response_status  integer,
    response_headers jsonb,
    response_body    text,
    error            text,
    PRIMARY KEY (webhook_id, id)
);
CREATE UNIQUE INDEX webhook_deliveries_webhook_id_dedupe_key_key ON webhook_deliveries (webhook_id, dedupe_key);
CREATE INDEX webhook_deliveries_webhook_id_created_at_id_idx ON webhook_deliveries (webhook_id, created_at DESC, id);
CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';

-- A row is deleted when its deliveries are stored, so that a change whose process ended in between is told by another one.
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

CREATE TABLE webhook_cursors (
    name         text PRIMARY KEY,
    position     bigint NOT NULL,
    -- The next id to read up to, once every transaction that may hold an id below it has ended: those before horizon_xid.
    horizon      bigint,
    horizon_xid  bigint,
    flags_set_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO webhook_cursors (name, position) VALUES ('sagas', 0);
