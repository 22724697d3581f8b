import { createHash } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import { z } from 'zod'
import { writeFlushed } from './files.js'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Name of a file or column that is safe in a path or, quoted, in a statement. */
const name = z.string().regex(/^[\w.-]{1,100}$/)
const diskPath = z.string().regex(/^@hashed\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}\.git$/)

const table = z.object({ name, columns: z.array(name).min(1), rows: z.number().int(), sha256 })

const repository = z.object({
  diskPath,
  /** The branch that HEAD names. */
  head: z.string().max(1000),
  /** The run that fetched these references. They are below `refs/backup/<run>/` of the mirror. */
  run: name,
  /** SHA-256 of the list of references, as `git for-each-ref` prints it. */
  references: sha256,
})

const manifest = z.object({
  /** Format 1 has no checksum of the manifest itself. */
  format: z.union([z.literal(1), z.literal(2)]),
  /** The version of Switchyard that wrote the backup. */
  version: z.string(),
  /** Everything that was acknowledged before this time is in the backup. */
  cut: z.iso.datetime(),
  /** The folder below `runs/` with the files of this backup. */
  run: name,
  database: z.object({
    migrations: z.array(name).min(1),
    tables: z.array(table),
    sequences: z.array(z.object({ name, lastValue: z.string().regex(/^\d{1,19}$/) })),
    /** The days that have a partition of the log of sagas, as `YYYYMMDD`. */
    logDays: z.array(z.string().regex(/^\d{8}$/)),
  }),
  repositories: z.array(repository),
  /** Names of the storages of those repositories that are not in `default`. */
  storages: z.record(diskPath, z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/)).default({}),
  /** Projects whose repository was deleted after the cut. */
  withoutRepository: z.array(diskPath),
  lfsObjects: z.object({ objects: z.number().int(), sha256 }),
  /** Secrets of the data folder of `npm start`. */
  secrets: z.array(z.object({ name, sha256 })),
})

export type Manifest = z.infer<typeof manifest>
export type TableFile = z.infer<typeof table>
export type DatabaseDump = Manifest['database']
export type MirroredRepository = z.infer<typeof repository>

const manifestFile = 'manifest.json'

/** Finds the manifest of a folder; null when there is none. */
export async function findManifest(folder: string): Promise<Manifest | null> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  if (text === null) return null
  const { checksum, ...content } = parseJson(text)
  const parsed = manifest.safeParse(content)
  if (parsed.success && (parsed.data.format === 1 || checksum === checksumOf(content))) return parsed.data
  if (parsed.success)
    throw new SolvableProblem(`${join(folder, manifestFile)} is damaged: it has another checksum`)
  const [issue] = parsed.error.issues
  throw new SolvableProblem(
    `${join(folder, manifestFile)} is damaged or of another version: ${issue?.path.join('.')} ${issue?.message}`,
  )
}

/**
 * Returns the manifest of a folder.
 *
 * @throws SolvableProblem when there is none
 */
export async function getManifest(folder: string): Promise<Manifest> {
  const found = await findManifest(folder)
  if (!found) throw new SolvableProblem(`${folder} has no manifest.json: it is no complete backup`)
  return found
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Computes the SHA-256 of everything in the manifest but the checksum, in the order of the file. */
const checksumOf = (content: object): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex')

/** Replaces the manifest in one step. Until then the previous backup is valid. */
export async function writeManifest(folder: string, content: Manifest): Promise<void> {
  const file = join(folder, manifestFile)
  await writeFlushed(
    `${file}.new`,
    `${JSON.stringify({ ...content, checksum: checksumOf(content) }, null, 2)}\n`,
  )
  await rename(`${file}.new`, file)
}

export const tableFileOf = (tableName: string): string => `${tableName}.copy.gz`
export const lfsListFile = 'lfs-objects.tsv.gz'
export const runFolderOf = (folder: string, run: string): string => join(folder, 'runs', run)
export const mirrorOf = (folder: string, path: string): string => join(folder, 'repositories', path)
export const lfsFileOf = (folder: string, oid: string): string =>
  join(folder, 'lfs', oid.slice(0, 2), oid.slice(2, 4), oid)
