-- A search for projects reads those that have the trigrams of its text.
CREATE INDEX CONCURRENTLY projects_search_idx
    ON projects USING gin (name gin_trgm_ops, path gin_trgm_ops, description gin_trgm_ops);
