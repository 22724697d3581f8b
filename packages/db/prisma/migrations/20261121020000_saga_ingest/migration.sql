-- What makes taking events fast: identifiers compared byte by byte, room for updates within a page, fewer indexes, the
-- contents an activity has taken in its own row, and one function that writes a batch in one round trip.

-- ---- The log ----------------------------------------------------------------------------------------

ALTER TABLE saga_events
    ALTER COLUMN tenant TYPE text COLLATE "C",
    ALTER COLUMN saga_id TYPE text COLLATE "C",
    ALTER COLUMN activity_id TYPE text COLLATE "C",
    ALTER COLUMN event_id TYPE text COLLATE "C",
    -- Metadata x-event-seq, x-attempt and traceparent.
    ADD COLUMN event_seq bigint,
    ADD COLUMN attempt integer,
    ADD COLUMN trace_parent text,
    -- Set when `request` holds no more than the head of its payload or errors: what the whole was.
    ADD COLUMN payload_size integer,
    ADD COLUMN payload_sha256 bytea;

-- An event with a saga is found by its saga.
DROP INDEX saga_events_tenant_activity_id_id_idx;
CREATE INDEX saga_events_parked_idx ON saga_events (tenant, activity_id, id) WHERE saga_id IS NULL;
DROP INDEX saga_events_tenant_event_id_idx;
CREATE INDEX saga_events_event_id_idx ON saga_events (tenant, event_id) WHERE event_id IS NOT NULL;

-- ---- What is derived from it ------------------------------------------------------------------------

ALTER TABLE sagas
    ALTER COLUMN tenant TYPE text COLLATE "C",
    ALTER COLUMN id TYPE text COLLATE "C",
    -- Counts writes of the row, so that a writer sees whether what it knows of it still holds.
    ADD COLUMN version bigint NOT NULL DEFAULT 1,
    -- Eight bytes of each of the newest contents that it has taken.
    ADD COLUMN content_keys bytea NOT NULL DEFAULT '',
    ADD COLUMN resolved_at timestamptz(3),
    ADD COLUMN resolved_by text,
    SET (fillfactor = 85);

ALTER TABLE saga_activities
    ALTER COLUMN tenant TYPE text COLLATE "C",
    ALTER COLUMN id TYPE text COLLATE "C",
    ALTER COLUMN saga_id TYPE text COLLATE "C",
    ADD COLUMN version bigint NOT NULL DEFAULT 1,
    ADD COLUMN content_keys bytea NOT NULL DEFAULT '',
    -- Received and time out; set once, when it began.
    ADD COLUMN deadline_at timestamptz(3),
    -- The newest moment at which a compensation was given up; cleared with final_abort.
    ADD COLUMN given_up_at timestamptz(3),
    -- Of the whole, where only its head is stored.
    ADD COLUMN parameter_size integer,
    ADD COLUMN parameter_sha256 bytea,
    ADD COLUMN result_size integer,
    ADD COLUMN result_sha256 bytea,
    ADD COLUMN execute_errors_size integer,
    ADD COLUMN execute_errors_sha256 bytea,
    ADD COLUMN compensate_errors_size integer,
    ADD COLUMN compensate_errors_sha256 bytea,
    -- The same for the same failure, whatever ids and numbers stand in its text.
    ADD COLUMN error_fingerprint text COLLATE "C",
    -- Most events change a row within its page and touch no index.
    SET (fillfactor = 70);

CREATE INDEX saga_activities_deadline_idx ON saga_activities (deadline_at) WHERE deadline_at IS NOT NULL;

-- Metadata x-tag; written by saga-reporter.
CREATE TABLE saga_tags (
    tenant        text COLLATE "C" NOT NULL,
    saga_id       text COLLATE "C" NOT NULL,
    tag           text COLLATE "C" NOT NULL,
    -- Of the saga: the order of lists.
    first_seen_at timestamptz(3) NOT NULL,
    PRIMARY KEY (tenant, saga_id, tag)
);
CREATE INDEX saga_tags_tenant_tag_first_seen_at_saga_id_idx ON saga_tags (tenant, tag, first_seen_at DESC, saga_id);

-- ---- Rows as they are handed to saga_ingest ---------------------------------------------------------

-- An array of one type is half as dear as an array for each column.

-- `version` is what the writer knows: null for no row. `facts` is the sum of the versions of the saga's activities, null
-- when they do not matter.
CREATE TYPE saga_ingest_known AS (tenant text COLLATE "C", id text COLLATE "C", version bigint, facts bigint);

-- An activity that began and did nothing else.
CREATE TYPE saga_ingest_begun AS (
    tenant text COLLATE "C", id text COLLATE "C", saga_id text COLLATE "C", "order" integer, time_out_seconds integer,
    add_time timestamptz, received_at timestamptz, deadline_at timestamptz, parameter_data bytea, content_keys bytea
);

-- An activity that ended or was compensated. `version` is the one before.
CREATE TYPE saga_ingest_moved AS (
    tenant text COLLATE "C", id text COLLATE "C", version bigint, status text, last_event_at timestamptz,
    ended_at timestamptz, compensated_at timestamptz, result_data bytea, content_keys bytea
);

-- Everything of an activity. `version` is the one before, 0 for a new one.
CREATE TYPE saga_ingest_activity AS (
    tenant text COLLATE "C", id text COLLATE "C", version bigint, saga_id text COLLATE "C", "order" integer, status text,
    time_out_seconds integer, execute_attempts integer, compensate_attempts integer, retry_reports integer,
    add_time timestamptz, first_seen_at timestamptz, last_event_at timestamptz, started_at timestamptz,
    ended_at timestamptz, aborted_at timestamptz, overtime_at timestamptz, revoked_at timestamptz,
    compensating_at timestamptz, compensated_at timestamptz, compensate_aborted_at timestamptz,
    given_up_at timestamptz, deadline_at timestamptz, final_abort boolean, overtime_named_saga boolean,
    execute_errors text, execute_errors_size integer, execute_errors_sha256 bytea,
    compensate_errors text, compensate_errors_size integer, compensate_errors_sha256 bytea, error_fingerprint text,
    anomalies text[], parameter_data bytea, parameter_size integer, parameter_sha256 bytea,
    result_data bytea, result_size integer, result_sha256 bytea, content_keys bytea
);

-- `version` is the one before, 0 for a new one.
CREATE TYPE saga_ingest_saga AS (
    tenant text COLLATE "C", id text COLLATE "C", version bigint, service_name text, status text, outcome text,
    add_time timestamptz, started_at timestamptz, ended_at timestamptz, expires_at timestamptz, late boolean,
    first_seen_at timestamptz, last_event_at timestamptz, resolved_at timestamptz, resolved_by text,
    content_keys bytea
);

-- An event without metadata.
CREATE TYPE saga_ingest_event AS (
    tenant text COLLATE "C", received_at timestamptz, operation text, saga_id text COLLATE "C",
    activity_id text COLLATE "C", content_key bytea, result text, request bytea
);

CREATE TYPE saga_ingest_annotated_event AS (
    tenant text COLLATE "C", received_at timestamptz, operation text, saga_id text COLLATE "C",
    activity_id text COLLATE "C", content_key bytea, result text, request bytea,
    event_id text COLLATE "C", event_time timestamptz, event_seq bigint, attempt integer, trace_parent text,
    payload_size integer, payload_sha256 bytea
);

CREATE TYPE saga_ingest_tag AS (
    tenant text COLLATE "C", saga_id text COLLATE "C", tag text COLLATE "C", first_seen_at timestamptz
);

-- ---- A batch ----------------------------------------------------------------------------------------

-- Takes the locks of a batch for the rest of the transaction, in the order in which they are given: ascending. Writers
-- that share a saga share a lock, so each sees what the other wrote. Their number is bounded by that of the stripes.
CREATE FUNCTION saga_ingest_lock(stripes integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1398227265, stripe) FROM unnest(stripes) AS stripe;
END;
$$;

-- Writes a batch if what its writer knows still holds: the sagas and activities it has only read (`known_…`), the rows
-- it changes (by their versions), that nothing new has a tombstone and that no event has an id of the log.
--
-- Returns the highest id of the log's new rows, 0 without one, and -1 when it wrote nothing because something known
-- has changed. Fails with serialization_failure or unique_violation when a row it writes has changed.
--
-- Each statement of a volatile function sees what was committed before it, so all after the first see everything that
-- was written under the same locks. The settings keep to the indexes, whatever the planner believes of tables that grow.
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
    tags saga_ingest_tag[],
    events saga_ingest_event[],
    annotated_events saga_ingest_annotated_event[]
) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    written integer;
BEGIN
    PERFORM pg_advisory_xact_lock(1398227265, stripe) FROM unnest(stripes) AS stripe;

    PERFORM FROM unnest(known_sagas) AS known
        LEFT JOIN sagas s ON s.tenant = known.tenant AND s.id = known.id
        WHERE s.version IS DISTINCT FROM known.version OR known.facts <> (
            SELECT COALESCE(sum(a.version), 0) FROM saga_activities a
            WHERE a.tenant = known.tenant AND a.saga_id = known.id);
    IF FOUND THEN RETURN -1; END IF;

    IF cardinality(known_activities) > 0 THEN
        PERFORM FROM unnest(known_activities) AS known
            LEFT JOIN saga_activities a ON a.tenant = known.tenant AND a.id = known.id
            WHERE a.version IS DISTINCT FROM known.version;
        IF FOUND THEN RETURN -1; END IF;
    END IF;

    IF EXISTS (SELECT FROM saga_tombstones) THEN
        PERFORM FROM unnest(begun) AS given
            JOIN saga_tombstones t ON t.tenant = given.tenant AND t.kind = 'activity' AND t.id = given.id;
        IF FOUND THEN RETURN -1; END IF;
        PERFORM FROM unnest(new_activities) AS given
            JOIN saga_tombstones t ON t.tenant = given.tenant AND t.kind = 'activity' AND t.id = given.id;
        IF FOUND THEN RETURN -1; END IF;
        PERFORM FROM unnest(new_sagas) AS given
            JOIN saga_tombstones t ON t.tenant = given.tenant AND t.kind = 'saga' AND t.id = given.id;
        IF FOUND THEN RETURN -1; END IF;
    END IF;

    IF cardinality(annotated_events) > 0 THEN
        PERFORM FROM unnest(annotated_events) AS given
            JOIN saga_events e ON e.tenant = given.tenant AND e.event_id = given.event_id;
        IF FOUND THEN RETURN -1; END IF;
    END IF;

    IF cardinality(begun) > 0 THEN
        INSERT INTO saga_activities (
            tenant, id, saga_id, "order", status, time_out_seconds, add_time, first_seen_at, last_event_at, started_at,
            deadline_at, parameter_data, content_keys)
        SELECT given.tenant, given.id, given.saga_id, given."order", 'Executing', given.time_out_seconds, given.add_time,
            given.received_at, given.received_at, given.received_at, given.deadline_at, given.parameter_data,
            given.content_keys
        FROM unnest(begun) AS given;
    END IF;

    IF cardinality(new_activities) > 0 THEN
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
        FROM unnest(new_activities) AS given;
    END IF;

    IF cardinality(moved) > 0 THEN
        UPDATE saga_activities AS stored SET
            version = given.version + 1, status = given.status, last_event_at = given.last_event_at,
            ended_at = given.ended_at, compensated_at = given.compensated_at,
            result_data = COALESCE(stored.result_data, given.result_data), content_keys = given.content_keys
        FROM unnest(moved) AS given
        WHERE stored.tenant = given.tenant AND stored.id = given.id AND stored.version = given.version;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(moved) THEN
            RAISE EXCEPTION 'an activity has changed' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF cardinality(activities) > 0 THEN
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
        WHERE stored.tenant = given.tenant AND stored.id = given.id AND stored.version = given.version;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(activities) THEN
            RAISE EXCEPTION 'an activity has changed' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF cardinality(new_sagas) > 0 THEN
        INSERT INTO sagas (
            tenant, id, service_name, status, outcome, add_time, started_at, ended_at, expires_at, late, first_seen_at,
            last_event_at, resolved_at, resolved_by, content_keys)
        SELECT given.tenant, given.id, given.service_name, given.status, given.outcome, given.add_time, given.started_at,
            given.ended_at, given.expires_at, given.late, given.first_seen_at, given.last_event_at, given.resolved_at,
            given.resolved_by, given.content_keys
        FROM unnest(new_sagas) AS given;
    END IF;

    IF cardinality(changed_sagas) > 0 THEN
        UPDATE sagas AS stored SET
            version = given.version + 1, service_name = given.service_name, status = given.status,
            outcome = given.outcome, add_time = given.add_time, started_at = given.started_at,
            ended_at = given.ended_at, expires_at = given.expires_at, late = given.late,
            first_seen_at = given.first_seen_at, last_event_at = given.last_event_at,
            resolved_at = given.resolved_at, resolved_by = given.resolved_by, content_keys = given.content_keys
        FROM unnest(changed_sagas) AS given
        WHERE stored.tenant = given.tenant AND stored.id = given.id AND stored.version = given.version;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(changed_sagas) THEN
            RAISE EXCEPTION 'a saga has changed' USING ERRCODE = 'serialization_failure';
        END IF;
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
    RETURN CASE WHEN cardinality(events) + cardinality(annotated_events) > 0
        THEN currval('saga_events_id_seq') ELSE 0 END;
END;
$$;
