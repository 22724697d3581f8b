-- Services log in as roles that own nothing. These two functions do for the worker what only the owner of saga_events
-- may do, and nothing else; `applyRoles` of packages/db says who may call them.

CREATE OR REPLACE FUNCTION ensure_saga_event_partitions(from_day date, days integer) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    day date;
    partition_name text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('switchyard.saga_event_partitions', 0));
    FOR day IN SELECT from_day + n FROM generate_series(0, days - 1) AS n LOOP
        partition_name := 'saga_events_' || to_char(day, 'YYYYMMDD');
        CONTINUE WHEN to_regclass(quote_ident(partition_name)) IS NOT NULL;
        BEGIN
            -- ATTACH lets writers of the other partitions go on; CREATE ... PARTITION OF would stop them all.
            EXECUTE format('CREATE TABLE %I (LIKE saga_events INCLUDING ALL)', partition_name);
            EXECUTE format(
                'ALTER TABLE saga_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                partition_name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
            );
            -- Retention looks through one partition at a time. Without roles of services there is nobody to grant to.
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'switchyard_worker') THEN
                EXECUTE format('GRANT SELECT, DELETE ON %I TO switchyard_worker', partition_name);
            END IF;
            RETURN NEXT partition_name;
        EXCEPTION WHEN check_violation THEN
            -- The default partition already holds rows of this day, and goes on taking them.
            RAISE NOTICE 'no partition for %: saga_events_default holds rows of that day', day;
        END;
    END LOOP;
END;
$$;

-- Drops the partition of one day.
CREATE FUNCTION drop_saga_event_partition(partition_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF partition_name !~ '^saga_events_[0-9]{8}$' OR NOT EXISTS (
        SELECT FROM pg_inherits
        WHERE inhparent = 'saga_events'::regclass AND inhrelid = to_regclass(quote_ident(partition_name))
    ) THEN
        RAISE EXCEPTION '% is not the partition of a day of saga_events', partition_name;
    END IF;
    EXECUTE format('DROP TABLE %I', partition_name);
END;
$$;

REVOKE ALL ON FUNCTION ensure_saga_event_partitions(date, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION drop_saga_event_partition(text) FROM PUBLIC;
