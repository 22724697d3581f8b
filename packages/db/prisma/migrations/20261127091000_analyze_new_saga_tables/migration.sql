-- ANALYZE needs the rights of the owner. A table of which PostgreSQL has counted nothing yet has no number of rows.
CREATE FUNCTION analyze_new_saga_tables() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    new_table regclass;
BEGIN
    -- One process at a time, because each would wait for the other and count anew.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('switchyard.analyze_new_saga_tables', 0)) THEN
        RETURN false;
    END IF;
    FOR new_table IN
        SELECT oid FROM pg_class
        WHERE oid IN ('sagas'::regclass, 'saga_activities'::regclass, 'saga_event_ids'::regclass)
            AND reltuples < 0 AND pg_relation_size(oid) >= 65536
    LOOP
        EXECUTE format('ANALYZE %s', new_table);
    END LOOP;
    RETURN NOT EXISTS (
        SELECT FROM pg_class
        WHERE oid IN ('sagas'::regclass, 'saga_activities'::regclass, 'saga_event_ids'::regclass) AND reltuples < 0
    );
END
$$;
REVOKE ALL ON FUNCTION analyze_new_saga_tables() FROM PUBLIC;
