-- Sweeps look through the flags of one kind over all tenants, and figures count them.
CREATE INDEX saga_flags_kind_tenant_saga_id_activity_id_idx ON saga_flags (kind, tenant, saga_id, activity_id);
