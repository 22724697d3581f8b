-- The CI job that brought a commit.
CREATE TABLE job_commits (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    sha        text NOT NULL,
    job        jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, sha)
);
