-- Results of tests and of analyses that CI has posted, one row for each status and format.

CREATE TABLE status_reports (
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id          bigserial NOT NULL,
    sha         text NOT NULL,
    ref         text,
    name        text NOT NULL,
    format      text NOT NULL,
    pipeline_id bigint NOT NULL,
    status_id   bigint NOT NULL,
    tests       jsonb,
    findings    jsonb,
    outcomes    bytea NOT NULL,
    entries     bytea NOT NULL,
    author_id   integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX status_reports_project_id_sha_name_format_ref_key ON status_reports (project_id, sha, name, format, ref) NULLS NOT DISTINCT;
CREATE INDEX status_reports_author_id_idx ON status_reports (author_id);
