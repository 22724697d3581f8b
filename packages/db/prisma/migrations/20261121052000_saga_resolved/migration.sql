-- Retention finds resolved sagas that never ended by it; hardly any saga is in it.
CREATE INDEX sagas_resolved_idx ON sagas (resolved_at, tenant, id) WHERE resolved_at IS NOT NULL AND ended_at IS NULL;
