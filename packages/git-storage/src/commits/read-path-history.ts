import { nameOf, storedPath } from '@switchyard/domain/commit'
import { objectChild } from '../processes/child-kinds.js'
import { type GitCommand, isTooHard, linesOf, type RunOptions, runGitOk } from '../processes/git-process.js'
import { isAskable, pathArguments } from '../processes/path-arguments.js'
import { everyReference, fingerprintOfReferences } from '../references/list-refs.js'
import type { Repository } from '../repository.js'

export interface PathHistoryQuery {
  /** Start of the history. Null: the commits of every reference. */
  tip: string | null
  filePath: string
  firstParent: boolean
}

export interface PathHistory {
  /** Ids of the commits, the newest first. */
  ids: string[]
  /** Whether no older commit changed the path. */
  isWhole: boolean
}

/** Approximate memory of a list of ids. */
export const bytesOfIds = (ids: readonly string[]) => ids.length * 64

/**
 * Returns the ids of the newest commits that changed a file or a folder: the commits of `git log --follow`,
 * in its order. Renames of files are followed.
 *
 * @param needed fewest ids, unless there are fewer; Infinity: all of them
 */
export async function pathHistory(
  repository: Repository,
  query: PathHistoryQuery,
  needed: number,
): Promise<PathHistory> {
  const { tip, filePath, firstParent } = query
  const { path, engine } = repository
  const key = `path ${tip ?? (await fingerprintOfReferences(repository))} ${firstParent} ${filePath}`
  const known = engine.cache.get<PathHistory>(path, key)
  if (known && (known.isWhole || known.ids.length >= needed)) return known
  // A reader that continues from page to page gets each page from a list twice as long, so that the last page
  // costs no more than all others.
  const found = await readHistory(repository, query, known ? 2 * needed : needed)
  engine.cache.set(path, key, found, 2 * key.length + bytesOfIds(found.ids))
  return found
}

/**
 * Most commits of the first walk. The changed-path filters find within 20 ms which of them changed a path.
 */
const firstWalk = 3_000
const walkMax = 50_000

/**
 * Reads the history of a path. `git log --follow` would compare all files of each commit. Instead, git first
 * walks through the commits, then finds with its changed-path filters those that changed the path. It looks
 * for a rename only where the path begins.
 */
async function readHistory(
  repository: Repository,
  query: PathHistoryQuery,
  needed: number,
): Promise<PathHistory> {
  const ids: string[] = []
  let { filePath } = query
  let skip = 0
  // References may move between two walks.
  let take = query.tip === null ? Number.POSITIVE_INFINITY : firstWalk
  for (;;) {
    const walked = await walk(repository, query, { skip, take })
    let rest = walked
    while (rest.length > 0 && ids.length < needed) {
      const asked = { ...query, filePath }
      const found = await changesAmong(repository, asked, rest, needed - ids.length)
      const rename = await findRename(repository, asked, found)
      if (!rename) {
        ids.push(...found)
        break
      }
      const before = found.slice(0, found.indexOf(rename.id) + 1)
      ids.push(...before)
      rest = rest.slice(rest.indexOf(rename.id) + 1)
      filePath = rename.formerPath
      if (!isAskable(filePath)) return { ids: await followByGit(repository, query), isWhole: true }
    }
    const isWhole = walked.length < take && ids.length < needed
    if (isWhole || ids.length >= needed) return { ids, isWhole }
    skip += take
    take = Math.min(3 * take, walkMax)
  }
}

/**
 * Reads the history with `git log --follow`, for a file with a former path that git cannot be asked about.
 */
async function followByGit(repository: Repository, query: PathHistoryQuery): Promise<string[]> {
  const { flags, paths, stdin } = pathArguments(query.filePath)
  const { tip } = query
  const command = {
    command: 'log',
    flags: [
      ...flags,
      '--format=%H',
      '--follow',
      ...parentFlags(query),
      ...(tip === null ? everyReference : []),
    ],
    revisions: tip === null ? [] : [tip],
    ...(paths && { paths }),
  }
  return run(repository, command, stdin === undefined ? {} : { stdin })
}

/** Returns flags that compare a merge with no parent, unless only first parents count. */
const parentFlags = ({ firstParent }: PathHistoryQuery) => [firstParent ? '--first-parent' : '--no-merges']

async function walk(
  repository: Repository,
  query: PathHistoryQuery,
  { skip, take }: { skip: number; take: number },
): Promise<string[]> {
  const window = take === Number.POSITIVE_INFINITY ? [] : [`--skip=${skip}`, `--max-count=${take}`]
  const { tip } = query
  return run(repository, {
    command: 'rev-list',
    flags: [...parentFlags(query), ...window, ...(tip === null ? everyReference : [])],
    revisions: tip === null ? [] : [tip],
    paths: [],
  })
}

/** Returns the first `most` of the given commits that changed the path, in the given order. */
async function changesAmong(
  repository: Repository,
  query: PathHistoryQuery,
  commits: readonly string[],
  most: number,
): Promise<string[]> {
  const { paths, stdin = '' } = pathArguments(query.filePath)
  const flags = [
    ...(most === Number.POSITIVE_INFINITY ? [] : [`--max-count=${most}`]),
    // Before `--max-count`, `--no-walk` would have no effect.
    '--no-walk=unsorted',
    '--stdin',
    ...parentFlags(query),
  ]
  const input = Buffer.concat([Buffer.from(`${commits.join('\n')}\n`), Buffer.from(stdin)])
  return run(repository, { command: 'rev-list', flags, ...(paths && { paths }) }, { stdin: input })
}

interface Rename {
  /** Id of the commit in which the file got its path. */
  id: string
  formerPath: string
}

/** Finds the newest of the commits that renamed or copied another file to the path; null when none did. */
async function findRename(
  repository: Repository,
  query: PathHistoryQuery,
  changes: readonly string[],
): Promise<Rename | null> {
  for (const id of await beginningsAmong(repository, query, changes)) {
    const formerPath = await findFormerPath(repository, query, id)
    if (formerPath !== null) return { id, formerPath }
  }
  return null
}

/** Characters that git would read as the end of the path, or as a part of the revision. */
const readAsRevision = /[\n^~@]|\r$/

/** Returns those of the commits before which the path was not a file. */
async function beginningsAmong(
  repository: Repository,
  { filePath }: PathHistoryQuery,
  changes: readonly string[],
): Promise<readonly string[]> {
  const { paths: [path = ''] = [] } = pathArguments(filePath)
  if (path === '' || readAsRevision.test(path) || changes.length === 0) return changes
  const question = {
    input: changes.map((id) => `info ${id}^1:${path}\n`).join(''),
    // git repeats the name of a missing object.
    answerBytesMax: changes.length * (Buffer.byteLength(path) + 100) + 100,
    timeoutMs: 60_000,
  }
  const { bytes } = await repository.engine.children.ask(repository, objectChild, question)
  const answers = linesOf(bytes)
  return changes.filter((_id, index) => !/^[0-9a-f]{40} blob \d+$/.test(answers[index] ?? ''))
}

/**
 * Finds the path from which a file was renamed or copied in the commit that added it; null when the file is
 * new.
 */
async function findFormerPath(
  repository: Repository,
  query: PathHistoryQuery,
  id: string,
): Promise<string | null> {
  const { path, engine } = repository
  const key = `former path ${id} ${query.firstParent} ${query.filePath}`
  const read = async () => ({ formerPath: await readFormerPath(repository, query, id) })
  const bytesOf = ({ formerPath }: { formerPath: string | null }) => 2 * (formerPath?.length ?? 0)
  return (await engine.cache.getOrCompute(path, key, read, bytesOf)).formerPath
}

async function readFormerPath(
  repository: Repository,
  query: PathHistoryQuery,
  id: string,
): Promise<string | null> {
  const { flags, paths, stdin = '' } = pathArguments(query.filePath)
  const format = ['--follow', '--max-count=1', '--format=', '--name-status', '-z', ...parentFlags(query)]
  const command = { command: 'log', flags: [...flags, ...format], revisions: [id], ...(paths && { paths }) }
  const { processBytesMax: memoryBytesMax } = repository.engine.slots
  try {
    const { stdout } = await runGitOk(repository, command, { stdin, memoryBytesMax })
    const [status = '', former = ''] = stdout.toString('latin1').split('\0')
    // For git, a file that replaces a folder has no former path inside that folder, because both are below
    // the same path.
    const isInside = former.startsWith(`${storedPath(query.filePath)}/`)
    return /^[RC]\d+$/.test(status.trim()) && !isInside ? nameOf(Buffer.from(former, 'latin1')) : null
  } catch (error) {
    // When git cannot compare that many files, the file counts as new in the commit that added it.
    if (isTooHard(error)) return null
    throw error
  }
}

async function run(repository: Repository, command: GitCommand, options: RunOptions = {}) {
  const { processBytesMax: memoryBytesMax } = repository.engine.slots
  const { stdout } = await runGitOk(repository, command, { ...options, memoryBytesMax })
  return linesOf(stdout)
}
