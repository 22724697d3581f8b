-- Reports take of the quota of their project. Released files do not, but the disk holds them until housekeeping removes them.

ALTER TABLE storage_uses
    ADD COLUMN report_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN released_bytes bigint NOT NULL DEFAULT 0;
