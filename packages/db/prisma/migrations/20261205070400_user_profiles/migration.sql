-- The fields of users that clients read back.
ALTER TABLE users ADD COLUMN profile jsonb NOT NULL DEFAULT '{}';
