-- Levels as they were given. Empty: the single level of the older column counts.
ALTER TABLE protected_branches
    ADD COLUMN push_access_levels integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN merge_access_levels integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN unprotect_access_levels integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN code_owner_approval_required boolean NOT NULL DEFAULT false;
