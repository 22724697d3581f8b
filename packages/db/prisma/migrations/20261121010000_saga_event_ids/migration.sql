-- A caller's own time of an event (metadata x-event-time) is a fact that a rebuild from the log needs.
ALTER TABLE saga_events ADD COLUMN event_time timestamptz(3);

-- Finds an event that was recorded under the id its caller gave it (metadata x-event-id).
CREATE INDEX saga_events_tenant_event_id_idx ON saga_events (tenant, event_id);
