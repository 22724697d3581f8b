import { randomUUID } from 'node:crypto'
import { rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { mayBeUsername, projectProblems, sizeText } from '@switchyard/domain/access'
import { createGit } from '@switchyard/git-storage/git'
import { countBytes, diskPathOf } from '@switchyard/git-storage/repository-files'
import { SolvableProblem } from '@switchyard/terminal'
import type pg from 'pg'
import { rootOf, runningDatabaseOf } from './data-locations.js'
import { listMigrations } from './database/dump-database.js'
import { insertProject, type Losses, noteKnownKeys, readLosses } from './database/insert-project.js'
import { type StagedProject, stageProject, stageRows, tablesOfProject } from './database/stage-project.js'
import { withClient } from './database/with-client.js'
import { hashFile, syncFileSystem } from './files.js'
import { refuseDamage } from './find-damage.js'
import { getManifest, lfsListFile, type Manifest, runFolderOf } from './manifest.js'
import type { RestoreOptions } from './restore-backup.js'
import { readObjectList, restoreObject } from './storage/lfs-objects.js'
import { fillRepository } from './storage/mirror.js'

export interface RestoreProjectOptions extends RestoreOptions {
  /** Full path of the project in the backup. */
  from: string
  /** New full path of the project. */
  to: string
}

interface RestoredProject {
  id: number
  rows: number
  cut: string
}

/**
 * Interval of touching the folder, because housekeeping treats an unfinished repository as abandoned when
 * nothing has changed in its folder for an hour.
 */
const touchMs = 10 * 60_000

/**
 * Adds a project of a backup to a running installation, with new ids. Everything is checked before anything
 * is written. The repository gets its name just before the rows are committed, so that an interrupted restore
 * leaves nothing visible.
 */
export async function restoreProject(options: RestoreProjectOptions): Promise<RestoredProject> {
  const { locations, folder, from, to, progress } = options
  const manifest = await getManifest(folder)
  const { namespace, path } = readPath(to)
  return await withClient(runningDatabaseOf(locations), async (client) => {
    await refuseOtherSchema(client, manifest)
    await refusePath(client, namespace, to)
    const runFolder = runFolderOf(folder, manifest.run)
    await progress.step('check of the tables', () =>
      refuseDamage(folder, tablesOf(manifest), advice, () => false),
    )
    const project = await stageProject(client, manifest.database, runFolder, from.toLowerCase())
    if (!project) throw new SolvableProblem(`The backup has no project ${from}`)
    const storageRoot = rootOf(locations, project.storage)
    const isOwn = (diskPath: string) => diskPath === project.diskPath
    await progress.step('check of the repository', () =>
      refuseDamage(folder, repositoryOf(manifest, isOwn), advice, isOwn),
    )
    const id = await drawId(client)
    await progress.step('rows of the backup', () =>
      stageRows(client, manifest.database, runFolder, { old: project.id, new: id }),
    )
    await noteKnownKeys(client, { every: await hasSameKeys(options, manifest) })
    const losses = await readLosses(client)
    const added = { id, namespace, path, storageRoot, diskPath: diskPathOf(id) }
    const { rows, bytes } = await addProject(client, options, manifest, project, added)
    for (const notice of noticesOf(losses, bytes, namespace)) progress.notice(notice)
    return { id, rows, cut: manifest.cut }
  })
}

const advice = 'Nothing was restored'

function readPath(fullPath: string) {
  const [namespace = '', path = '', ...more] = fullPath.split('/')
  const { path: problems } = projectProblems({ name: path, path })
  if (!mayBeUsername(namespace) || more.length > 0 || problems)
    throw new SolvableProblem(
      `${JSON.stringify(fullPath)} is no path of a project: write the name of its owner and its own, as alice/app`,
    )
  return { namespace, path }
}

async function refuseOtherSchema(client: pg.Client, { version, database }: Manifest): Promise<void> {
  const here = await listMigrations(client)
  if (here.join() === database.migrations.join()) return
  throw new SolvableProblem(
    `The backup (of version ${version}) has another schema than this installation: restore it as a whole elsewhere, upgrade that to this version, and take the project from a backup of it`,
  )
}

async function refusePath(client: pg.Client, namespace: string, to: string): Promise<void> {
  const { rows } = await client.query<{ hasOwner: boolean; isTaken: boolean }>(
    `SELECT EXISTS (SELECT FROM users WHERE username_key = lower($1) AND NOT bot) AS "hasOwner",
       EXISTS (SELECT FROM projects WHERE path_key = lower($2)) AS "isTaken"`,
    [namespace, to],
  )
  const [found] = rows
  if (found?.isTaken) throw new SolvableProblem(`There is a project ${to}: name another path with --as`)
  if (!found?.hasOwner)
    throw new SolvableProblem(
      `No user is called ${namespace}, who would own ${to}: create that user, or name a path of another one with --as`,
    )
}

const tablesOf = (manifest: Manifest): Manifest => ({
  ...manifest,
  database: { ...manifest.database, tables: tablesOfProject(manifest.database) },
  repositories: [],
  secrets: [],
})

const repositoryOf = (manifest: Manifest, isOwn: (diskPath: string) => boolean): Manifest => ({
  ...manifest,
  database: { ...manifest.database, tables: [] },
  repositories: manifest.repositories.filter(({ diskPath }) => isOwn(diskPath)),
  secrets: [],
})

async function drawId(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ id: string }>("SELECT nextval('projects_id_seq') AS id")
  return Number(rows[0]?.id)
}

const keysFile = 'webhook-secret-keys'

/**
 * Returns whether the installation has the webhook keys of the backup; false when the backup does not contain
 * its keys.
 */
async function hasSameKeys({ locations }: RestoreProjectOptions, { secrets }: Manifest): Promise<boolean> {
  const inBackup = secrets.find(({ name }) => name === keysFile)
  if (!inBackup || !locations.dataDir) return false
  return (await hashFile(join(locations.dataDir, keysFile))) === inBackup.sha256
}

interface NewProject {
  id: number
  namespace: string
  path: string
  storageRoot: string
  diskPath: string
}

async function addProject(
  client: pg.Client,
  options: RestoreProjectOptions,
  manifest: Manifest,
  project: StagedProject,
  added: NewProject,
): Promise<{ rows: number; bytes: number }> {
  const { progress } = options
  const { storageRoot } = added
  // Housekeeping recognizes this name as unfinished, and removes the folder.
  const unfinished = `${added.diskPath}.${randomUUID()}.new`
  const path = join(storageRoot, unfinished)
  const touching = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {})
  }, touchMs)
  try {
    const lfsBytes = await progress.step('repository', () =>
      fillStorage(options.folder, storageRoot, unfinished, manifest, project),
    )
    const repositoryBytes = await countBytes({ path, signal: undefined })
    await syncFileSystem(storageRoot)
    const rows = await progress.step('rows of the project', () =>
      commitProject(client, options, manifest, { ...added, repositoryBytes }, path),
    )
    return { rows, bytes: lfsBytes + repositoryBytes }
  } finally {
    clearInterval(touching)
    await rm(path, { recursive: true, force: true })
  }
}

/**
 * Creates the repository of a project with its objects of Git LFS.
 *
 * @returns the bytes of these objects
 */
async function fillStorage(
  folder: string,
  storageRoot: string,
  newPath: string,
  { repositories, run }: Manifest,
  { diskPath }: StagedProject,
): Promise<number> {
  const repository = repositories.find((each) => each.diskPath === diskPath)
  if (repository) await fillRepository(folder, storageRoot, newPath, repository)
  else await createGit(storageRoot).createRepository(newPath, 'main')
  let bytes = 0
  for await (const object of readObjectList(join(runFolderOf(folder, run), lfsListFile))) {
    if (object.diskPath !== diskPath) continue
    await restoreObject(folder, storageRoot, { ...object, diskPath: newPath })
    bytes += object.size
  }
  return bytes
}

async function commitProject(
  client: pg.Client,
  { from, to }: RestoreProjectOptions,
  { database, cut }: Manifest,
  added: NewProject & { repositoryBytes: number },
  filled: string,
): Promise<number> {
  await client.query('BEGIN')
  const rows = await insertProject(client, database, added)
  if (rows === null) throw new SolvableProblem(`${to} was taken, or its owner deleted, meanwhile. ${advice}`)
  await client.query(
    `INSERT INTO audit_events (author_name, event_name, entity_type, entity_id, details)
     VALUES ('Switchyard', 'project_restored', 'Project', $1, $2)`,
    [String(added.id), JSON.stringify({ path: to, from, cut })],
  )
  await rename(filled, join(added.storageRoot, added.diskPath))
  await client.query('COMMIT')
  return rows
}

/** Returns notices for operators, one line each. */
function noticesOf(losses: Losses, bytes: number, owner: string): string[] {
  const { unknownUsers, membersOfGroups, webhooks, webhooksWithLostSecret } = losses
  const notices: string[] = []
  if (unknownUsers.length > 0)
    notices.push(
      `nobody here is called ${unknownUsers.join(', ')}: they are no members, and what they wrote has no author`,
    )
  if (membersOfGroups > 0)
    notices.push(`${membersOfGroups} members by groups of single sign-on come back when they sign in`)
  if (webhooks > 0) notices.push(`${webhooks} webhooks are disabled: enable those that shall send again`)
  if (webhooksWithLostSecret > 0)
    notices.push(
      `${webhooksWithLostSecret} of them lost their secrets, whose key is not known here: set them anew`,
    )
  notices.push(
    `it takes ${sizeText(bytes)} of the quota of ${owner}, which holds for what is added from now on`,
  )
  return notices
}
