-- The saga that began another one (metadata x-parent-saga-id).
ALTER TABLE saga_events ADD COLUMN parent_saga_id text COLLATE "C";
ALTER TABLE sagas ADD COLUMN parent_saga_id text COLLATE "C";
CREATE INDEX sagas_parent_idx ON sagas (tenant, parent_saga_id, first_seen_at DESC, id) WHERE parent_saga_id IS NOT NULL;
