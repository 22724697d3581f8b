-- How far each destination has the audit log.
CREATE TABLE audit_exports (
    destination   text NOT NULL PRIMARY KEY,
    position      bigint NOT NULL DEFAULT 0,
    exported_at   timestamptz(3),
    checked_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    failures      integer NOT NULL DEFAULT 0,
    failing_since timestamptz(3),
    retry_at      timestamptz(3),
    last_error    text
);
