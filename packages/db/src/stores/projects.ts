import type { Database } from '../client.js'
import type { Project } from '../generated/client.js'

export interface ProjectForUser {
  project: Project
  /** Access level of the user's membership row; null without one. */
  memberLevel: number | null
}

const columns = `p.id, p.name, p.path, p.description, p.path_with_namespace AS "pathWithNamespace",
  p.path_key AS "pathKey", p.owner_id AS "ownerId", p.visibility, p.default_branch AS "defaultBranch",
  p.storage, p.disk_path AS "diskPath", p.created_at AS "createdAt", p.last_activity_at AS "lastActivityAt"`

const select = (condition: string) => `SELECT ${columns}, m.access_level AS "memberLevel"
  FROM projects p LEFT JOIN project_members m ON m.project_id = p.id AND m.user_id = $2 WHERE ${condition}`

const byId = { name: 'project-for-user-by-id', text: select('p.id = $1') }
const byPath = { name: 'project-for-user-by-path', text: select('p.path_key = $1') }

const idMax = 2_147_483_647

/**
 * A project and one user's membership in it. Every request for a project starts here, so this is one
 * prepared statement.
 *
 * @param reference numeric id, or full path in any case; text without a slash is no path
 * @param userId null for anonymous callers
 */
export async function findProjectForUser(
  { pool }: Pick<Database, 'pool'>,
  reference: string,
  userId: number | null,
): Promise<ProjectForUser | null> {
  const lookup = lookupOf(reference)
  if (!lookup) return null
  const { rows } = await pool.query<Project & { memberLevel: number | null }>({
    ...lookup.statement,
    values: [lookup.key, userId],
  })
  const [row] = rows
  if (!row) return null
  const { memberLevel, ...project } = row
  return { project, memberLevel }
}

function lookupOf(reference: string) {
  if (/^\d+$/.test(reference)) {
    const id = Number(reference)
    return id <= idMax ? { statement: byId, key: id } : null
  }
  if (!reference.includes('/') || reference.includes('\0')) return null
  return { statement: byPath, key: reference.toLowerCase() }
}
