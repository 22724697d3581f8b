-- Levels as they were given. Empty: the single level of the older column counts.
ALTER TABLE protected_tags ADD COLUMN create_access_levels integer[] NOT NULL DEFAULT '{}';
