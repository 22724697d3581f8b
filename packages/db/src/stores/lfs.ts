import type { LfsObject } from '@switchyard/domain/commit'
import type { DatabaseOrTransaction, PrismaTransaction } from '../client.js'

/**
 * Records that the project has these objects, and their sizes, unless they are recorded already. Released
 * objects count again.
 */
export async function recordLfsObjects(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  objects: readonly LfsObject[],
): Promise<void> {
  const oids = objects.map(({ oid }) => oid)
  const sizes = objects.map(({ size }) => BigInt(size))
  // The row of a known object is locked too, so that no simultaneous deletion releases it.
  await prisma.$executeRaw`WITH noted AS (
    INSERT INTO lfs_objects (project_id, oid, size)
    SELECT ${projectId}, oid, size FROM unnest(${oids}::text[], ${sizes}::bigint[]) AS given (oid, size) ORDER BY oid
    ON CONFLICT (project_id, oid) DO UPDATE SET released_at = NULL WHERE lfs_objects.released_at IS NOT NULL
    RETURNING size, xmax <> 0 AS reclaimed),
    total AS (
    SELECT sum(size) AS added, coalesce(sum(size) FILTER (WHERE reclaimed), 0) AS reclaimed FROM noted HAVING count(*) > 0)
    INSERT INTO storage_uses (project_id, lfs_bytes) SELECT ${projectId}, added FROM total
    ON CONFLICT (project_id) DO UPDATE SET lfs_bytes = storage_uses.lfs_bytes + excluded.lfs_bytes,
      released_bytes = greatest(0, storage_uses.released_bytes - (SELECT reclaimed FROM total))`
}

/**
 * Takes objects that no package and no comment uses any more out of the quota. Housekeeping later removes
 * these objects from disk, or counts an object again when a pointer of Git LFS names it.
 */
export async function releaseLfsObjects(
  { prisma }: PrismaTransaction,
  projectId: number,
  oids: readonly string[],
): Promise<void> {
  const given = [...oids]
  // A transaction that adds a file with such an object locks the row, too, so that the next statement sees
  // the file.
  await prisma.$queryRaw`SELECT FROM lfs_objects WHERE project_id = ${projectId} AND oid = ANY(${given}) ORDER BY oid FOR UPDATE`
  await prisma.$executeRaw`WITH released AS (
    UPDATE lfs_objects o SET released_at = now()
    WHERE project_id = ${projectId} AND oid = ANY(${given}) AND released_at IS NULL
      AND NOT EXISTS (SELECT FROM package_files f WHERE f.project_id = o.project_id AND f.oid = o.oid)
      AND NOT EXISTS (SELECT FROM uploads u WHERE u.project_id = o.project_id AND u.oid = o.oid)
    RETURNING size),
    total AS (SELECT coalesce(sum(size), 0) AS bytes FROM released)
    UPDATE storage_uses SET lfs_bytes = greatest(0, lfs_bytes - bytes), released_bytes = released_bytes + bytes
    FROM total WHERE project_id = ${projectId}`
}

/** Lists the ids of released objects. */
export async function listReleasedLfsObjects(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<string[]> {
  const where = { projectId, releasedAt: { not: null } }
  return (await prisma.lfsObject.findMany({ where, select: { oid: true } })).map(({ oid }) => oid)
}

/** Counts released objects again, because something needs them. */
export async function reclaimLfsObjects(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  oids: readonly string[],
): Promise<void> {
  await prisma.$executeRaw`WITH reclaimed AS (
    UPDATE lfs_objects SET released_at = NULL
    WHERE project_id = ${projectId} AND oid = ANY(${[...oids]}) AND released_at IS NOT NULL RETURNING size),
    total AS (SELECT coalesce(sum(size), 0) AS bytes FROM reclaimed)
    UPDATE storage_uses SET lfs_bytes = lfs_bytes + bytes, released_bytes = greatest(0, released_bytes - bytes)
    FROM total WHERE project_id = ${projectId}`
}

/**
 * Records that the project no longer has these objects, and frees their quota. Objects of files stay.
 *
 * @returns the ids of the objects that files of packages or comments have
 */
export async function deleteLfsObjects(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  oids: readonly string[],
): Promise<string[]> {
  const given = [...oids]
  const kept = await prisma.$queryRaw<{ oid: string }[]>`WITH kept AS (
    SELECT oid FROM package_files WHERE project_id = ${projectId} AND oid = ANY(${given})
    UNION SELECT oid FROM uploads WHERE project_id = ${projectId} AND oid = ANY(${given})),
    gone AS (
    DELETE FROM lfs_objects WHERE project_id = ${projectId} AND oid = ANY(${given})
      AND oid NOT IN (SELECT oid FROM kept) RETURNING size, released_at),
    total AS (
    SELECT coalesce(sum(size) FILTER (WHERE released_at IS NULL), 0) AS counted,
      coalesce(sum(size) FILTER (WHERE released_at IS NOT NULL), 0) AS released FROM gone),
    freed AS (
    UPDATE storage_uses SET lfs_bytes = greatest(0, lfs_bytes - counted),
      released_bytes = greatest(0, released_bytes - released)
    FROM total WHERE project_id = ${projectId})
    SELECT oid FROM kept`
  return kept.map(({ oid }) => oid)
}

/** Sums the bytes of all objects of a project that count for its quota. */
export async function sumLfsObjects({ prisma }: DatabaseOrTransaction, projectId: number): Promise<number> {
  const { _sum } = await prisma.lfsObject.aggregate({
    where: { projectId, releasedAt: null },
    _sum: { size: true },
  })
  return Number(_sum.size ?? 0)
}
