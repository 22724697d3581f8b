-- Pages of a commit's statuses are counted and skipped in the index alone. A change of state still touches no index.
CREATE INDEX commit_statuses_page_idx ON commit_statuses (project_id, sha, id, ref, superseded);
DROP INDEX commit_statuses_project_id_sha_id_idx;
