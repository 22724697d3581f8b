-- What a webhook of a project is called, which branches it hears of, and what its requests look like.
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
