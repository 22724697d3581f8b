-- A batch writes the errors of its activities itself, in one statement: a trigger for each of them, with its plan, took a
-- quarter of the time that PostgreSQL needed for a batch.

CREATE TYPE saga_ingest_error AS (
    tenant text COLLATE "C", activity_id text COLLATE "C", saga_id text COLLATE "C", first_seen_at timestamptz,
    failed_at timestamptz, fingerprint text COLLATE "C", text text
);

-- For all other writers the triggers stay, among them the function of the same name that takes no errors: reporters that
-- are not replaced yet call it.
DROP TRIGGER keep_saga_errors_of_new ON saga_activities;
DROP TRIGGER keep_saga_errors_of_changed ON saga_activities;
CREATE CONSTRAINT TRIGGER keep_saga_errors_of_new AFTER INSERT ON saga_activities
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (
        NEW.saga_id IS NOT NULL AND (NEW.execute_errors IS NOT NULL OR NEW.compensate_errors IS NOT NULL)
        AND current_setting('switchyard.saga_ingest', true) IS DISTINCT FROM 'on'
    )
    EXECUTE FUNCTION keep_saga_errors();
CREATE CONSTRAINT TRIGGER keep_saga_errors_of_changed AFTER UPDATE ON saga_activities
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (
        NEW.saga_id IS NOT NULL AND (NEW.execute_errors IS NOT NULL OR NEW.compensate_errors IS NOT NULL)
        AND (
            OLD.saga_id IS NULL OR NEW.execute_errors IS DISTINCT FROM OLD.execute_errors
            OR NEW.compensate_errors IS DISTINCT FROM OLD.compensate_errors
        )
        AND current_setting('switchyard.saga_ingest', true) IS DISTINCT FROM 'on'
    )
    EXECUTE FUNCTION keep_saga_errors();

-- Writes a batch if what its writer knows still holds: the sagas and activities it has only read (`known_…`), the rows
-- it changes (by their versions), that nothing new has a tombstone and that no event has an id of the log.
--
-- Returns the highest id of the log's new rows, 0 without one, and -1 when it wrote nothing because something known
-- has changed; and the new places of what it wrote, in the order in which it was given. Fails with serialization_failure
-- or unique_violation when a row it writes has changed.
--
-- Each statement of a volatile function sees what was committed before it, so all after the first see everything that
-- was written under the same locks. The settings keep to the plans that are meant, whatever the planner believes of
-- tables that grow; `IS TRUE` keeps it from looking for an index instead of at the place.
CREATE FUNCTION saga_ingest(
    stripes integer[],
    known_sagas saga_ingest_known[],
    known_activities saga_ingest_known[],
    begun saga_ingest_begun[],
    moved saga_ingest_moved[],
    new_activities saga_ingest_activity[],
    activities saga_ingest_activity[],
    new_sagas saga_ingest_saga[],
    changed_sagas saga_ingest_saga[],
    errors saga_ingest_error[],
    tags saga_ingest_tag[],
    events saga_ingest_event[],
    annotated_events saga_ingest_annotated_event[],
    OUT last_id bigint,
    OUT begun_at tid[],
    OUT moved_at tid[],
    OUT new_activities_at tid[],
    OUT activities_at tid[],
    OUT new_sagas_at tid[],
    OUT changed_sagas_at tid[]
)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_memoize = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    found_rows integer;
BEGIN
    -- A SET clause of the function would need a superuser.
    PERFORM set_config('switchyard.saga_ingest', 'on', true);
    last_id := -1;
    PERFORM pg_advisory_xact_lock(1398227265, stripe) FROM unnest(stripes) AS stripe;

    IF cardinality(known_sagas) > 0 THEN
        SELECT count(*) INTO found_rows FROM unnest(known_sagas) AS known JOIN sagas s ON s.ctid = known.place
            WHERE s.version = known.version AND (s.id = known.id AND s.tenant = known.tenant) IS TRUE
                AND (known.facts IS NULL OR known.facts = (
                    SELECT COALESCE(sum(a.version), 0) FROM saga_activities a
                    WHERE a.tenant = known.tenant AND a.saga_id = known.id));
        IF found_rows <> cardinality(known_sagas) THEN RETURN; END IF;
    END IF;

    IF cardinality(known_activities) > 0 THEN
        SELECT count(*) INTO found_rows FROM unnest(known_activities) AS known JOIN saga_activities a ON a.ctid = known.place
            WHERE a.version = known.version AND (a.id = known.id AND a.tenant = known.tenant) IS TRUE;
        IF found_rows <> cardinality(known_activities) THEN RETURN; END IF;
    END IF;

    IF EXISTS (SELECT FROM saga_tombstones) THEN
        PERFORM FROM unnest(begun) AS given
            JOIN saga_tombstones t ON t.tenant = given.tenant AND t.kind = 'activity' AND t.id = given.id;
        IF FOUND THEN RETURN; END IF;
        PERFORM FROM unnest(new_activities) AS given
            JOIN saga_tombstones t ON t.tenant = given.tenant AND t.kind = 'activity' AND t.id = given.id;
        IF FOUND THEN RETURN; END IF;
        PERFORM FROM unnest(new_sagas) AS given
            JOIN saga_tombstones t ON t.tenant = given.tenant AND t.kind = 'saga' AND t.id = given.id;
        IF FOUND THEN RETURN; END IF;
    END IF;

    IF cardinality(annotated_events) > 0 THEN
        PERFORM FROM unnest(annotated_events) AS given
            JOIN saga_events e ON e.tenant = given.tenant AND e.event_id = given.event_id;
        IF FOUND THEN RETURN; END IF;
    END IF;

    IF cardinality(begun) > 0 THEN
        WITH written AS (
        INSERT INTO saga_activities (
            tenant, id, saga_id, "order", status, time_out_seconds, add_time, first_seen_at, last_event_at, started_at,
            deadline_at, parameter_data, content_keys)
        SELECT given.tenant, given.id, given.saga_id, given."order", 'Executing', given.time_out_seconds, given.add_time,
            given.received_at, given.received_at, given.received_at, given.deadline_at, given.parameter_data,
            given.content_keys
        FROM unnest(begun) AS given
        RETURNING saga_activities.ctid
        ) SELECT array_agg(ctid) INTO begun_at FROM written;
    END IF;

    IF cardinality(new_activities) > 0 THEN
        WITH written AS (
        INSERT INTO saga_activities (
            tenant, id, saga_id, "order", status, time_out_seconds, execute_attempts, compensate_attempts, retry_reports,
            add_time, first_seen_at, last_event_at, started_at, ended_at, aborted_at, overtime_at, revoked_at,
            compensating_at, compensated_at, compensate_aborted_at, given_up_at, deadline_at, final_abort,
            overtime_named_saga, execute_errors, execute_errors_size, execute_errors_sha256, compensate_errors,
            compensate_errors_size, compensate_errors_sha256, error_fingerprint, anomalies, parameter_data,
            parameter_size, parameter_sha256, result_data, result_size, result_sha256, content_keys)
        SELECT given.tenant, given.id, given.saga_id, given."order", given.status, given.time_out_seconds,
            given.execute_attempts, given.compensate_attempts, given.retry_reports, given.add_time, given.first_seen_at,
            given.last_event_at, given.started_at, given.ended_at, given.aborted_at, given.overtime_at, given.revoked_at,
            given.compensating_at, given.compensated_at, given.compensate_aborted_at, given.given_up_at,
            given.deadline_at, given.final_abort, given.overtime_named_saga, given.execute_errors,
            given.execute_errors_size, given.execute_errors_sha256, given.compensate_errors,
            given.compensate_errors_size, given.compensate_errors_sha256, given.error_fingerprint, given.anomalies,
            given.parameter_data, given.parameter_size, given.parameter_sha256, given.result_data, given.result_size,
            given.result_sha256, given.content_keys
        FROM unnest(new_activities) AS given
        RETURNING saga_activities.ctid
        ) SELECT array_agg(ctid) INTO new_activities_at FROM written;
    END IF;

    IF cardinality(moved) > 0 THEN
        WITH written AS (
        UPDATE saga_activities AS stored SET
            version = given.version + 1, status = given.status, last_event_at = given.last_event_at,
            ended_at = given.ended_at, compensated_at = given.compensated_at,
            result_data = COALESCE(stored.result_data, given.result_data), content_keys = given.content_keys
        FROM unnest(moved) AS given
        WHERE stored.ctid = given.place AND stored.version = given.version
            AND (stored.id = given.id AND stored.tenant = given.tenant) IS TRUE
        RETURNING stored.ctid
        ) SELECT array_agg(ctid) INTO moved_at FROM written;
        IF COALESCE(cardinality(moved_at), 0) <> cardinality(moved) THEN
            RAISE EXCEPTION 'an activity has changed' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF cardinality(activities) > 0 THEN
        WITH written AS (
        UPDATE saga_activities AS stored SET
            version = given.version + 1, saga_id = given.saga_id, "order" = given."order", status = given.status,
            time_out_seconds = given.time_out_seconds, execute_attempts = given.execute_attempts,
            compensate_attempts = given.compensate_attempts, retry_reports = given.retry_reports,
            add_time = given.add_time, first_seen_at = given.first_seen_at, last_event_at = given.last_event_at,
            started_at = given.started_at, ended_at = given.ended_at, aborted_at = given.aborted_at,
            overtime_at = given.overtime_at, revoked_at = given.revoked_at, compensating_at = given.compensating_at,
            compensated_at = given.compensated_at, compensate_aborted_at = given.compensate_aborted_at,
            given_up_at = given.given_up_at, deadline_at = given.deadline_at, final_abort = given.final_abort,
            overtime_named_saga = given.overtime_named_saga, execute_errors = given.execute_errors,
            execute_errors_size = given.execute_errors_size, execute_errors_sha256 = given.execute_errors_sha256,
            compensate_errors = given.compensate_errors, compensate_errors_size = given.compensate_errors_size,
            compensate_errors_sha256 = given.compensate_errors_sha256, error_fingerprint = given.error_fingerprint,
            anomalies = given.anomalies,
            -- Kept as they were first reported, however large they are.
            parameter_data = COALESCE(stored.parameter_data, given.parameter_data),
            parameter_size = given.parameter_size, parameter_sha256 = given.parameter_sha256,
            result_data = COALESCE(stored.result_data, given.result_data),
            result_size = given.result_size, result_sha256 = given.result_sha256, content_keys = given.content_keys
        FROM unnest(activities) AS given
        WHERE stored.ctid = given.place AND stored.version = given.version
            AND (stored.id = given.id AND stored.tenant = given.tenant) IS TRUE
        RETURNING stored.ctid
        ) SELECT array_agg(ctid) INTO activities_at FROM written;
        IF COALESCE(cardinality(activities_at), 0) <> cardinality(activities) THEN
            RAISE EXCEPTION 'an activity has changed' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF cardinality(new_sagas) > 0 THEN
        WITH written AS (
        INSERT INTO sagas (
            tenant, id, service_name, status, outcome, add_time, started_at, ended_at, expires_at, late, first_seen_at,
            last_event_at, resolved_at, resolved_by, content_keys)
        SELECT given.tenant, given.id, given.service_name, given.status, given.outcome, given.add_time, given.started_at,
            given.ended_at, given.expires_at, given.late, given.first_seen_at, given.last_event_at, given.resolved_at,
            given.resolved_by, given.content_keys
        FROM unnest(new_sagas) AS given
        RETURNING sagas.ctid
        ) SELECT array_agg(ctid) INTO new_sagas_at FROM written;
    END IF;

    IF cardinality(changed_sagas) > 0 THEN
        WITH written AS (
        UPDATE sagas AS stored SET
            version = given.version + 1, service_name = given.service_name, status = given.status,
            outcome = given.outcome, add_time = given.add_time, started_at = given.started_at,
            ended_at = given.ended_at, expires_at = given.expires_at, late = given.late,
            first_seen_at = given.first_seen_at, last_event_at = given.last_event_at,
            resolved_at = given.resolved_at, resolved_by = given.resolved_by, content_keys = given.content_keys
        FROM unnest(changed_sagas) AS given
        WHERE stored.ctid = given.place AND stored.version = given.version
            AND (stored.id = given.id AND stored.tenant = given.tenant) IS TRUE
        RETURNING stored.ctid
        ) SELECT array_agg(ctid) INTO changed_sagas_at FROM written;
        IF COALESCE(cardinality(changed_sagas_at), 0) <> cardinality(changed_sagas) THEN
            RAISE EXCEPTION 'a saga has changed' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF cardinality(errors) > 0 THEN
        INSERT INTO saga_errors (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text, folded)
        SELECT given.tenant, given.activity_id, given.saga_id, given.first_seen_at, given.failed_at,
            COALESCE(given.fingerprint, saga_error_fingerprint(given.text)), given.text, lower(given.text)
        FROM unnest(errors) AS given
        ON CONFLICT (tenant, activity_id) DO UPDATE
            SET failed_at = EXCLUDED.failed_at, fingerprint = EXCLUDED.fingerprint, text = EXCLUDED.text,
                folded = EXCLUDED.folded;
    END IF;

    IF cardinality(tags) > 0 THEN
        INSERT INTO saga_tags (tenant, saga_id, tag, first_seen_at)
        SELECT given.tenant, given.saga_id, given.tag, given.first_seen_at FROM unnest(tags) AS given
        ON CONFLICT DO NOTHING;
    END IF;

    -- Ids are drawn in the order of the events: the log of a saga reads in the order in which it was applied.
    IF cardinality(events) > 0 THEN
        INSERT INTO saga_events (
            tenant, received_at, operation, saga_id, activity_id, content_key, result, request)
        SELECT given.tenant, given.received_at, given.operation, given.saga_id, given.activity_id, given.content_key,
            given.result, given.request
        FROM unnest(events) AS given;
    END IF;
    IF cardinality(annotated_events) > 0 THEN
        INSERT INTO saga_events (
            tenant, received_at, operation, saga_id, activity_id, content_key, result, request, event_id, event_time,
            event_seq, attempt, trace_parent, payload_size, payload_sha256)
        SELECT given.tenant, given.received_at, given.operation, given.saga_id, given.activity_id, given.content_key,
            given.result, given.request, given.event_id, given.event_time, given.event_seq, given.attempt,
            given.trace_parent, given.payload_size, given.payload_sha256
        FROM unnest(annotated_events) AS given;
    END IF;
    last_id := CASE WHEN cardinality(events) + cardinality(annotated_events) > 0
        THEN currval('saga_events_id_seq') ELSE 0 END;
END;
$$;
