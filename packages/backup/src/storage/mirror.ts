import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGit } from '@switchyard/git-storage/git'
import { argumentsOf, runGitOk, spawnGit } from '@switchyard/git-storage/processes'
import { namesIn } from '../files.js'
import { type MirroredRepository, mirrorOf } from '../manifest.js'

/**
 * Limits for packing and checking a large repository, which takes more memory and time than a request may
 * use.
 */
const limits = { memoryBytesMax: 4 * 1024 ** 3, timeoutMs: 6 * 60 * 60_000 }

const packing = {
  // Fetched objects stay in packs, which are checked as a whole. Small packs are joined later.
  'fetch.unpackLimit': '1',
  'pack.threads': '1',
  'pack.windowMemory': '128m',
}

// A fetch from a folder starts git's server without the settings of the fetch, so they are set here. The
// server does not check the owner of the folder, and hides no reference.
const uploadPack = "git -c 'safe.directory=*' -c pack.threads=1 -c pack.windowMemory=128m upload-pack"

const fetchFlags = [
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--update-shallow',
  `--upload-pack=${uploadPack}`,
]

const allReferences = 'refs/'
const referencesOf = (run: string) => `refs/backup/${run}/`

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * Copies the references below `from` of a source, with all objects that they need, to references below `to`
 * of a repository. Both are on this machine.
 */
async function fetchReferences(
  repository: string,
  { source, from, to }: { source: string; from: string; to: string },
): Promise<void> {
  await runGitOk(
    repository,
    { command: 'fetch', flags: fetchFlags, revisions: [source, `+${from}*:${to}*`] },
    { ...limits, settings: packing, variables: { GIT_ALLOW_PROTOCOL: 'file' } },
  )
}

/** Computes the SHA-256 of the list of all references below a folder, by names relative to it. */
async function hashReferences(repository: string, folder: string): Promise<string> {
  const depth = folder.split('/').length - 1
  const format = `--format=%(objectname) %(refname:lstrip=${depth})`
  const child = spawnGit(
    argumentsOf(repository, { command: 'for-each-ref', flags: [format], paths: [folder] }),
  )
  child.stdin.end()
  child.stderr.resume()
  const ended = once(child, 'close')
  const hash = createHash('sha256')
  await pipeline(child.stdout, hash)
  const [code] = await ended
  if (code !== 0) throw new Error(`git for-each-ref of ${repository} exited with ${code}`)
  return hash.digest('hex')
}

/**
 * Updates the mirror of a repository. The references of each run are below a separate prefix, so the mirror
 * still has those of the previous backup.
 *
 * @param former the repository in the previous backup
 * @returns null when the repository does not exist (any more)
 */
export async function mirrorRepository(
  { folder, storageRoot, run }: { folder: string; storageRoot: string; run: string },
  diskPath: string,
  former: MirroredRepository | undefined,
): Promise<MirroredRepository | null> {
  const source = join(storageRoot, diskPath)
  const mirror = mirrorOf(folder, diskPath)
  try {
    const head = await readHead(source)
    const references = await hashReferences(source, allReferences)
    if (former?.references === references && (await isIntact(mirror, former))) return { ...former, head }
    if (!(await exists(mirror)))
      await createGit(join(folder, 'repositories')).createRepository(diskPath, 'main')
    await fetchReferences(mirror, { source, from: allReferences, to: referencesOf(run) })
    return { diskPath, head, run, references: await hashReferences(mirror, referencesOf(run)) }
  } catch (error) {
    // The repository may be deleted at any step.
    if (await exists(source)) throw error
    return null
  }
}

const isIntact = async (mirror: string, { run, references }: MirroredRepository): Promise<boolean> =>
  (await exists(mirror)) && (await hashReferences(mirror, referencesOf(run))) === references

async function readHead(repository: string): Promise<string> {
  const { stdout } = await runGitOk(repository, { command: 'symbolic-ref', paths: ['HEAD'] })
  return stdout
    .toString()
    .trim()
    .replace(/^refs\/heads\//, '')
}

/**
 * Removes the references of other runs. Joins references and packs into few files when there are new ones.
 *
 * @param latestRun the run that has just ended
 */
export async function tidyMirror(
  folder: string,
  { diskPath, run }: MirroredRepository,
  latestRun: string,
): Promise<void> {
  const mirror = mirrorOf(folder, diskPath)
  const { stdout } = await runGitOk(
    mirror,
    { command: 'for-each-ref', flags: ['--format=%(refname)'] },
    { stdoutBytesMax: 512 * 1024 ** 2 },
  )
  const old = stdout
    .toString()
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith(referencesOf(run)))
  if (old.length === 0 && run !== latestRun) return
  await runGitOk(
    mirror,
    { command: 'update-ref', flags: ['--stdin'] },
    { stdin: old.map((name) => `delete ${name}\n`).join(''), ...limits },
  )
  await runGitOk(mirror, { command: 'pack-refs', flags: ['--all'] }, limits)
  const repack = { command: 'repack', flags: ['-d', '--geometric=2', '--quiet'] }
  await runGitOk(mirror, repack, { ...limits, settings: packing })
}

/**
 * Finds the damage of a mirror: a damaged or missing object, or other references than in the manifest. Null
 * when there is none.
 */
export async function findMirrorDamage(
  folder: string,
  repository: MirroredRepository,
): Promise<string | null> {
  const mirror = mirrorOf(folder, repository.diskPath)
  try {
    if (!(await isIntact(mirror, repository))) return 'its references are not those of the backup'
    const packs = join(mirror, 'objects', 'pack')
    for (const name of await namesIn(packs)) {
      if (!name.endsWith('.idx')) continue
      await runGitOk(mirror, { command: 'verify-pack', paths: [join(packs, name)] }, limits)
    }
    await checkObjects(mirror, `--glob=${referencesOf(repository.run)}*`)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Checks the objects of references.
 *
 * @throws GitError when an object that a reference needs is missing
 */
async function checkObjects(repository: string, references: string): Promise<void> {
  const command = { command: 'rev-list', flags: ['--objects', '--quiet', references] }
  await runGitOk(repository, command, limits)
}

/**
 * Creates a repository with the settings of a new project, and fills it from its mirror. It appears when it
 * is complete.
 *
 * @throws Error when its references are not those of the backup
 */
export async function restoreRepository(
  folder: string,
  storageRoot: string,
  repository: MirroredRepository,
): Promise<void> {
  const unfinished = `${repository.diskPath}.restoring`
  await fillRepository(folder, storageRoot, unfinished, repository)
  await rename(join(storageRoot, unfinished), join(storageRoot, repository.diskPath))
}

/**
 * Creates a repository at any path, with everything from a mirror.
 *
 * @throws Error as above
 */
export async function fillRepository(
  folder: string,
  storageRoot: string,
  newPath: string,
  { diskPath, head, run, references }: MirroredRepository,
): Promise<void> {
  await createGit(storageRoot).createRepository(newPath, head)
  const path = join(storageRoot, newPath)
  const source = mirrorOf(folder, diskPath)
  await fetchReferences(path, { source, from: referencesOf(run), to: allReferences })
  await checkObjects(path, '--all')
  if ((await hashReferences(path, allReferences)) !== references)
    throw new Error(`${diskPath} has other references than the backup`)
}
