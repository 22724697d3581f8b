-- A row for all statuses of one commit and ref together, so that pipelines are listed, filtered and counted without reading
-- their statuses. Webhooks have told of pipelines under the id of their first status, so these ids stay.

CREATE TABLE pipelines (
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id          bigserial,
    sha         text NOT NULL,
    ref         text,
    status      text NOT NULL DEFAULT 'created',
    coverage    double precision,
    author_id   integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    started_at  timestamptz(3),
    finished_at timestamptz(3),
    PRIMARY KEY (project_id, id)
);
-- Room on each page lets a change of state stay there without touching any index.
ALTER TABLE pipelines SET (fillfactor = 85);

-- The state by the rule of `aggregateStatus` of packages/domain: the first case that fits decides.
INSERT INTO pipelines (project_id, id, sha, ref, status, coverage, author_id, created_at, updated_at, started_at, finished_at)
SELECT project_id, min(id), sha, ref,
    CASE
        WHEN bool_and(status = 'skipped') FILTER (WHERE counts) THEN 'skipped'
        WHEN coalesce(bool_and(status IN ('success', 'skipped')) FILTER (WHERE counts), true) THEN 'success'
        WHEN bool_and(status = 'created') FILTER (WHERE counts) THEN 'created'
        WHEN bool_and(status IN ('success', 'skipped', 'canceled')) FILTER (WHERE counts) THEN 'canceled'
        WHEN bool_and(status IN ('created', 'skipped', 'pending')) FILTER (WHERE counts) THEN 'pending'
        WHEN bool_or(status IN ('running', 'pending')) FILTER (WHERE counts) THEN 'running'
        WHEN bool_or(status = 'manual') FILTER (WHERE counts) THEN 'manual'
        WHEN bool_or(status = 'created') FILTER (WHERE counts) THEN 'running'
        ELSE 'failed'
    END,
    avg(coverage) FILTER (WHERE NOT superseded),
    (array_agg(author_id ORDER BY id))[1],
    min(created_at), max(updated_at), min(started_at),
    CASE WHEN bool_and(superseded OR finished_at IS NOT NULL) THEN max(finished_at) END
FROM (
    SELECT *, NOT superseded AND NOT (allow_failure AND status IN ('failed', 'canceled', 'manual')) AS counts
    FROM commit_statuses
) s
GROUP BY project_id, sha, ref;

SELECT setval(pg_get_serial_sequence('pipelines', 'id'), max(id)) FROM commit_statuses HAVING max(id) IS NOT NULL;

CREATE UNIQUE INDEX pipelines_project_id_sha_ref_key ON pipelines (project_id, sha, ref) NULLS NOT DISTINCT;
CREATE INDEX pipelines_project_id_ref_id_idx ON pipelines (project_id, ref, id);

ALTER TABLE commit_statuses ADD COLUMN pipeline_id bigint;
UPDATE commit_statuses s SET pipeline_id = p.id FROM pipelines p
WHERE p.project_id = s.project_id AND p.sha = s.sha AND p.ref IS NOT DISTINCT FROM s.ref;
ALTER TABLE commit_statuses ALTER COLUMN pipeline_id SET NOT NULL;
