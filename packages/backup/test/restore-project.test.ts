import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findLfsObject } from '@switchyard/git-storage/lfs'
import { runGitOk } from '@switchyard/git-storage/processes'
import { createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { projectTables } from '../src/database/project-tables.js'
import { getManifest, lfsFileOf, mirrorOf, writeManifest } from '../src/manifest.js'
import { restoreProject } from '../src/restore-project.js'
import {
  addFile,
  addProject,
  backUp,
  createInstallation,
  type FilledProject,
  type Installation,
  locationsOf,
  progress,
  told,
} from './installation.js'
import { describeRows, fillTables, forgetLostKey } from './project-rows.js'

let source: Installation
let project: FilledProject
let path: string
let folder: string

beforeAll(async () => {
  source = await createInstallation()
  project = await addProject(source)
  await addFile(source, project)
  await createUser(source.database, { username: 'Mona' })
  await createUser(source.database, { username: 'bob' })
  await fillTables(source.database, project.id)
  path = (await source.database.prisma.project.findUniqueOrThrow({ where: { id: project.id } }))
    .pathWithNamespace
  folder = await mkdtemp(join(tmpdir(), 'switchyard-backup-'))
  await backUp(source, folder)
})
afterAll(async () => {
  await project.work.close()
  await source.close()
  await rm(folder, { recursive: true, force: true })
})

const restore = (target: Installation, to: string, from = path) => {
  told.length = 0
  return restoreProject({ locations: locationsOf(target), folder, progress, from, to })
}

const projectAt = ({ database }: Installation, pathWithNamespace: string) =>
  database.prisma.project.findFirst({ where: { pathWithNamespace } })

const referencesOf = async ({ storageRoot }: Installation, diskPath: string) =>
  String((await runGitOk(join(storageRoot, diskPath), { command: 'for-each-ref' })).stdout)

/** Lists every folder and file of the storage, without the content of repositories. */
const repositoriesIn = async ({ storageRoot }: Installation) =>
  (await readdir(storageRoot, { recursive: true })).filter((name) => /^@hashed\/..\/..\/[^/]+$/.test(name))

it('covers each table of a project, and each column with the id of another row', async () => {
  const tokens = ['deploy_tokens', 'personal_access_tokens', 'trusted_issuers']
  const leftOut = [...tokens, 'foreseen_changes', 'webhook_deliveries']
  const { rows } = await source.database.pool.query<{ from: string; to: string; columns: string[] }>(
    `SELECT k.conrelid::regclass::text AS from, k.confrelid::regclass::text AS to,
       (SELECT array_agg(a.attname::text) FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY(k.conkey)) AS columns
     FROM pg_constraint k WHERE k.contype = 'f'`,
  )
  const names = projectTables.map(({ name }) => name)
  const ofProjects = new Set(['projects', ...names])
  const tables = rows
    .filter(({ from, to }) => ofProjects.has(to) && from !== 'projects')
    .map(({ from }) => from)
  expect([...new Set(tables)].sort()).toEqual([...names, ...leftOut].sort())
  const referring = rows
    .filter(
      ({ from, to }) =>
        names.includes(from) && to !== 'projects' && to !== 'lfs_objects' && to !== 'identities',
    )
    .map(({ from, to, columns }) => `${from}.${columns.filter((column) => column !== 'project_id')} ${to}`)
  const known = projectTables.flatMap(({ name, references = {} }) =>
    Object.entries(references).map(([column, to]) => `${name}.${column} ${to}`),
  )
  expect(known).toEqual(expect.arrayContaining(referring))
})

it('restores a project beside the original, with every row, reference and object, and new ids', async () => {
  const before = await describeRows(source.database, project.id)
  const { id } = await restore(source, `${ownerOf(path)}/copy`)
  const copy = await projectAt(source, `${ownerOf(path)}/copy`)
  expect(copy).toMatchObject({ id, path: 'copy', topics: ['one', 'two'], lastDeploymentIid: 7 })
  const original = await projectAt(source, path)
  expect({ ...copy, ...namesOf(original) }).toEqual(original)

  const after = await describeRows(source.database, id)
  const bot = before.project_members?.findIndex(({ user_id }) => user_id === 'bot_1') ?? -1
  before.project_members?.splice(bot, 1)
  const changed = { enabled: false, disabled_reason: 'restored from a backup', disabled_at: expect.any(Date) }
  expect(after).toEqual({
    ...before,
    webhooks: before.webhooks?.map((webhook) => ({ ...webhook, ...changed })),
    storage_uses: [{ ...before.storage_uses?.[0], repository_bytes: expect.stringMatching(/^\d{3,}$/) }],
    release_links: before.release_links?.map((link) => ({
      ...link,
      url: link.name === 'other' ? link.url : String(link.url).replace(`/${project.id}/`, `/${id}/`),
    })),
  })
  expect(told).toEqual([
    '2 webhooks are disabled: enable those that shall send again',
    expect.stringMatching(/^it takes \d.* of the quota of /),
  ])

  expect(await referencesOf(source, copy?.diskPath ?? '')).toBe(await referencesOf(source, project.diskPath))
  expect(await findLfsObject(source.git.open(copy ?? project), project.oid)).toBe(100_000)
  expect(await source.database.prisma.deployToken.count({ where: { projectId: id } })).toBe(0)
  const entry = await source.database.prisma.auditEvent.findFirstOrThrow({ orderBy: { id: 'desc' } })
  expect(entry).toMatchObject({ eventName: 'project_restored', entityId: String(id), authorId: null })
})

const ownerOf = (fullPath: string) => fullPath.split('/')[0]

const namesOf = (given: Awaited<ReturnType<typeof projectAt>>) => ({
  id: given?.id,
  path: given?.path,
  pathWithNamespace: given?.pathWithNamespace,
  pathKey: given?.pathKey,
  diskPath: given?.diskPath,
})

it('omits users who are unknown in another installation, replaces them by administrators, and drops secrets of other keys', async () => {
  const target = await createInstallation()
  try {
    const ann = await createUser(target.database, { username: 'ann' })
    await createUser(target.database, { username: 'mona' })
    const { id } = await restore(target, 'ann/again')
    const rows = await describeRows(target.database, id)
    expect(rows.project_members?.map(({ user_id, access_level }) => [user_id, access_level]).sort()).toEqual([
      ['ann', 50],
      ['mona', 40],
    ])
    expect(rows.lfs_locks?.map(({ path }) => path)).toEqual(['a.bin'])
    expect(rows.releases?.map(({ author_id }) => author_id)).toEqual(['mona', null])
    const [{ deploy_access_levels, approval_rules } = {}] = rows.protected_environments ?? []
    const { id: mona } = await target.database.prisma.user.findFirstOrThrow({
      where: { usernameKey: 'mona' },
    })
    expect(deploy_access_levels).toEqual([
      { id: 1, accessLevel: 40, userId: null },
      { id: 2, accessLevel: null, userId: mona },
    ])
    expect(approval_rules).toEqual([{ id: 1, accessLevel: 60, userId: null, requiredApprovals: 2 }])
    const lost = { secret_key_id: null, encrypted_secret: null, headers_key_id: null, header_names: [] }
    expect(rows.webhooks).toEqual([expect.objectContaining(lost), expect.objectContaining(lost)])
    expect(rows.commit_comments?.map(({ discussion_id }) => discussion_id)).toEqual([
      null,
      ...Array(2).fill('commit_comments gone'),
    ])
    expect(ann.id).toBe((await projectAt(target, 'ann/again'))?.ownerId)
    expect(told).toEqual([
      expect.stringMatching(/^nobody here is called bob, user-\d+: they are no members/),
      '2 webhooks are disabled: enable those that shall send again',
      '2 of them lost their secrets, whose key is not known here: set them anew',
      expect.stringContaining('of the quota of ann'),
    ])
  } finally {
    await target.close()
  }
})

it('refuses what it cannot restore, with one sentence and without a trace', async () => {
  const repositories = await repositoriesIn(source)
  const projects = await source.database.prisma.project.count()
  await expect(restore(source, path)).rejects.toThrow(
    `There is a project ${path}: name another path with --as`,
  )
  await expect(restore(source, path.toUpperCase())).rejects.toThrow('There is a project')
  await expect(restore(source, 'nobody/app')).rejects.toThrow('No user is called nobody')
  await expect(restore(source, 'bot_1/app')).rejects.toThrow('No user is called bot_1')
  for (const odd of [
    'app',
    'mona/',
    '/app',
    'mona/a/b',
    'mona/..',
    'mona/a\0',
    'm\0/a',
    'mona/a b',
    'mona/.git',
  ])
    await expect(restore(source, odd), odd).rejects.toThrow('is no path of a project')
  for (const unknown of ['mona/none', '', '\0', '../..', 'mona/\t1'])
    await expect(restore(source, 'mona/app', unknown), unknown).rejects.toThrow('The backup has no project')

  const manifest = await getManifest(folder)
  const older = { ...manifest.database, migrations: manifest.database.migrations.slice(0, -1) }
  await writeManifest(folder, { ...manifest, database: older })
  await expect(restore(source, 'mona/app')).rejects.toThrow('has another schema than this installation')
  await writeManifest(folder, manifest)

  const mirror = join(mirrorOf(folder, project.diskPath), 'HEAD')
  for (const file of [lfsFileOf(folder, project.oid), mirror]) {
    const bytes = await readFile(file)
    await rm(file)
    await expect(restore(source, 'mona/app'), file).rejects.toThrow(
      /^The backup is damaged: .*Nothing was restored$/s,
    )
    await writeFile(file, bytes)
  }
  expect(await source.database.prisma.project.count()).toBe(projects)
  expect(await repositoriesIn(source)).toEqual(repositories)
  await restore(source, 'mona/app', path.toUpperCase())
})

it('restores no secret whose key the installation no longer uses', async () => {
  await forgetLostKey(source.database)
  const { id } = await restore(source, 'mona/keys')
  const { webhooks } = await describeRows(source.database, id)
  expect(webhooks?.map(({ secret_key_id }) => secret_key_id !== null)).toEqual([true, false])
})
