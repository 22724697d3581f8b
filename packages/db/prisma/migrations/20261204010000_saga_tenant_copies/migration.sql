-- The moves whose rows are all in this database, written in the transaction that copies them.
CREATE TABLE saga_tenant_copies (
    move_id   uuid PRIMARY KEY,
    copied_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
