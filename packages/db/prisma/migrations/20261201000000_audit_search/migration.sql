-- Texts in the audit log are found by their trigrams.
CREATE INDEX audit_events_search_idx ON audit_events
    USING gin (event_name gin_trgm_ops, entity_type gin_trgm_ops, entity_id gin_trgm_ops, author_name gin_trgm_ops)
    WITH (gin_pending_list_limit = 256);
