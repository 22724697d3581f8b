-- A project token acts as a user of its own, and in its project only.
ALTER TABLE users ADD COLUMN bot boolean NOT NULL DEFAULT false;
ALTER TABLE personal_access_tokens ADD COLUMN project_id integer;
ALTER TABLE personal_access_tokens ADD CONSTRAINT personal_access_tokens_project_id_fkey
    FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX personal_access_tokens_project_id_idx ON personal_access_tokens (project_id);

-- Who changed what. Append-only, and without references: an entry outlives what it tells of.
CREATE TABLE audit_events (
    id          bigserial PRIMARY KEY,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    author_id   integer,
    author_name text NOT NULL,
    token_id    integer,
    event_name  text NOT NULL,
    entity_type text NOT NULL,
    entity_id   text NOT NULL,
    details     jsonb NOT NULL,
    request_id  text,
    ip_address  text
);
CREATE INDEX audit_events_entity_type_entity_id_id_idx ON audit_events (entity_type, entity_id, id);
CREATE INDEX audit_events_author_id_id_idx ON audit_events (author_id, id);
CREATE INDEX audit_events_created_at_idx ON audit_events (created_at);
