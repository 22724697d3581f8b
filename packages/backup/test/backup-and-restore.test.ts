import { appendFile, cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyMigrations, listShippedMigrations } from '@switchyard/db/migrations'
import { applyRoles, derivePasswords } from '@switchyard/db/roles'
import { createGit } from '@switchyard/git-storage/git'
import { findLfsObject } from '@switchyard/git-storage/lfs'
import { runGitOk } from '@switchyard/git-storage/processes'
import { findBranchTip, hasNoBranch } from '@switchyard/git-storage/references'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dumpDatabase } from '../src/database/dump-database.js'
import { lfsFileOf, mirrorOf, runFolderOf, tableFileOf, writeManifest } from '../src/manifest.js'
import {
  addFile,
  addProject,
  backUp,
  backUpFrom,
  createInstallation,
  type FilledProject,
  type Installation,
  locationsOf,
  restore,
  restoreInto,
  told,
} from './installation.js'

let source: Installation
let project: FilledProject
let folder: string
const opened: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  source = await createInstallation()
  opened.push(source)
  project = await addProject(source)
  opened.push(project.work)
  await source.database.pool.query(
    `SELECT ensure_saga_event_partitions('2031-05-01', 1);
     INSERT INTO saga_events (tenant, received_at, operation, content_key, result, request)
     SELECT 't', day::timestamptz, 'SagaStarted', '\\x00ff', E'tab\\t, line\\n, \\\\', '\\x0a00'
     FROM unnest('{2031-05-01T12:00Z, 2031-05-02T12:00Z}'::text[]) AS day;
     UPDATE webhook_cursors SET horizon = 2, horizon_xid = 7`,
  )
  folder = await newFolder()
})

afterAll(async () => {
  for (const thing of opened.reverse()) await thing.close()
})

async function newFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'switchyard-backup-'))
  opened.push({ close: () => rm(path, { recursive: true, force: true }) })
  return path
}

async function newTarget(): Promise<Installation> {
  const target = await createInstallation({ migrated: false })
  opened.push(target)
  return target
}

/** Returns the name and object of every reference, and HEAD. */
async function referencesOf({ storageRoot }: Installation, diskPath: string): Promise<string> {
  const path = join(storageRoot, diskPath)
  const references = await runGitOk(path, { command: 'for-each-ref' })
  return String(references.stdout) + (await readFile(join(path, 'HEAD'), 'utf8'))
}

const tablesIn = async ({ database }: Installation) =>
  (
    await database.pool.query(
      "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
    )
  ).rowCount

it('restores every row, sequence, reference and LFS object, and the rights of each service', async () => {
  const fileOid = await addFile(source, project)
  await backUp(source, folder)
  const target = await newTarget()
  const { database: dumped } = await restore(target, folder)

  const again = await dumpDatabase(target.url, await newFolder())
  expect(again.tables).toEqual(dumped.tables)
  expect(again.sequences).toEqual(dumped.sequences)
  expect(again.migrations).toEqual(dumped.migrations)
  expect(again.tables.find(({ name }) => name === 'saga_events')).toMatchObject({ rows: 2 })
  const { rows } = await target.database.pool.query(
    'SELECT tableoid::regclass::text AS partition FROM saga_events ORDER BY id',
  )
  expect(rows).toEqual([{ partition: 'saga_events_20310501' }, { partition: 'saga_events_default' }])

  const references = await referencesOf(target, project.diskPath)
  expect(references).toBe(await referencesOf(source, project.diskPath))
  expect(references).toMatch(/refs\/keep-around\/.*refs\/tags\/trunk.*ref: refs\/heads\/trunk/s)
  await runGitOk(join(target.storageRoot, project.diskPath), { command: 'fsck' })
  expect(await findLfsObject(target.git.open(project), project.oid)).toBe(100_000)
  expect(await findLfsObject(target.git.open(project), fileOid)).toBe(2000)

  await applyRoles(target.url, derivePasswords(new URL(target.url).password))
  const worker = new pg.Client({ connectionString: target.urlOf('worker') })
  await worker.connect()
  opened.push({ close: () => worker.end() })
  await worker.query('DELETE FROM saga_events_20310501')
  await expect(worker.query('DELETE FROM users')).rejects.toMatchObject({ code: '42501' })
})

it('refuses a second backup while one runs, into any folder, and accepts one after it', async () => {
  const destination = await newFolder()
  const answers = await Promise.allSettled([backUp(source, folder), backUp(source, destination)])
  const refused = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason.message)
  expect(refused).toEqual(['Another backup of this installation runs: start this one when it has ended'])
  await backUp(source, folder)
  await backUp(source, destination)
})

it('a failed backup lets the next one begin at once', async () => {
  const other = await newFolder()
  await writeFile(join(other, 'notes.txt'), '')
  for (let time = 0; time < 30; time += 1)
    await expect(backUp(source, other)).rejects.toThrow('holds other files, such as notes.txt')
})

it('has all tables as of one moment, while others write', async () => {
  const { pool } = source.database
  let stopped = false
  const write = async () => {
    for (let number = 1; !stopped; number += 1)
      await pool.query(
        `WITH u AS (INSERT INTO users (username, username_key, name, email, email_key)
           VALUES ($1, $1, $1, $1, $1) RETURNING id)
         INSERT INTO audit_events (author_id, author_name, event_name, entity_type, entity_id, details)
         SELECT id, 'pair', 'pair', 'pair', $1, '{}' FROM u`,
        [`pair-${number}`],
      )
  }
  const { rows } = await pool.query('SELECT count(*)::int AS users FROM users')
  const writing = write()
  const { tables } = await dumpDatabase(source.url, await newFolder())
  stopped = true
  await writing
  const rowsOf = (table: string) => tables.find(({ name }) => name === table)?.rows ?? 0
  expect(rowsOf('audit_events')).toBe(rowsOf('users') - rows[0]?.users)
})

it('refuses a database with tables and a folder with repositories', async () => {
  await expect(restore(await createMigrated(), folder)).rejects.toThrow('restore into an empty database')
  const target = await newTarget()
  await target.git.createRepository('other.git', 'main')
  await expect(restore(target, folder)).rejects.toThrow('is not empty')
  const dataDir = await newFolder()
  await writeFile(join(dataDir, 'root-token'), 'of another installation')
  const storageRoots = new Map([['default', join(dataDir, 'repositories')]])
  const locations = { databaseUrl: target.url, storageRoots, dataDir, metricsFile: null, copies: null }
  await expect(restoreInto(locations, folder)).rejects.toThrow('holds root-token already')
  expect(await tablesIn(target)).toBe(0)
})

async function createMigrated(): Promise<Installation> {
  const target = await createInstallation()
  opened.push(target)
  return target
}

it('copies only new data into a folder with a backup, and removes what no longer exists', async () => {
  const second = await addProject(source)
  opened.push(second.work)
  const before = await backUp(source, folder)
  const [packBefore] = await readdir(join(mirrorOf(folder, project.diskPath), 'objects', 'pack'))
  const lfsBefore = await stat(lfsFileOf(folder, project.oid))
  await second.work.commit({ files: { 'c.txt': 'later' } })
  await second.work.git('push', join(source.storageRoot, second.diskPath), 'refs/heads/trunk')

  const manifest = await backUp(source, folder)
  const runOf = ({ repositories }: typeof manifest, { diskPath }: FilledProject) =>
    repositories.find((repository) => repository.diskPath === diskPath)?.run
  expect(runOf(manifest, project)).toBe(runOf(before, project))
  expect(runOf(manifest, second)).toBe(manifest.run)
  expect(await readdir(join(mirrorOf(folder, project.diskPath), 'objects', 'pack'))).toContain(packBefore)
  expect((await stat(lfsFileOf(folder, project.oid))).ctimeMs).toBe(lfsBefore.ctimeMs)
  expect(await readdir(join(folder, 'runs'))).toEqual([manifest.run])

  const target = await newTarget()
  await restore(target, folder)
  expect(await referencesOf(target, second.diskPath)).toBe(await referencesOf(source, second.diskPath))

  await source.database.prisma.project.delete({ where: { id: second.id } })
  await source.git.deleteRepository(second.diskPath)
  await backUp(source, folder)
  await expect(stat(mirrorOf(folder, second.diskPath))).rejects.toThrow('ENOENT')
  await expect(stat(lfsFileOf(folder, second.oid))).rejects.toThrow('ENOENT')
})

it('keeps the previous backup complete when a later one fails', async () => {
  const before = await backUp(source, folder)
  await project.work.commit({ files: { 'd.txt': 'later' } })
  await project.work.git('push', join(source.storageRoot, project.diskPath), 'refs/heads/trunk')
  const config = join(source.storageRoot, project.diskPath, 'lfs', 'objects')
  // The mirror is updated, and then an object cannot be read.
  const stored = join(config, project.oid.slice(0, 2), project.oid.slice(2, 4), project.oid)
  const bytes = await readFile(stored)
  await rm(lfsFileOf(folder, project.oid))
  await rm(stored)
  await writeFile(stored, 'damaged')
  await expect(backUp(source, folder)).rejects.toThrow('is damaged')
  await writeFile(lfsFileOf(folder, project.oid), bytes)

  const target = await newTarget()
  expect((await restore(target, folder)).run).toBe(before.run)
  await rm(stored)
  await writeFile(stored, bytes)
})

it('refuses damage anywhere in the backup before anything is written', async () => {
  const { run, repositories } = await backUp(source, folder)
  const target = await newTarget()
  const packs = join(mirrorOf(folder, repositories[0]?.diskPath ?? ''), 'objects', 'pack')
  const pack = (await readdir(packs)).find((name) => name.endsWith('.pack')) ?? ''
  for (const file of [
    join(runFolderOf(folder, run), tableFileOf('users')),
    lfsFileOf(folder, project.oid),
    join(packs, pack),
  ]) {
    const bytes = await readFile(file)
    const damaged = Buffer.from(bytes)
    damaged.writeUInt8(damaged.readUInt8(30) ^ 1, 30)
    await rm(file)
    await writeFile(file, damaged)
    await expect(restore(target, folder)).rejects.toThrow('The backup is damaged')
    await truncate(file, bytes.length - 1)
    await expect(restore(target, folder)).rejects.toThrow('The backup is damaged')
    await rm(file)
    await expect(restore(target, folder)).rejects.toThrow('The backup is damaged')
    await writeFile(file, bytes)
  }
  expect(await tablesIn(target)).toBe(0)
  expect(await readdir(target.storageRoot)).toEqual([])
  await restore(target, folder)
})

it('restores each project into the folder of its storage, and refuses while a folder is not named', async () => {
  const installation = await createMigrated()
  const [first, second] = [await addProject(installation), await addProject(installation)]
  opened.push(first.work, second.work)
  const { url, storageRoot } = installation
  const elsewhere = await newFolder()
  await installation.database.prisma.project.update({ where: { id: second.id }, data: { storage: 'second' } })
  await cp(join(storageRoot, second.diskPath), join(elsewhere, second.diskPath), { recursive: true })
  await installation.git.deleteRepository(second.diskPath)

  const path = await newFolder()
  const unnamed = 'The storage second has projects: name the folder of every storage'
  await expect(backUp(installation, path)).rejects.toThrow(unnamed)
  expect(await readdir(path)).toEqual([])
  const roots = (one: string, other: string) =>
    new Map([
      ['default', one],
      ['second', other],
    ])
  await backUpFrom(
    {
      databaseUrl: url,
      storageRoots: roots(storageRoot, elsewhere),
      dataDir: null,
      metricsFile: null,
      copies: null,
    },
    path,
  )

  const target = await newTarget()
  await expect(restore(target, path)).rejects.toThrow(unnamed)
  expect(await tablesIn(target)).toBe(0)
  const other = await newFolder()
  const storageRoots = roots(target.storageRoot, other)
  await restoreInto(
    { databaseUrl: target.url, storageRoots, dataDir: null, metricsFile: null, copies: null },
    path,
  )
  for (const [root, project] of [
    [target.storageRoot, first],
    [other, second],
  ] as const) {
    const repository = createGit(root).open(project)
    expect(await findBranchTip(repository, 'trunk')).not.toBeNull()
    expect(await findLfsObject(repository, project.oid)).toBe(100_000)
  }
  await expect(stat(join(target.storageRoot, second.diskPath))).rejects.toThrow('ENOENT')
})

it('reports a repository that was deleted after the cut, and gives its project an empty one', async () => {
  const gone = await addProject(source)
  opened.push(gone.work)
  await source.git.deleteRepository(gone.diskPath)
  const path = await newFolder()
  told.length = 0
  await backUp(source, path)
  expect(told).toEqual([
    expect.stringContaining(`${gone.diskPath} has no repository`),
    '1 LFS objects are missing in the repositories',
  ])
  const target = await newTarget()
  await restore(target, path)
  expect(await hasNoBranch(target.git.open(gone))).toBe(true)
})

it('loads a backup of an older schema and migrates it, and refuses a backup of a newer schema', async () => {
  const migrations = await listShippedMigrations()
  const older = migrations.slice(0, Math.max(1, migrations.length - 3))
  const old = await newTarget()
  await applyMigrations(old.url, { shipped: older })
  await old.database.pool.query(
    "INSERT INTO users (username, username_key, name, email, email_key) VALUES ('u', 'u', 'u', 'u', 'u')",
  )
  const path = await newFolder()
  const manifest = await backUp(old, path)
  expect(manifest.database.migrations).toEqual(older.map(({ name }) => name))
  const target = await newTarget()
  await restore(target, path)
  const again = await dumpDatabase(target.url, await newFolder())
  expect(again.migrations).toEqual(migrations.map(({ name }) => name))
  expect(again.tables.find(({ name }) => name === 'users')).toMatchObject({ rows: 1 })

  const newer = {
    ...manifest,
    database: { ...manifest.database, migrations: [...manifest.database.migrations, '2999_later'] },
  }
  await writeManifest(path, newer)
  await expect(restore(await newTarget(), path)).rejects.toThrow(
    'of a newer Switchyard (1.2.3, migration 2999_later)',
  )
})

it('names no migration that the baseline replaces, and refuses a backup without the baseline', async () => {
  const taken = await newTarget()
  await applyMigrations(taken.url)
  await taken.database.pool.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at)
     VALUES (gen_random_uuid(), '', '20261121000000_foundation', '2026-11-21', '2026-11-21')`,
  )
  const path = await newFolder()
  const manifest = await backUp(taken, path)
  expect(manifest.database.migrations).toEqual((await listShippedMigrations()).map(({ name }) => name))
  await taken.database.pool.query("DELETE FROM _prisma_migrations WHERE migration_name = '0_baseline'")
  const earlier = await newFolder()
  await backUp(taken, earlier)
  await expect(restore(await newTarget(), earlier)).rejects.toThrow(
    'The backup is of a Switchyard before migration 0_baseline (1.2.3): restore it with that version, then upgrade',
  )
})

it('refuses folders without a backup', async () => {
  const path = await newFolder()
  const target = await newTarget()
  await expect(restore(target, path)).rejects.toThrow('it is no complete backup')
  await appendFile(join(path, 'notes.txt'), 'mine')
  await expect(backUp(source, path)).rejects.toThrow('holds other files, such as notes.txt')
  await writeFile(join(path, 'manifest.json'), '{}')
  await expect(restore(target, path)).rejects.toThrow('damaged or of another version')
})

it('a complete backup writes its cut for Prometheus, in a file that is complete at any moment', async () => {
  const [path, folder] = [await newFolder(), await newFolder()]
  const metricsFile = join(folder, 'backup.prom')
  await writeFile(metricsFile, 'of the former backup')
  const { cut } = await backUpFrom({ ...locationsOf(source), metricsFile }, path)
  const figure = `switchyard_backup_cut_timestamp_seconds ${Date.parse(cut) / 1000}\n`
  expect(await readFile(metricsFile, 'utf8')).toMatch(new RegExp(`^# HELP .*\n# TYPE .* gauge\n${figure}$`))
  expect(await readdir(folder)).toEqual(['backup.prom'])
})
