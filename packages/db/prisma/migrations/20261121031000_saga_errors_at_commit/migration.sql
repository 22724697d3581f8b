-- Errors are copied when their transaction commits: only then is the saga of a new activity certain to be there.

DROP TRIGGER keep_saga_errors_of_new ON saga_activities;
DROP TRIGGER keep_saga_errors_of_changed ON saga_activities;

CREATE OR REPLACE FUNCTION keep_saga_errors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        TRUNCATE saga_errors;
    ELSIF TG_OP = 'DELETE' THEN
        DELETE FROM saga_errors e WHERE e.tenant = OLD.tenant AND e.activity_id = OLD.id;
    ELSE
        -- As it is now: later statements of the transaction may have changed it, or deleted it.
        INSERT INTO saga_errors AS kept (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text)
        SELECT a.tenant, a.id, a.saga_id, s.first_seen_at, a.last_event_at,
            COALESCE(a.error_fingerprint, saga_error_fingerprint(given.errors)), given.errors
        FROM saga_activities a
        JOIN sagas s ON s.tenant = a.tenant AND s.id = a.saga_id,
            concat_ws(E'\n', NULLIF(a.execute_errors, ''), NULLIF(a.compensate_errors, '')) AS given(errors)
        WHERE a.tenant = NEW.tenant AND a.id = NEW.id
        ON CONFLICT (tenant, activity_id) DO UPDATE
            SET failed_at = EXCLUDED.failed_at, fingerprint = EXCLUDED.fingerprint, text = EXCLUDED.text;
    END IF;
    RETURN NULL;
END;
$$;

CREATE CONSTRAINT TRIGGER keep_saga_errors_of_new AFTER INSERT ON saga_activities
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.saga_id IS NOT NULL AND (NEW.execute_errors IS NOT NULL OR NEW.compensate_errors IS NOT NULL))
    EXECUTE FUNCTION keep_saga_errors();
CREATE CONSTRAINT TRIGGER keep_saga_errors_of_changed AFTER UPDATE ON saga_activities
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (
        NEW.saga_id IS NOT NULL AND (NEW.execute_errors IS NOT NULL OR NEW.compensate_errors IS NOT NULL)
        AND (
            OLD.saga_id IS NULL OR NEW.execute_errors IS DISTINCT FROM OLD.execute_errors
            OR NEW.compensate_errors IS DISTINCT FROM OLD.compensate_errors
        )
    )
    EXECUTE FUNCTION keep_saga_errors();
