-- What clients set and read back.

-- The default branch that was asked for, while another branch stands in for it.
ALTER TABLE projects
    ADD COLUMN wanted_default_branch text,
    ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';

-- An empty list of levels: the single level of the older column counts.
ALTER TABLE protected_branches
    ADD COLUMN push_access_levels integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN merge_access_levels integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN unprotect_access_levels integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN code_owner_approval_required boolean NOT NULL DEFAULT false;

ALTER TABLE protected_tags ADD COLUMN create_access_levels integer[] NOT NULL DEFAULT '{}';

ALTER TABLE webhooks
    ADD COLUMN name text,
    ADD COLUMN description text,
    ADD COLUMN branch_filter text,
    ADD COLUMN branch_filter_strategy text NOT NULL DEFAULT 'wildcard',
    ADD COLUMN verify_tls boolean NOT NULL DEFAULT true,
    ADD COLUMN body_template text,
    ADD COLUMN header_names text[] NOT NULL DEFAULT '{}',
    ADD COLUMN encrypted_headers bytea,
    ADD COLUMN headers_key_id text;
