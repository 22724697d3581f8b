-- Objects of Git LFS that lie beside the repositories, and locks of files.
CREATE TABLE "lfs_objects" (
    "project_id" INTEGER NOT NULL,
    "oid" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lfs_objects_pkey" PRIMARY KEY ("project_id","oid")
);
ALTER TABLE "lfs_objects" ADD CONSTRAINT "lfs_objects_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "lfs_locks" (
    "project_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "path" TEXT NOT NULL,
    "owner_id" INTEGER NOT NULL,
    "locked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lfs_locks_pkey" PRIMARY KEY ("project_id","id")
);
CREATE UNIQUE INDEX "lfs_locks_project_id_path_key" ON "lfs_locks"("project_id", "path");
CREATE INDEX "lfs_locks_owner_id_idx" ON "lfs_locks"("owner_id");
ALTER TABLE "lfs_locks" ADD CONSTRAINT "lfs_locks_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lfs_locks" ADD CONSTRAINT "lfs_locks_owner_id_fkey"
  FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
