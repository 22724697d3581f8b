-- From where and to where a tenant moves, until nothing of it is left in the cell that it leaves, and which move that is.
ALTER TABLE saga_tenant_cells ADD COLUMN moves_from text;
ALTER TABLE saga_tenant_cells ADD COLUMN moves_to text;
ALTER TABLE saga_tenant_cells ADD COLUMN move_id uuid;
