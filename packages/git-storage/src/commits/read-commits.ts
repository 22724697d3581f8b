import { type Commit, parseCommitObject, storedPath } from '@switchyard/domain/commit'
import { readObject, readObjects, type StoredObject } from '../objects/object-reader.js'
import type { GitCommand } from '../processes/git-process.js'
import { linesOf, runGitOk, skipMax } from '../processes/git-process.js'
import { everyReference, fingerprintOfReferences } from '../references/list-refs.js'
import type { Repository } from '../repository.js'
import { hasBitmap } from '../repository-files.js'
import { bytesOfIds, pathHistory } from './read-path-history.js'
import { resolveRevision } from './resolve-revision.js'

export interface CommitQuery {
  /** A branch, tag or hash, or a commit that was already read. */
  revision: string | Commit
  /** Whether the commits of every reference are listed; `revision` is ignored then. */
  all?: boolean
  since?: Date
  until?: Date
  /** A file or a folder. Renames of a file are followed. */
  path?: string | undefined
  /** Part of the author's name or e-mail, in upper or lower case. */
  author?: string
  /** Part of the message, in upper or lower case. */
  message?: string
  firstParent?: boolean
  topological?: boolean
  skip: number
  take: number
}

export interface CommitPage {
  commits: Commit[]
  /** Number of commits that match the query, on all pages; null: too many to count. */
  total: number | null
}

/**
 * Most commits that are counted without a bitmap. Counting more would take longer than reading a page of
 * them.
 */
const countedMax = 10_000

/** Finds the commit that a revision names; null when there is no such commit. */
export async function findCommit(repository: Repository, revision: string): Promise<Commit | null> {
  const resolved = await resolveRevision(repository, revision)
  return resolved === null ? null : readCommit(repository, resolved)
}

/** Finds the id of the commit that a revision names; null when there is no such commit. */
export const findCommitId = async (repository: Repository, revision: string): Promise<string | null> =>
  (await findCommit(repository, revision))?.id ?? null

/**
 * Reads a commit.
 *
 * @param resolved a full hash, optionally followed by steps such as `~2`
 */
async function readCommit(repository: Repository, resolved: string): Promise<Commit | null> {
  const known = findRead(repository, resolved)
  if (known) return known
  const object = await readObject(repository, `${resolved}^{commit}`)
  return object && remember(repository, object)
}

const findRead = ({ path, engine }: Repository, id: string) => engine.cache.get<Commit>(path, `commit ${id}`)

/** Approximate memory of a commit besides its text. */
const commitBytes = 600

function remember({ path, engine }: Repository, { id, content }: StoredObject): Commit {
  const key = `commit ${id}`
  const known = engine.cache.get<Commit>(path, key)
  if (known) return known
  const commit = parseCommitObject(id, content)
  engine.cache.set(path, key, commit, commitBytes + content.length * 2)
  return commit
}

/** Lists commits, newest committer date first. An unknown revision has no commits. */
export async function listCommits(repository: Repository, query: CommitQuery): Promise<CommitPage> {
  const tip = query.all ? null : await tipOf(repository, query)
  if (!query.all && !tip) return { commits: [], total: 0 }
  if (query.path !== undefined) return listCommitsOfPath(repository, query, tip)
  const [commits, total] = await Promise.all([
    readPage(repository, query, tip),
    totalOf(repository, query, tip?.id ?? null),
  ])
  return { commits, total }
}

const tipOf = (repository: Repository, { revision }: CommitQuery) =>
  typeof revision === 'string' ? findCommit(repository, revision) : revision

/**
 * Reads one page of a list.
 *
 * @param tip null: the commits of every reference
 */
async function readPage(repository: Repository, query: CommitQuery, tip: Commit | null) {
  const list = () => listIds(repository, query, tip?.id ?? null)
  if (!tip) return readCommits(repository, await list())
  const { path, engine } = repository
  const key = `page ${tip.id} ${query.skip} ${query.take} ${filters(query).join('\0')}`
  return readCommits(repository, await engine.cache.getOrCompute(path, key, list, bytesOfIds))
}

/**
 * Reads commits in the order of their ids. Missing commits are left out.
 *
 * @throws DomainError too-large for more than 64 MB
 */
export async function readCommits(repository: Repository, ids: readonly string[]): Promise<Commit[]> {
  const known = ids.map((id) => findRead(repository, id))
  const unread = ids.filter((_, index) => !known[index])
  const objects = unread.length === 0 ? [] : await readObjects(repository, unread)
  const read = new Map(objects.map((object) => [object.id, remember(repository, object)]))
  return ids.map((id, index) => known[index] ?? read.get(id)).filter((commit) => commit !== undefined)
}

const isFiltered = ({ since, until, author, message, topological }: CommitQuery) =>
  topological === true || [since, until, author, message].some((filter) => filter !== undefined)

async function listIds(repository: Repository, query: CommitQuery, tip: string | null) {
  const command = walkCommand(query, tip, [
    `--skip=${Math.min(query.skip, skipMax)}`,
    `--max-count=${query.take}`,
  ])
  return linesOf((await runGitOk(repository, command)).stdout)
}

const walkCommand = (query: CommitQuery, tip: string | null, flags: string[]): GitCommand => ({
  command: 'rev-list',
  flags: [...flags, ...filters(query)],
  revisions: tip === null ? [] : [tip],
  paths: [],
})

/** Counts the commits of a query, cached by its start; null: too many to count. */
async function totalOf(
  repository: Repository,
  query: CommitQuery,
  tip: string | null,
): Promise<number | null> {
  const { path, engine } = repository
  const { cache } = engine
  // The order does not change the number.
  const unordered = { ...query, topological: false }
  const start = tip ?? (await fingerprintOfReferences(repository))
  const key = `total ${start} ${filters(unordered).join('\0')}`
  const known = cache.getTotal(path, key)
  if (known !== undefined) return known
  const isWhole = !query.firstParent && !isFiltered(unordered)
  const usesBitmap = isWhole && (await hasBitmap(path))
  // "Too many" has a key of its own, because a bitmap that is written later makes the count possible.
  const uncountedKey = `uncounted ${key}`
  if (!usesBitmap && cache.getTotal(path, uncountedKey) !== undefined) return null
  const flags = usesBitmap ? ['--use-bitmap-index'] : [`--max-count=${countedMax + 1}`]
  const counted = await countByGit(repository, walkCommand(unordered, tip, flags))
  const isCounted = usesBitmap || counted <= countedMax
  cache.setTotal(path, isCounted ? key : uncountedKey, counted)
  return isCounted ? counted : null
}

async function countByGit(repository: Repository, { flags = [], ...command }: GitCommand) {
  const { stdout } = await runGitOk(repository, { ...command, flags: ['--count', ...flags] })
  return Number(stdout.toString().trim()) || 0
}

/** Counts the commits in the history of a commit, including itself, however many there are. */
export async function countAncestors(
  repository: Repository,
  { tip, firstParent }: { tip: string; firstParent: boolean },
): Promise<number> {
  const { path, engine } = repository
  const query = { revision: tip, firstParent, skip: 0, take: 0 }
  const key = `total ${tip} ${filters(query).join('\0')}`
  const known = engine.cache.getTotal(path, key)
  if (known !== undefined) return known
  const flags = firstParent ? [] : ['--use-bitmap-index']
  const counted = await countByGit(repository, walkCommand(query, tip, flags))
  engine.cache.setTotal(path, key, counted)
  return counted
}

/** Follows the renames of a path from the tip on, and then applies the other filters to the found commits. */
async function listCommitsOfPath(
  repository: Repository,
  query: CommitQuery,
  tip: Commit | null,
): Promise<CommitPage> {
  const { skip, take, firstParent = false, path: filePath = '' } = query
  // git fails for a path outside the repository or with a NUL. No commit contains such a path.
  const stored = storedPath(filePath)
  if (stored.startsWith('/') || stored.includes('\0') || stored.split('/').includes('..'))
    return { commits: [], total: 0 }
  const tipId = tip?.id ?? null
  const historyOf = (needed: number) => pathHistory(repository, { tip: tipId, filePath, firstParent }, needed)
  const pageOf = async (ids: readonly string[], total: number | null) => ({
    commits: await readCommits(repository, ids.slice(skip, skip + take)),
    total,
  })
  if (isFiltered(query)) {
    const { ids } = await historyOf(Number.POSITIVE_INFINITY)
    const filtered = await applyFilters(repository, query, tipId, ids)
    return pageOf(filtered, filtered.length)
  }
  // In a long history, counting the commits of a path would take longer than reading a page of them.
  const walked = await totalOf(repository, { ...query, path: undefined }, tipId)
  const isShort = walked !== null && walked <= countedMax
  const { ids, isWhole } = await historyOf(isShort ? Number.POSITIVE_INFINITY : skip + take + 1)
  return pageOf(ids, isWhole ? ids.length : null)
}

/** Returns the ids of commits that match the filters besides the path, in the order of the query. */
async function applyFilters(repository: Repository, query: CommitQuery, tip: string | null, ids: string[]) {
  const candidates = new Set(ids)
  const command = walkCommand(query, tip, [])
  const { stdout } = await runGitOk(repository, command)
  return linesOf(stdout).filter((id) => candidates.has(id))
}

function filters({ all, since, until, author, message, firstParent, topological }: CommitQuery): string[] {
  return [
    ...(all ? everyReference : []),
    ...(since ? [`--since=${atSecond(Math.ceil(since.getTime() / 1000))}`] : []),
    ...(until ? [`--until=${atSecond(Math.floor(until.getTime() / 1000))}`] : []),
    '--regexp-ignore-case',
    '--fixed-strings',
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(message === undefined ? [] : [`--grep=${message}`]),
    ...(firstParent ? ['--first-parent'] : []),
    ...(topological ? ['--topo-order'] : []),
  ]
}

/** Formats a time for git, which compares whole seconds and includes both ends. */
const atSecond = (seconds: number) => `@${Math.max(0, seconds)} +0000`
