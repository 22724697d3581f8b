-- What reading sagas needs: an index for each filter of a list together with its order, what operators write about
-- a saga, and the errors of activities in a table of their own, where text in them can be searched.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- ---- Lists ------------------------------------------------------------------------------------------

CREATE INDEX sagas_tenant_first_seen_at_id_idx ON sagas (tenant, first_seen_at DESC, id);
CREATE INDEX sagas_tenant_service_name_first_seen_at_id_idx ON sagas (tenant, service_name, first_seen_at DESC, id);
CREATE INDEX sagas_tenant_status_first_seen_at_id_idx ON sagas (tenant, status, first_seen_at DESC, id);
CREATE INDEX sagas_outcome_idx ON sagas (tenant, outcome, first_seen_at DESC, id) WHERE outcome IS NOT NULL;
CREATE INDEX sagas_ended_idx ON sagas (tenant, ended_at DESC, id) WHERE ended_at IS NOT NULL;
CREATE INDEX sagas_late_idx ON sagas (tenant, first_seen_at DESC, id) WHERE late;
-- What is not over, the stalest first.
CREATE INDEX sagas_open_idx ON sagas (last_event_at) WHERE ended_at IS NULL;

-- ---- Notes: written by saga-reporter ----------------------------------------------------------------

CREATE TABLE saga_notes (
    tenant      text COLLATE "C" NOT NULL,
    id          bigserial,
    saga_id     text COLLATE "C" NOT NULL,
    -- As it was called then: notes outlive their authors.
    author_id   integer NOT NULL,
    author_name text NOT NULL,
    body        text NOT NULL,
    created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX saga_notes_tenant_saga_id_id_idx ON saga_notes (tenant, saga_id, id);

-- ---- Errors: derived from saga_activities by its triggers -------------------------------------------

-- The errors of the few activities that have some, in the order of lists: narrow rows that are quick to look through,
-- and an index that the many activities without errors never touch.
CREATE TABLE saga_errors (
    tenant        text COLLATE "C" NOT NULL,
    activity_id   text COLLATE "C" NOT NULL,
    saga_id       text COLLATE "C" NOT NULL,
    -- Of the saga: the order of lists.
    first_seen_at timestamptz(3) NOT NULL,
    failed_at     timestamptz(3) NOT NULL,
    -- The same for the same words, whatever ids and numbers stand between them.
    fingerprint   text COLLATE "C" NOT NULL,
    text          text NOT NULL,
    PRIMARY KEY (tenant, activity_id)
);
CREATE INDEX saga_errors_tenant_first_seen_at_saga_id_idx ON saga_errors (tenant, first_seen_at DESC, saga_id);
CREATE INDEX saga_errors_tenant_saga_id_idx ON saga_errors (tenant, saga_id);
-- A short list of pending entries: every search reads through it.
CREATE INDEX saga_errors_text_idx ON saga_errors USING gin (text gin_trgm_ops) WITH (gin_pending_list_limit = 256);

CREATE FUNCTION saga_error_fingerprint(errors text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT md5(regexp_replace(
        regexp_replace(lower(left(errors, 2000)), '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}', '?', 'g'),
        '[0-9]+', '?', 'g'
    ))
$$;

CREATE FUNCTION keep_saga_errors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        TRUNCATE saga_errors;
    ELSIF TG_OP = 'DELETE' THEN
        DELETE FROM saga_errors e WHERE e.tenant = OLD.tenant AND e.activity_id = OLD.id;
    ELSE
        INSERT INTO saga_errors AS kept (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text)
        SELECT NEW.tenant, NEW.id, NEW.saga_id,
            COALESCE(
                (SELECT s.first_seen_at FROM sagas s WHERE s.tenant = NEW.tenant AND s.id = NEW.saga_id),
                NEW.first_seen_at
            ),
            NEW.last_event_at, saga_error_fingerprint(given.errors), given.errors
        FROM concat_ws(E'\n', NULLIF(NEW.execute_errors, ''), NULLIF(NEW.compensate_errors, '')) AS given(errors)
        ON CONFLICT (tenant, activity_id) DO UPDATE
            SET failed_at = EXCLUDED.failed_at, fingerprint = EXCLUDED.fingerprint, text = EXCLUDED.text;
    END IF;
    RETURN NULL;
END;
$$;

-- An activity without errors, or with those it had, costs no more than the question.
CREATE TRIGGER keep_saga_errors_of_new AFTER INSERT ON saga_activities FOR EACH ROW
    WHEN (NEW.saga_id IS NOT NULL AND (NEW.execute_errors IS NOT NULL OR NEW.compensate_errors IS NOT NULL))
    EXECUTE FUNCTION keep_saga_errors();
CREATE TRIGGER keep_saga_errors_of_changed AFTER UPDATE ON saga_activities FOR EACH ROW
    WHEN (
        NEW.saga_id IS NOT NULL AND (NEW.execute_errors IS NOT NULL OR NEW.compensate_errors IS NOT NULL)
        AND (
            OLD.saga_id IS NULL OR NEW.execute_errors IS DISTINCT FROM OLD.execute_errors
            OR NEW.compensate_errors IS DISTINCT FROM OLD.compensate_errors
        )
    )
    EXECUTE FUNCTION keep_saga_errors();
CREATE TRIGGER keep_saga_errors_of_deleted AFTER DELETE ON saga_activities FOR EACH ROW
    WHEN (OLD.saga_id IS NOT NULL AND (OLD.execute_errors IS NOT NULL OR OLD.compensate_errors IS NOT NULL))
    EXECUTE FUNCTION keep_saga_errors();
CREATE TRIGGER keep_saga_errors_of_none AFTER TRUNCATE ON saga_activities FOR EACH STATEMENT
    EXECUTE FUNCTION keep_saga_errors();

-- What was reported before this table was there.
INSERT INTO saga_errors (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text)
SELECT a.tenant, a.id, a.saga_id, s.first_seen_at, a.last_event_at, saga_error_fingerprint(given.errors), given.errors
FROM saga_activities a
JOIN sagas s ON s.tenant = a.tenant AND s.id = a.saga_id,
    concat_ws(E'\n', NULLIF(a.execute_errors, ''), NULLIF(a.compensate_errors, '')) AS given(errors)
WHERE a.execute_errors IS NOT NULL OR a.compensate_errors IS NOT NULL;
