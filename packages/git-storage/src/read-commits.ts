import { type Commit, isFullHash, parseCommitObject, storedPath } from '@switchyard/domain/commit'
import type { GitCommand } from './git-process.js'
import { runGitOk, skipMax } from './git-process.js'
import { readByGit } from './object-reader.js'
import type { StoredObject } from './objects/object-store.js'
import type { OpenRepository } from './open-repository.js'
import { linesOf } from './output-lines.js'
import { pathArguments } from './path-arguments.js'
import { pathHistory } from './read-path-history.js'
import { everyReference } from './refs.js'
import { resolveRevision } from './resolve-revision.js'

export interface CommitQuery {
  /** A branch, tag or hash, or the commit itself when it was read already. */
  revision: string | Commit
  /** Lists the commits of every reference and ignores `revision`. */
  all?: boolean
  since?: Date
  until?: Date
  /** A file, whose renames are followed, or a folder. */
  path?: string
  /** Part of the author's name or e-mail; upper and lower case are equal. */
  author?: string
  /** Part of the message; upper and lower case are equal. */
  message?: string
  firstParent?: boolean
  topological?: boolean
  skip: number
  take: number
}

export interface CommitPage {
  commits: Commit[]
  /** Number of commits that match the query, on all pages. */
  total: number
}

/** The commit that a revision names; null when there is no such commit. */
export async function findCommit(repository: OpenRepository, revision: string): Promise<Commit | null> {
  const resolved = await resolveRevision(repository, revision)
  return resolved === null ? null : readCommit(repository, resolved)
}

/** The id of the commit that a revision names; null when there is no such commit. Commits of the commit-graph are not read. */
export async function findCommitId(repository: OpenRepository, revision: string): Promise<string | null> {
  const resolved = await resolveRevision(repository, revision)
  if (resolved === null) return null
  const isKnown =
    isFullHash(resolved) && (await repository.engine.local.open(repository.path).isKnownCommit(resolved))
  return isKnown ? resolved : ((await readCommit(repository, resolved))?.id ?? null)
}

/** @param resolved a full hash, optionally followed by steps such as `~2` */
async function readCommit(repository: OpenRepository, resolved: string): Promise<Commit | null> {
  const local = isFullHash(resolved) ? await readLocally(repository, resolved) : undefined
  return local ?? readFromGit(repository, resolved)
}

/** A commit of the cache or the local reader; undefined when git must be asked. */
async function readLocally(repository: OpenRepository, id: string): Promise<Commit | undefined> {
  const { path, engine } = repository
  const known = engine.cache.get<Commit>(path, `commit ${id}`)
  if (known) return known
  const found = await engine.local.open(path).findCommit(id)
  return found && remember(repository, found)
}

async function readFromGit(repository: OpenRepository, revision: string): Promise<Commit | null> {
  const object = await readByGit(repository, `${revision}^{commit}`)
  return object && remember(repository, object)
}

/** Approximate memory of a commit besides its text. */
const commitBytes = 600

function remember({ path, engine }: OpenRepository, { id, content }: StoredObject): Commit {
  const key = `commit ${id}`
  const known = engine.cache.get<Commit>(path, key)
  if (known) return known
  const commit = parseCommitObject(id, content)
  engine.cache.set(path, key, commit, commitBytes + content.length * 2)
  return commit
}

/** Lists commits, newest committer date first. An unknown revision has no commits. */
export async function listCommits(repository: OpenRepository, query: CommitQuery): Promise<CommitPage> {
  const tip = query.all ? null : await tipOf(repository, query)
  if (!query.all && !tip) return { commits: [], total: 0 }
  const { ids, total } = await pageOfIds(repository, query, tip?.id ?? null)
  const commits = await Promise.all(
    ids.map(async (id) =>
      id === tip?.id ? tip : ((await readLocally(repository, id)) ?? readFromGit(repository, id)),
    ),
  )
  return { commits: commits.filter((commit) => commit !== null), total }
}

const tipOf = (repository: OpenRepository, { revision }: CommitQuery) =>
  typeof revision === 'string' ? findCommit(repository, revision) : revision

interface PageOfIds {
  ids: string[]
  total: number
}

/** @param tip null: the commits of every reference */
async function pageOfIds(
  repository: OpenRepository,
  query: CommitQuery,
  tip: string | null,
): Promise<PageOfIds> {
  if (query.path !== undefined) return pageOfPathIds(repository, query, tip)
  const [ids, total] = await Promise.all([
    walkLocally(repository, query, tip).then((found) => found ?? walkByGit(repository, query, tip)),
    totalOf(repository, query, tip),
  ])
  return { ids, total }
}

/** Lists unfiltered commits with the local reader; undefined when git must be asked. */
async function walkLocally(
  repository: OpenRepository,
  query: CommitQuery,
  tip: string | null,
): Promise<string[] | undefined> {
  if (tip === null || isFiltered(query)) return undefined
  const { skip, take, firstParent = false } = query
  return repository.engine.local.open(repository.path).walk({ tip, firstParent, skip, take }, repository)
}

const isFiltered = ({ since, until, author, message, topological }: CommitQuery) =>
  topological === true || [since, until, author, message].some((filter) => filter !== undefined)

async function walkByGit({ path, signal }: OpenRepository, query: CommitQuery, tip: string | null) {
  const command = walkCommand(query, tip, [
    `--skip=${Math.min(query.skip, skipMax)}`,
    `--max-count=${query.take}`,
  ])
  return linesOf((await runGitOk(path, command, { signal })).stdout)
}

const walkCommand = (query: CommitQuery, tip: string | null, flags: string[]): GitCommand => ({
  command: 'rev-list',
  flags: [...flags, ...filters(query)],
  revisions: tip === null ? [] : [tip],
  paths: [],
})

/** The number of commits of a query, cached by tip. */
async function totalOf(repository: OpenRepository, query: CommitQuery, tip: string | null): Promise<number> {
  const { path, engine } = repository
  // The order does not change the number.
  const key = `total ${tip} ${filters({ ...query, topological: false }).join('\0')}`
  const known = tip === null ? undefined : engine.cache.getTotal(path, key)
  if (known !== undefined) return known
  const counted =
    tip === null || isFiltered({ ...query, topological: false })
      ? undefined
      : await engine.local.open(path).count(tip, query.firstParent ?? false, repository)
  const total = counted ?? (await countByGit(repository, query, tip))
  if (tip !== null) engine.cache.setTotal(path, key, total)
  return total
}

async function countByGit({ path, signal }: OpenRepository, query: CommitQuery, tip: string | null) {
  const { stdout } = await runGitOk(path, walkCommand(query, tip, ['--count']), { signal })
  return Number(stdout.toString().trim()) || 0
}

/** Follows the renames of a path from the tip on, and then applies the other filters to the found commits. */
async function pageOfPathIds(
  repository: OpenRepository,
  query: CommitQuery,
  tip: string | null,
): Promise<PageOfIds> {
  const { skip, take, firstParent = false, path: filePath = '' } = query
  // git fails for a path outside the repository or with a NUL. No commit contains such a path.
  const stored = storedPath(filePath)
  if (stored.startsWith('/') || stored.includes('\0') || stored.split('/').includes('..'))
    return { ids: [], total: 0 }
  const found = await pathHistory(repository, { tip, filePath, firstParent })
  const ids = isFiltered(query) ? await applyFilters(repository, query, tip, found) : found
  return { ids: ids.slice(skip, skip + take), total: ids.length }
}

/** The ids of commits that match the filters besides the path, in the order of the query. */
async function applyFilters(
  repository: OpenRepository,
  query: CommitQuery,
  tip: string | null,
  ids: string[],
) {
  const candidates = new Set(ids)
  const command = walkCommand(query, tip, [])
  const { stdout } = await runGitOk(repository.path, command, { signal: repository.signal })
  return linesOf(stdout).filter((id) => candidates.has(id))
}

function filters({ all, since, until, author, message, firstParent, topological }: CommitQuery): string[] {
  return [
    ...(all ? everyReference : []),
    ...(since ? [`--since=${atSecond(Math.ceil(since.getTime() / 1000))}`] : []),
    ...(until ? [`--until=${atSecond(Math.floor(until.getTime() / 1000))}`] : []),
    ...['--regexp-ignore-case', '--fixed-strings'],
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(message === undefined ? [] : [`--grep=${message}`]),
    ...(firstParent ? ['--first-parent'] : []),
    ...(topological ? ['--topo-order'] : []),
  ]
}

/** A time in the format of git, which compares whole seconds and includes both ends. */
const atSecond = (seconds: number) => `@${Math.max(0, seconds)} +0000`

/** Id of the newest commit that changed a path, among `from` and its ancestors; null when none did. */
export async function lastCommitOf({ path, signal }: OpenRepository, from: string, filePath: string) {
  const { flags, paths, stdin = '' } = pathArguments(filePath)
  const { stdout } = await runGitOk(
    path,
    { command: 'rev-list', flags: ['--max-count=1', ...flags], revisions: [from], ...(paths && { paths }) },
    { signal, stdin },
  )
  return linesOf(stdout)[0] ?? null
}
