-- Where a status leads besides its address: reports and files of the build.

ALTER TABLE commit_statuses
    ADD COLUMN report    jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN artifacts jsonb NOT NULL DEFAULT '[]';
