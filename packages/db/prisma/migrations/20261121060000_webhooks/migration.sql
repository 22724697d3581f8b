-- Who is told of events over HTTP, what has been or has to be sent, and how far the events of sagas have been read.

CREATE TABLE webhooks (
    id                   serial PRIMARY KEY,
    -- 'saga': a tenant's sagas; 'project': one project.
    scope                text NOT NULL,
    tenant               text COLLATE "C",
    project_id           integer REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    url                  text NOT NULL,
    -- Host of the URL: deliveries to one host share a bound.
    host                 text NOT NULL,
    -- As it is, because signatures are made with it. No query of the API reads it.
    secret               text,
    events               text[] NOT NULL,
    -- Only sagas of this service; null: of every one.
    service_name         text,
    enabled              boolean NOT NULL DEFAULT true,
    -- Why the worker disabled it; null when it did not.
    disabled_reason      text,
    disabled_at          timestamptz(3),
    -- The first failure after the last success; null while deliveries succeed.
    failing_since        timestamptz(3),
    consecutive_failures integer NOT NULL DEFAULT 0,
    created_by           integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at           timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at           timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
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
    -- Sent as X-Switchyard-Delivery, the same at every attempt.
    id               uuid NOT NULL DEFAULT gen_random_uuid(),
    event            text NOT NULL,
    -- What happened, so that telling it twice makes one delivery.
    dedupe_key       text NOT NULL,
    -- The body, byte for byte as it is sent.
    payload          text NOT NULL,
    request_headers  jsonb NOT NULL DEFAULT '{}',
    -- 'pending', 'succeeded' or 'failed'
    state            text NOT NULL DEFAULT 'pending',
    -- Made so far, also those that were cut off.
    attempts         integer NOT NULL DEFAULT 0,
    -- Of a pending delivery: when it is due. While it is being sent, when it is due again should nobody tell its end.
    next_attempt_at  timestamptz(3),
    created_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- The last attempt and what came of it.
    attempted_at     timestamptz(3),
    duration_ms      integer,
    response_status  integer,
    response_headers jsonb,
    response_body    text,
    error            text,
    PRIMARY KEY (webhook_id, id)
);
CREATE UNIQUE INDEX webhook_deliveries_webhook_id_dedupe_key_key ON webhook_deliveries (webhook_id, dedupe_key);
CREATE INDEX webhook_deliveries_webhook_id_created_at_id_idx
    ON webhook_deliveries (webhook_id, created_at DESC, id);
CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'pending';

-- How far the worker has read what webhooks tell of.
CREATE TABLE webhook_cursors (
    name         text PRIMARY KEY,
    -- Id of the last event that was read.
    position     bigint NOT NULL,
    -- The next to read up to, once every transaction that may hold an id below it has ended: those before horizon_xid.
    horizon      bigint,
    horizon_xid  bigint,
    -- When the flags that were read last had been set.
    flags_set_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO webhook_cursors (name, position)
VALUES ('sagas', COALESCE(pg_sequence_last_value('saga_events_id_seq'), 0));
