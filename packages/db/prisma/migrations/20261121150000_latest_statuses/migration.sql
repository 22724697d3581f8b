-- Lists of a commit's statuses are read page by page, and posts find the newest record of their label at once.

ALTER TABLE commit_statuses ADD COLUMN superseded boolean NOT NULL DEFAULT false;

UPDATE commit_statuses s SET superseded = true WHERE EXISTS (
    SELECT FROM commit_statuses newer
    WHERE newer.project_id = s.project_id AND newer.sha = s.sha AND newer.name = s.name
      AND newer.ref IS NOT DISTINCT FROM s.ref AND newer.id > s.id
);

CREATE INDEX commit_statuses_project_id_sha_id_idx ON commit_statuses (project_id, sha, id);
-- One newest record for each label, whatever the number of writers.
CREATE UNIQUE INDEX commit_statuses_newest_idx
    ON commit_statuses (project_id, sha, ref, name) NULLS NOT DISTINCT WHERE NOT superseded;
DROP INDEX commit_statuses_project_id_sha_ref_name_id_idx;

-- Room on each page lets a change of state stay there without touching any index.
ALTER TABLE commit_statuses SET (fillfactor = 85);
