-- Files of packages and of comments. Their bytes are objects beside the repository, like those of Git LFS.

CREATE TABLE packages (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         bigserial NOT NULL,
    name       text NOT NULL,
    version    text NOT NULL,
    status     text NOT NULL DEFAULT 'default',
    creator_id integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX packages_project_id_name_version_key ON packages (project_id, name, version);
CREATE INDEX packages_creator_id_idx ON packages (creator_id);

-- An object that a file has cannot be forgotten. Every file names its project, too: what a project has directly is deleted before
-- PostgreSQL looks whether files still have its objects.
CREATE TABLE package_files (
    project_id integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         bigserial NOT NULL,
    package_id bigint NOT NULL,
    file_name  text NOT NULL,
    oid        text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, package_id) REFERENCES packages (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE,
    FOREIGN KEY (project_id, oid) REFERENCES lfs_objects (project_id, oid) ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX package_files_project_id_package_id_file_name_id_idx ON package_files (project_id, package_id, file_name, id);
CREATE INDEX package_files_project_id_oid_idx ON package_files (project_id, oid);

CREATE TABLE uploads (
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id          bigserial NOT NULL,
    secret      text NOT NULL,
    file_name   text NOT NULL,
    oid         text NOT NULL,
    uploader_id integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, oid) REFERENCES lfs_objects (project_id, oid) ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE UNIQUE INDEX uploads_project_id_secret_key ON uploads (project_id, secret);
CREATE INDEX uploads_project_id_oid_idx ON uploads (project_id, oid);
CREATE INDEX uploads_uploader_id_idx ON uploads (uploader_id);
