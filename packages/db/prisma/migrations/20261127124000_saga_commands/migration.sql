-- What operators ask of the orchestrators of sagas.
CREATE TABLE saga_commands (
    tenant         text COLLATE "C" NOT NULL,
    id             uuid NOT NULL DEFAULT gen_random_uuid(),
    saga_id        text COLLATE "C" NOT NULL,
    service_name   text NOT NULL,
    kind           text NOT NULL,
    activity_id    text COLLATE "C",
    reason         text NOT NULL,
    batch_id       uuid,
    state          text NOT NULL,
    doubtful       boolean NOT NULL DEFAULT false,
    author_id      integer NOT NULL,
    author_name    text NOT NULL,
    created_at     timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expires_at     timestamptz(3) NOT NULL,
    due_at         timestamptz(3),
    decided_by     text,
    decided_at     timestamptz(3),
    lease_token    uuid,
    worker         text,
    deliveries     integer NOT NULL DEFAULT 0,
    message        text,
    ended_at       timestamptz(3),
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX saga_commands_lease_token_key ON saga_commands (lease_token);
CREATE INDEX saga_commands_tenant_saga_id_created_at_idx ON saga_commands (tenant, saga_id, created_at DESC);
CREATE INDEX saga_commands_tenant_created_at_id_idx ON saga_commands (tenant, created_at DESC, id);
-- A saga has one command at a time that has not ended.
CREATE UNIQUE INDEX saga_commands_open_idx ON saga_commands (tenant, saga_id)
    WHERE state IN ('waiting_for_approval', 'pending', 'leased');
CREATE INDEX saga_commands_pending_idx ON saga_commands (tenant, service_name, created_at) WHERE state = 'pending';
CREATE INDEX saga_commands_due_idx ON saga_commands (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX saga_commands_open_author_idx ON saga_commands (author_id)
    WHERE state IN ('waiting_for_approval', 'pending', 'leased');
