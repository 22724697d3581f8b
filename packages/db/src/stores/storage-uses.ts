import type { Database } from '../client.js'

/** What a project takes, and what its limits depend on. */
export interface StorageUse {
  projectId: number
  /** Objects of git; null: not counted yet. */
  repositoryBytes: number | null
  lfsBytes: number
  /** Everything in all projects of the owner, as far as it is counted. */
  ownerBytes: number
  /** The limit of the project itself; 0: none; null: that of the installation. */
  projectBytesMax: number | null
  isOwnedByAdministrator: boolean
}

type Row = { [Field in keyof StorageUse]: StorageUse[Field] extends boolean ? boolean : string | null }

const ofProject = {
  name: 'storage-use',
  text: `SELECT p.id AS "projectId", s.repository_bytes AS "repositoryBytes", coalesce(s.lfs_bytes, 0) AS "lfsBytes",
    (SELECT sum(coalesce(o.repository_bytes, 0) + o.lfs_bytes)
     FROM projects q JOIN storage_uses o ON o.project_id = q.id WHERE q.owner_id = p.owner_id) AS "ownerBytes",
    p.repository_size_limit AS "projectBytesMax", u.admin AS "isOwnedByAdministrator"
    FROM projects p JOIN users u ON u.id = p.owner_id LEFT JOIN storage_uses s ON s.project_id = p.id
    WHERE p.disk_path = $1`,
}

/** @returns null when no project has its repository at this path */
export async function findStorageUse(
  { pool }: Pick<Database, 'pool'>,
  diskPath: string,
): Promise<StorageUse | null> {
  const { rows } = await pool.query<Row>({ ...ofProject, values: [diskPath] })
  const [row] = rows
  if (!row) return null
  const { repositoryBytes, projectBytesMax } = row
  return {
    projectId: Number(row.projectId),
    repositoryBytes: repositoryBytes === null ? null : Number(repositoryBytes),
    lfsBytes: Number(row.lfsBytes),
    ownerBytes: Number(row.ownerBytes ?? 0),
    projectBytesMax: projectBytesMax === null ? null : Number(projectBytesMax),
    isOwnedByAdministrator: row.isOwnedByAdministrator,
  }
}

/**
 * Adds bytes to those of a repository, unless the project would then take more than `totalBytesMax`.
 *
 * @returns whether they were added
 */
export async function addRepositoryBytes(
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
  bytes: number,
  totalBytesMax: number | null,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE storage_uses SET repository_bytes = repository_bytes + $2
     WHERE project_id = $1 AND ($3::bigint IS NULL OR repository_bytes + lfs_bytes + $2 <= $3)`,
    [projectId, bytes, totalBytesMax],
  )
  return rowCount === 1
}

/** The noted bytes of a repository; null: not counted yet. */
export async function findRepositoryBytes(
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
): Promise<number | null> {
  const { rows } = await pool.query<{ bytes: string | null }>(
    'SELECT repository_bytes AS bytes FROM storage_uses WHERE project_id = $1',
    [projectId],
  )
  const bytes = rows[0]?.bytes ?? null
  return bytes === null ? null : Number(bytes)
}

/**
 * Notes what a project takes, after its repository was counted. What was added during the count stays added, because nobody
 * knows whether the count saw it; the next count corrects that. Of several first counts, the first that ends counts.
 *
 * @param notedBefore what was noted before the count
 */
export async function noteCountedBytes(
  { pool }: Pick<Database, 'pool'>,
  projectId: number,
  { counted, notedBefore }: { counted: number; notedBefore: number | null },
): Promise<void> {
  await pool.query(
    `INSERT INTO storage_uses (project_id, repository_bytes, lfs_bytes)
     SELECT id, $2::bigint, (SELECT coalesce(sum(size), 0) FROM lfs_objects WHERE project_id = $1) FROM projects WHERE id = $1
     ON CONFLICT (project_id) DO UPDATE SET lfs_bytes = excluded.lfs_bytes,
       repository_bytes = CASE WHEN storage_uses.repository_bytes IS NULL THEN $2::bigint
         WHEN $3::bigint IS NULL THEN storage_uses.repository_bytes
         ELSE $2::bigint + greatest(0, storage_uses.repository_bytes - $3::bigint) END`,
    [projectId, counted, notedBefore],
  )
}
