import type { Pooled } from '../client.js'

/** The storage that a project uses, and the facts on which its limits depend. */
export interface StorageUse {
  projectId: number
  /** Bytes of the objects of git; null: not counted yet. */
  repositoryBytes: number | null
  lfsBytes: number
  /** Bytes of the reports of statuses. */
  reportBytes: number
  /** Bytes of deleted files that housekeeping has not removed yet. No other field counts them. */
  releasedBytes: number
  /** Bytes of everything in all projects of the owner, as far as it is counted. */
  ownerBytes: number
  ownerReleasedBytes: number
  /** The limit of the project itself; 0: no limit; null: the limit of the installation. */
  projectBytesMax: number | null
  isOwnedByAdministrator: boolean
}

type Row = { [Field in keyof StorageUse]: StorageUse[Field] extends boolean ? boolean : string | null }

const ofProject = {
  name: 'storage-use',
  text: `SELECT p.id AS "projectId", s.repository_bytes AS "repositoryBytes", coalesce(s.lfs_bytes, 0) AS "lfsBytes",
    coalesce(s.report_bytes, 0) AS "reportBytes", coalesce(s.released_bytes, 0) AS "releasedBytes",
    owned.bytes AS "ownerBytes", owned.released AS "ownerReleasedBytes",
    p.repository_size_limit AS "projectBytesMax", u.admin AS "isOwnedByAdministrator"
    FROM projects p JOIN users u ON u.id = p.owner_id LEFT JOIN storage_uses s ON s.project_id = p.id
    CROSS JOIN LATERAL (
      SELECT sum(coalesce(o.repository_bytes, 0) + o.lfs_bytes + o.report_bytes) AS bytes, sum(o.released_bytes) AS released
      FROM projects q JOIN storage_uses o ON o.project_id = q.id WHERE q.owner_id = p.owner_id) owned
    WHERE p.disk_path = $1`,
}

/**
 * Finds the storage that a project uses.
 *
 * @returns null when no project has its repository at this path
 */
export async function findStorageUse({ pool }: Pooled, diskPath: string): Promise<StorageUse | null> {
  const { rows } = await pool.query<Row>({ ...ofProject, values: [diskPath] })
  const [row] = rows
  if (!row) return null
  const { repositoryBytes, projectBytesMax } = row
  return {
    projectId: Number(row.projectId),
    repositoryBytes: repositoryBytes === null ? null : Number(repositoryBytes),
    lfsBytes: Number(row.lfsBytes),
    reportBytes: Number(row.reportBytes),
    releasedBytes: Number(row.releasedBytes),
    ownerBytes: Number(row.ownerBytes ?? 0),
    ownerReleasedBytes: Number(row.ownerReleasedBytes ?? 0),
    projectBytesMax: projectBytesMax === null ? null : Number(projectBytesMax),
    isOwnedByAdministrator: row.isOwnedByAdministrator,
  }
}

/**
 * Adds bytes to the size of a repository, unless the project would then use more than `totalBytesMax`.
 *
 * @returns whether they were added
 */
export async function addRepositoryBytes(
  { pool }: Pooled,
  projectId: number,
  bytes: number,
  totalBytesMax: number | null,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE storage_uses SET repository_bytes = repository_bytes + $2
     WHERE project_id = $1 AND ($3::bigint IS NULL OR repository_bytes + lfs_bytes + report_bytes + $2 <= $3)`,
    [projectId, bytes, totalBytesMax],
  )
  return rowCount === 1
}

/** Returns the recorded size of a repository; null: not counted yet. */
export async function findRepositoryBytes({ pool }: Pooled, projectId: number): Promise<number | null> {
  const { rows } = await pool.query<{ bytes: string | null }>(
    'SELECT repository_bytes AS bytes FROM storage_uses WHERE project_id = $1',
    [projectId],
  )
  const bytes = rows[0]?.bytes ?? null
  return bytes === null ? null : Number(bytes)
}

/**
 * Records the size of a repository after a count. Bytes that were added during the count stay added, because
 * the count may have missed them; the next count corrects that. Of several first counts, the first that ends
 * is recorded.
 *
 * @param notedBefore the recorded size before the count
 */
export async function noteCountedBytes(
  { pool }: Pooled,
  projectId: number,
  { counted, notedBefore }: { counted: number; notedBefore: number | null },
): Promise<void> {
  await pool.query(
    `INSERT INTO storage_uses (project_id, repository_bytes, lfs_bytes, released_bytes, report_bytes)
     SELECT id, $2::bigint, counted, released,
       (SELECT coalesce(sum(octet_length(outcomes) + octet_length(entries)), 0) FROM status_reports WHERE project_id = $1)
     FROM projects, (
       SELECT coalesce(sum(size) FILTER (WHERE released_at IS NULL), 0) AS counted,
         coalesce(sum(size) FILTER (WHERE released_at IS NOT NULL), 0) AS released
       FROM lfs_objects WHERE project_id = $1) objects
     WHERE id = $1
     ON CONFLICT (project_id) DO UPDATE SET lfs_bytes = excluded.lfs_bytes, released_bytes = excluded.released_bytes,
       report_bytes = excluded.report_bytes,
       repository_bytes = CASE WHEN storage_uses.repository_bytes IS NULL THEN $2::bigint
         WHEN $3::bigint IS NULL THEN storage_uses.repository_bytes
         ELSE $2::bigint + greatest(0, storage_uses.repository_bytes - $3::bigint) END`,
    [projectId, counted, notedBefore],
  )
}
