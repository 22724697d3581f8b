-- The default branch that was asked for, while another branch stands in for it, and the settings that clients read back.
ALTER TABLE projects
    ADD COLUMN wanted_default_branch text,
    ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';
