import {
  type DatabaseOrTransaction,
  type Pooled,
  type Prisma,
  type PrismaTransaction,
  type Project,
  type User,
  unendedMembershipSql,
} from '@switchyard/db'
import { flag, float, integer, json, lockRow, rowColumns, selectList, text, time } from '@switchyard/db/sql'
import { accessLevels, type ProjectAccess, type Visibility } from '@switchyard/domain/access'

export interface ProjectForUser {
  project: Project & ProjectAccess
  /** Access level of the user's membership row; null without one. */
  memberLevel: number | null
}

const list = (name: string) => ({ name, type: 'text[]' })

/** The columns of `projects`. */
const projectColumns = rowColumns<Project>({
  id: integer('id'),
  name: text('name'),
  path: text('path'),
  description: text('description'),
  pathWithNamespace: text('path_with_namespace'),
  pathKey: text('path_key'),
  ownerId: integer('owner_id'),
  visibility: text('visibility'),
  defaultBranch: text('default_branch'),
  wantedDefaultBranch: text('wanted_default_branch'),
  storage: text('storage'),
  diskPath: text('disk_path'),
  createdAt: time('created_at'),
  lastActivityAt: time('last_activity_at'),
  updatedAt: time('updated_at'),
  topics: list('topics'),
  defaultServices: list('default_services'),
  archived: flag('archived'),
  lfsEnabled: flag('lfs_enabled'),
  settings: json('settings'),
  lastDeploymentIid: integer('last_deployment_iid'),
  repositorySizeLimit: float('repository_size_limit'),
})

const select = (
  condition: string,
) => `SELECT ${selectList('p', projectColumns)}, m.access_level AS "memberLevel"
  FROM projects p LEFT JOIN project_members m ON m.project_id = p.id AND m.user_id = $2
    AND ${unendedMembershipSql} WHERE ${condition}`

const byId = { name: 'project-for-user-by-id', text: select('p.id = $1') }
const byPath = { name: 'project-for-user-by-path', text: select('p.path_key = $1') }

const idMax = 2_147_483_647

/**
 * Finds a project and one user's membership in it, with one prepared statement, because every request for a
 * project needs both.
 *
 * @param reference numeric id, or full path; case does not matter
 * @param userId null for an anonymous caller
 */
export async function findProjectForUser(
  { pool }: Pooled,
  reference: string,
  userId: number | null,
): Promise<ProjectForUser | null> {
  const lookup = lookupOf(reference, { byId, byPath })
  if (!lookup) return null
  const { rows } = await pool.query<Project & ProjectAccess & { memberLevel: number | null }>({
    ...lookup.statement,
    values: [lookup.key, userId],
  })
  const [row] = rows
  if (!row) return null
  const { memberLevel, ...project } = row
  return { project, memberLevel }
}

const storageById = { name: 'storage-by-id', text: 'SELECT storage FROM projects WHERE id = $1' }
const storageByPath = { name: 'storage-by-path', text: 'SELECT storage FROM projects WHERE path_key = $1' }

/**
 * Returns the storage that holds the repository of a project; null when there is no such project.
 *
 * @param reference numeric id, or full path; case does not matter
 */
export async function findProjectStorage({ pool }: Pooled, reference: string): Promise<string | null> {
  const lookup = lookupOf(reference, { byId: storageById, byPath: storageByPath })
  if (!lookup) return null
  const { rows } = await pool.query<{ storage: string }>({ ...lookup.statement, values: [lookup.key] })
  return rows[0]?.storage ?? null
}

/** Chooses the statement that finds a project by this reference. */
function lookupOf<Statement>(reference: string, { byId, byPath }: { byId: Statement; byPath: Statement }) {
  if (/^\d+$/.test(reference)) {
    const id = Number(reference)
    return id <= idMax ? { statement: byId, key: id } : null
  }
  if (!reference.includes('/') || reference.includes('\0')) return null
  return { statement: byPath, key: reference.toLowerCase() }
}

/** Reserves the id of a new project. The path of its repository depends on the id. */
export async function nextProjectId({ prisma }: DatabaseOrTransaction): Promise<number> {
  const [drawn] = await prisma.$queryRaw<{ id: bigint }[]>`SELECT nextval('projects_id_seq') AS id`
  return Number(drawn?.id)
}

export interface NewProject {
  /** An id from `nextProjectId`. */
  id: number
  name: string
  path: string
  description: string | null
  owner: { id: number }
  visibility: Visibility
  defaultBranch: string
  /** Name of the storage that holds the repository. */
  storage: string
  /** Path of the bare repository below its storage root. */
  diskPath: string
  topics: string[]
  /** The services of deployments that name no services. */
  defaultServices: string[]
  lfsEnabled: boolean
  settings: SettingChanges
  /** Most bytes of repository and Git LFS objects; 0: no limit; null: the limit of the installation. */
  repositorySizeLimit?: number | null | undefined
}

/** New values of settings by name; null: the default value. */
export type SettingChanges = Record<string, string | number | boolean | null>

export type ProjectWithOwner = Project & { owner: User }

/**
 * Adds a project in the namespace of its owner and makes the owner its first member. Fails with
 * a unique violation when the path is taken; see `violatedUniqueIndex`.
 */
export async function createProject(
  transaction: PrismaTransaction,
  { owner, settings, ...project }: NewProject,
): Promise<ProjectWithOwner> {
  return transaction.prisma.project.create({
    data: {
      ...project,
      settings: withChanges({}, settings),
      ...(await fullPath(transaction, owner.id, project.path)),
      ownerId: owner.id,
      members: { create: { userId: owner.id, accessLevel: accessLevels.owner } },
    },
    include: { owner: true },
  })
}

export type ProjectChanges = Partial<
  Pick<
    NewProject,
    | 'name'
    | 'path'
    | 'description'
    | 'visibility'
    | 'defaultBranch'
    | 'topics'
    | 'defaultServices'
    | 'lfsEnabled'
    | 'repositorySizeLimit'
    | 'settings'
  > &
    Pick<Project, 'archived' | 'wantedDefaultBranch'>
>

/**
 * Changes a project. Fails with a unique violation when the path is taken; see
 * `violatedUniqueIndex`.
 *
 * @returns null when there is no such project
 */
export async function updateProject(
  transaction: PrismaTransaction,
  { id, ownerId }: Pick<Project, 'id' | 'ownerId'>,
  { settings: settingChanges, ...columns }: ProjectChanges,
): Promise<ProjectWithOwner | null> {
  const { prisma } = transaction
  const { path } = columns
  // The owner is locked before the project.
  const paths = path === undefined ? {} : await fullPath(transaction, ownerId, path)
  const settings = settingChanges && (await changedSettings(transaction, id, settingChanges))
  const changes = { ...columns, ...paths, ...(settings && { settings }) }
  // Prisma refuses an update without columns.
  if (Object.keys(changes).length === 0) {
    return prisma.project.findUnique({ where: { id }, include: { owner: true } })
  }
  const [project] = await prisma.project.updateManyAndReturn({
    where: { id },
    data: { ...changes, updatedAt: new Date() },
    include: { owner: true },
  })
  return project ?? null
}

/**
 * Returns the settings with the changes. Locks the project, so that concurrent changes of different settings
 * are both kept.
 */
async function changedSettings(transaction: PrismaTransaction, id: number, changes: SettingChanges) {
  const row = await lockRow<{ settings: SettingChanges }>(
    transaction,
    'projects',
    { id },
    'NO KEY UPDATE',
    'settings',
  )
  return withChanges(row?.settings ?? {}, changes)
}

const withChanges = (settings: SettingChanges, changes: SettingChanges): Prisma.InputJsonObject =>
  Object.fromEntries(Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null))

/**
 * Returns the path columns of a project. Locks the owner, so that the owner is not renamed before the
 * transaction ends.
 */
async function fullPath(transaction: PrismaTransaction, ownerId: number, path: string) {
  const owner = await lockRow<{ username: string }>(
    transaction,
    'users',
    { id: ownerId },
    'SHARE',
    'username',
  )
  const pathWithNamespace = `${owner?.username}/${path}`
  return { pathWithNamespace, pathKey: pathWithNamespace.toLowerCase() }
}

/** The fields that determine the default branch of a project. */
export type DefaultBranchChoice = Pick<Project, 'defaultBranch' | 'wantedDefaultBranch'>

/**
 * Changes the default branch, unless another request changed it meanwhile.
 *
 * @returns whether it was changed
 */
export async function changeDefaultBranch(
  { prisma }: DatabaseOrTransaction,
  id: number,
  { from, to }: { from: DefaultBranchChoice; to: DefaultBranchChoice },
): Promise<boolean> {
  const { defaultBranch, wantedDefaultBranch } = from
  const { count } = await prisma.project.updateMany({
    where: { id, defaultBranch, wantedDefaultBranch },
    data: { ...to, updatedAt: new Date() },
  })
  return count > 0
}

/** Most rows that one statement deletes, so that nobody waits long for its locks. */
const deletedAtOnceMax = 10_000

/** Rows that a post changes at this moment are skipped, so that neither side waits for the other. */
const deleteRows = (table: string) => `WITH page AS (
    SELECT id FROM ${table} WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED),
  gone AS (DELETE FROM ${table} WHERE project_id = $1 AND id IN (SELECT id FROM page))
  SELECT max(id) AS last, count(*)::int AS count FROM page`

/**
 * Deletes the statuses and pipelines of a project, of which there may be millions, in many transactions.
 * What is added or skipped meanwhile remains.
 */
export async function deleteStatuses(database: Pooled, projectId: number): Promise<void> {
  for (const table of ['commit_statuses', 'pipelines']) {
    let after: string | null = '0'
    while (after !== null) after = await deletePage(database, table, projectId, after)
  }
}

/** @returns the last id of a full page; null when it was not full */
async function deletePage(
  { pool }: Pooled,
  table: string,
  projectId: number,
  after: string,
): Promise<string | null> {
  const { rows } = await pool.query<{ last: string; count: number }>(deleteRows(table), [
    projectId,
    after,
    deletedAtOnceMax,
  ])
  return rows[0]?.count === deletedAtOnceMax ? rows[0].last : null
}

/** Deletes the project with its members, protections and statuses. The caller deletes the repository. */
export async function deleteProject({ prisma }: DatabaseOrTransaction, id: number): Promise<void> {
  await prisma.project.deleteMany({ where: { id } })
}

/** Returns those of the given paths at which a project has its repository, in any storage. */
export async function listKnownDiskPaths(
  { prisma }: DatabaseOrTransaction,
  diskPaths: readonly string[],
): Promise<Set<string>> {
  const where = { diskPath: { in: [...diskPaths] } }
  const known = await prisma.project.findMany({ where, select: { diskPath: true } })
  return new Set(known.map(({ diskPath }) => diskPath))
}

/** Lists the ids of all deleted projects, from the audit log. */
export async function listDestroyedProjects({ prisma }: DatabaseOrTransaction): Promise<number[]> {
  const where = { entityType: 'Project', eventName: 'project_destroyed' }
  const events = await prisma.auditEvent.findMany({ where, select: { entityId: true } })
  return events.map(({ entityId }) => Number(entityId))
}
