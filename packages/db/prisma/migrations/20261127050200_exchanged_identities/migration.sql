-- Identity tokens of CI jobs that were exchanged, until they have ended for certain, so that each is exchanged once.
CREATE TABLE exchanged_identities (
    key     bytea PRIMARY KEY,
    ends_at timestamptz(3) NOT NULL
);
CREATE INDEX exchanged_identities_ends_at_idx ON exchanged_identities (ends_at);
