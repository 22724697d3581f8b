-- Comments on commits. A comment belongs to the commit of one project: a fork has its own.
CREATE TABLE commit_comments (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         bigserial,
    sha        text NOT NULL,
    note       text NOT NULL,
    path       text,
    line       integer,
    line_type  text,
    author_id  integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE INDEX commit_comments_project_id_sha_id_idx ON commit_comments (project_id, sha, id);
