-- Protected tags, releases and the links of releases.

CREATE TABLE protected_tags (
    id                  serial,
    project_id          integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    name                text NOT NULL,
    create_access_level integer NOT NULL DEFAULT 40,
    created_at          timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX protected_tags_project_id_name_key ON protected_tags (project_id, name);

CREATE TABLE releases (
    project_id  integer NOT NULL REFERENCES projects (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id          bigserial,
    tag         text NOT NULL,
    name        text NOT NULL,
    description text,
    author_id   integer REFERENCES users (id) ON DELETE SET NULL ON UPDATE CASCADE,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    released_at timestamptz(3) NOT NULL,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX releases_project_id_tag_key ON releases (project_id, tag);
CREATE INDEX releases_project_id_released_at_id_idx ON releases (project_id, released_at, id);
CREATE INDEX releases_project_id_created_at_id_idx ON releases (project_id, created_at, id);

-- Within a release, the names, addresses and paths of links are unique.
CREATE TABLE release_links (
    project_id integer NOT NULL,
    id         bigserial,
    release_id bigint NOT NULL,
    name       text NOT NULL,
    url        text NOT NULL,
    file_path  text,
    link_type  text NOT NULL DEFAULT 'other',
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, release_id) REFERENCES releases (project_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX release_links_project_id_release_id_name_key ON release_links (project_id, release_id, name);
CREATE UNIQUE INDEX release_links_project_id_release_id_url_key ON release_links (project_id, release_id, url);
CREATE UNIQUE INDEX release_links_project_id_release_id_file_path_key
    ON release_links (project_id, release_id, file_path);
