-- Which cell has the sagas of a tenant. Rows are changed and never deleted: reporters read what has changed since they looked last.
CREATE TABLE saga_tenant_cells (
    tenant     text PRIMARY KEY,
    cell       text,
    changed_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX saga_tenant_cells_changed_at_idx ON saga_tenant_cells (changed_at);
