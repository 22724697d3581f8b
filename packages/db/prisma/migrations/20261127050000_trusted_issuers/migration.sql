-- CI jobs that may act in a project, or outside of projects, by the identity tokens of their issuer.
CREATE TABLE trusted_issuers (
    id         serial PRIMARY KEY,
    project_id integer REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    user_id    integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name       text NOT NULL,
    issuer     text NOT NULL,
    audience   text NOT NULL,
    claims     jsonb NOT NULL,
    scopes     text[] NOT NULL,
    tenants    text[] NOT NULL DEFAULT '{}',
    expires_at date,
    created_by integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX trusted_issuers_project_id_idx ON trusted_issuers (project_id);
CREATE INDEX trusted_issuers_user_id_idx ON trusted_issuers (user_id);
CREATE INDEX trusted_issuers_created_by_idx ON trusted_issuers (created_by);
