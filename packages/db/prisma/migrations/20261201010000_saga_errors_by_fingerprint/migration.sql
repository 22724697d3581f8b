-- The sagas whose errors have one fingerprint, in the order of lists.
CREATE INDEX saga_errors_tenant_fingerprint_first_seen_at_saga_id_idx
    ON saga_errors (tenant, fingerprint, first_seen_at DESC, saga_id);
