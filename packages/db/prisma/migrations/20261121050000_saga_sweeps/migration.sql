-- What background work derives and remembers about sagas: flags for operators, tombstones of what retention has
-- removed, and how far each sweep has come. Written by the worker alone; reporting an event touches none of it, but
-- looks up tombstones of ids that it has no row for.

-- What no client can report: that something is overdue, stuck, settled, parked or inconsistent.
CREATE TABLE saga_flags (
    tenant        text COLLATE "C" NOT NULL,
    kind          text NOT NULL,
    -- '' for an activity without a saga.
    saga_id       text COLLATE "C" NOT NULL,
    -- '' when the flag is the saga's.
    activity_id   text COLLATE "C" NOT NULL DEFAULT '',
    -- Since when it is so.
    since         timestamptz(3) NOT NULL,
    -- first_seen_at of the saga, or of an activity without one: the order of lists.
    first_seen_at timestamptz(3) NOT NULL,
    -- When a sweep noticed.
    set_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tenant, kind, saga_id, activity_id)
);
CREATE INDEX saga_flags_tenant_kind_first_seen_at_saga_id_idx
    ON saga_flags (tenant, kind, first_seen_at DESC, saga_id);
-- Followers of new flags read by it.
CREATE INDEX saga_flags_set_at_idx ON saga_flags (set_at);

-- Ids of sagas and activities that retention removed: what is reported about them later is answered and not stored.
CREATE TABLE saga_tombstones (
    tenant    text COLLATE "C" NOT NULL,
    -- 'saga' or 'activity'
    kind      text NOT NULL,
    id        text COLLATE "C" NOT NULL,
    purged_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tenant, kind, id)
);
CREATE INDEX saga_tombstones_purged_at_idx ON saga_tombstones (purged_at);

-- How far background work has come through its rows, and who does what only one process may do.
CREATE TABLE saga_sweeps (
    name        text PRIMARY KEY,
    position    jsonb NOT NULL DEFAULT '{}',
    owner       text,
    owned_until timestamptz(3),
    updated_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- Candidates of the sweeps. Nothing in these indexes changes with an ordinary event, so they cost reporting nothing:
-- an ordinary saga or activity is in none of them.
CREATE INDEX saga_activities_parked_idx ON saga_activities (first_seen_at, tenant, id) WHERE saga_id IS NULL;
CREATE INDEX saga_activities_anomalies_idx ON saga_activities (tenant, id) WHERE anomalies <> '{}';
CREATE INDEX sagas_unstarted_idx ON sagas (first_seen_at, tenant, id) WHERE started_at IS NULL AND ended_at IS NULL;
CREATE INDEX sagas_inconsistent_idx ON sagas (tenant, id) WHERE outcome = 'inconsistent';
CREATE INDEX sagas_expiry_idx ON sagas (expires_at, tenant, id) WHERE expires_at IS NOT NULL;
