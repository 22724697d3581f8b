-- The time of the last change, which is the version that `If-Match` and `If-Unmodified-Since` compare.
ALTER TABLE protected_branches ADD COLUMN updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
