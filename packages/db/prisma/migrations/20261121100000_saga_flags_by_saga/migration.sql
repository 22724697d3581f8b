-- Shows the flags of the sagas of a page, and lets purging find them.
CREATE INDEX saga_flags_tenant_saga_id_idx ON saga_flags (tenant, saga_id);
