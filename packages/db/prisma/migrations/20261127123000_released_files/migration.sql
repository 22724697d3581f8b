-- When the last file that had an object was deleted: housekeeping removes the object, and until then it counts for no quota.

ALTER TABLE lfs_objects ADD COLUMN released_at timestamptz(3);
