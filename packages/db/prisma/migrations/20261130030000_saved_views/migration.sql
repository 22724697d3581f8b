-- Searches that users of the console have saved; written by git-api.
CREATE TABLE saved_views (
    user_id    integer NOT NULL REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE,
    id         serial,
    page       text NOT NULL,
    name       text NOT NULL,
    query      text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX saved_views_user_id_page_name_key ON saved_views (user_id, page, name);
