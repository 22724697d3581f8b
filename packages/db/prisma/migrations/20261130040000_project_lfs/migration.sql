-- Whether Git LFS works in a project.
ALTER TABLE projects ADD COLUMN lfs_enabled boolean NOT NULL DEFAULT true;
