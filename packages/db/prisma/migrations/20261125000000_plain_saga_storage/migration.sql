-- Reporters read rows by their keys under row locks and write them with plain statements, so the function that wrote a
-- batch goes, with the types of its parameters and the advisory locks.

DROP FUNCTION saga_ingest(
    integer[], saga_ingest_known[], saga_ingest_known[], saga_ingest_begun[], saga_ingest_moved[], saga_ingest_activity[],
    saga_ingest_activity[], saga_ingest_saga[], saga_ingest_saga[], saga_ingest_tag[], saga_ingest_event[],
    saga_ingest_annotated_event[]
);
DROP FUNCTION saga_ingest(
    integer[], saga_ingest_known[], saga_ingest_known[], saga_ingest_begun[], saga_ingest_moved[], saga_ingest_activity[],
    saga_ingest_activity[], saga_ingest_saga[], saga_ingest_saga[], saga_ingest_error[], saga_ingest_tag[],
    saga_ingest_event[], saga_ingest_annotated_event[]
);
DROP FUNCTION saga_ingest_lock(integer[]);
DROP TYPE
    saga_ingest_known, saga_ingest_begun, saga_ingest_moved, saga_ingest_activity, saga_ingest_saga, saga_ingest_error,
    saga_ingest_tag, saga_ingest_event, saga_ingest_annotated_event;

-- Row locks keep writers of a saga apart; nobody compares versions of rows.
ALTER TABLE sagas DROP COLUMN version;
ALTER TABLE saga_activities DROP COLUMN version;

-- Whoever writes or deletes activities writes or deletes their errors in the same transaction.
DROP TRIGGER keep_saga_errors_of_new ON saga_activities;
DROP TRIGGER keep_saga_errors_of_changed ON saga_activities;
DROP TRIGGER keep_saga_errors_of_deleted ON saga_activities;
DROP TRIGGER keep_saga_errors_of_none ON saga_activities;
DROP FUNCTION keep_saga_errors();
DROP FUNCTION saga_error_fingerprint(text);

-- The callers' ids of the events in the log. The log is partitioned by day, so it cannot have a unique index on them.
CREATE TABLE saga_event_ids (
    tenant   text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, event_id)
);
INSERT INTO saga_event_ids (tenant, event_id)
SELECT DISTINCT tenant, event_id FROM saga_events WHERE event_id IS NOT NULL;
DROP INDEX saga_events_event_id_idx;
