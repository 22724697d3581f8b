import { type Commit, type CommitStats, isRevision, parseCommitObject } from '@switchyard/domain/commit'
import type { GitCommand } from './git-process.js'
import { gitFailure, runGit, runGitOk } from './git-process.js'
import { type ObjectReader, withObjectReader } from './object-reader.js'
import { keptPrefix } from './refs.js'

export interface CommitQuery {
  /** Branch, tag or hash. */
  revision: string
  /** Commits of every reference; `revision` counts nothing then. */
  all?: boolean
  since?: Date
  until?: Date
  /** A file, whose renames are followed, or a folder. */
  path?: string
  /** Part of the author's name or e-mail, in any case. */
  author?: string
  firstParent?: boolean
  topological?: boolean
  skip: number
  take: number
}

export interface CommitPage {
  commits: Commit[]
  /** Commits that fit the query, on all pages. */
  total: number
}

/** The commit a revision names; null when it names none, or cannot be one. */
export async function findCommit(
  path: string,
  revision: string,
  signal?: AbortSignal,
): Promise<Commit | null> {
  if (!isRevision(revision)) return null
  return withObjectReader(path, signal, (reader) => readCommit(reader, revision))
}

/** @param revision checked already */
export async function readCommit(reader: ObjectReader, revision: string): Promise<Commit | null> {
  const object = await reader.read(`${revision}^{commit}`)
  return object && parseCommitObject(object.id, object.content)
}

/** Newest committer date first; an unknown revision has no commits. */
export async function listCommits(
  path: string,
  query: CommitQuery,
  signal?: AbortSignal,
): Promise<CommitPage> {
  if (!query.all && !isRevision(query.revision)) return { commits: [], total: 0 }
  const { ids, total } = await (query.path === undefined ? pageOfIds : pageOfPathIds)(path, query, signal)
  if (ids.length === 0) return { commits: [], total }
  const commits = await withObjectReader(path, signal, (reader) =>
    Promise.all(ids.map((id) => readCommit(reader, id))),
  )
  return { commits: commits.filter((commit) => commit !== null), total }
}

interface PageOfIds {
  ids: string[]
  total: number
}

async function pageOfIds(path: string, query: CommitQuery, signal?: AbortSignal): Promise<PageOfIds> {
  const walk = (flags: string[]): GitCommand => ({
    command: 'rev-list',
    flags: [...flags, ...filters(query)],
    revisions: query.all ? [] : [query.revision],
    paths: [],
  })
  const [page, count] = await Promise.all([
    runGit(path, walk([`--skip=${query.skip}`, `--max-count=${query.take}`]), { signal }),
    runGit(path, walk(['--count']), { signal }),
  ])
  for (const result of [page, count]) {
    if (result.code !== 0 && !isUnknownRevision(result.stderr)) throw gitFailure(walk([]), result)
  }
  return { ids: linesOf(page.stdout), total: Number(count.stdout.toString().trim()) || 0 }
}

/** Renames are followed from the newest commit on, so a page needs the list up to it, and the total all. */
async function pageOfPathIds(path: string, query: CommitQuery, signal?: AbortSignal): Promise<PageOfIds> {
  const command: GitCommand = {
    command: 'log',
    flags: ['--format=%H', '--follow', ...filters(query)],
    revisions: query.all ? [] : [query.revision],
    paths: [query.path ?? ''],
  }
  const result = await runGit(path, command, { signal })
  if (result.code !== 0 && !isUnknownRevision(result.stderr)) throw gitFailure(command, result)
  const ids = linesOf(result.stdout)
  return { ids: ids.slice(query.skip, query.skip + query.take), total: ids.length }
}

function filters({ all, since, until, author, firstParent, topological }: CommitQuery): string[] {
  return [
    ...(all ? [`--exclude=${keptPrefix}*`, '--all'] : []),
    ...(since ? [`--since=${atSecond(Math.ceil(since.getTime() / 1000))}`] : []),
    ...(until ? [`--until=${atSecond(Math.floor(until.getTime() / 1000))}`] : []),
    ...(author === undefined ? [] : ['--regexp-ignore-case', '--fixed-strings', `--author=${author}`]),
    ...(firstParent ? ['--first-parent'] : []),
    ...(topological ? ['--topo-order'] : []),
  ]
}

/** git compares whole seconds, and both ends count. */
const atSecond = (seconds: number) => `@${Math.max(0, seconds)} +0000`

const isUnknownRevision = (stderr: string) =>
  /unknown revision|bad revision|ambiguous argument|expected commit type|bad object|invalid object name/i.test(
    stderr,
  )

const linesOf = (output: Buffer) => output.toString('latin1').split('\n').filter(Boolean)

/** Lines added and removed against the first parent, by commit id. */
export async function readStats(
  path: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, CommitStats>> {
  const { stdout } = await runGitOk(
    path,
    {
      command: 'diff-tree',
      flags: ['--stdin', '-r', '-M', '--root', '--diff-merges=first-parent', '--numstat', '--always'],
    },
    { signal, stdin: ids.map((id) => `${id}\n`).join('') },
  )
  const stats = new Map<string, CommitStats>()
  let current: CommitStats = { additions: 0, deletions: 0 }
  for (const line of stdout.toString('latin1').split('\n')) {
    const [added, removed] = line.split('\t')
    if (removed === undefined) {
      if (line === '') continue
      current = { additions: 0, deletions: 0 }
      stats.set(line, current)
    } else {
      current.additions += Number(added) || 0
      current.deletions += Number(removed) || 0
    }
  }
  return stats
}

/** The newest commit, from one on backwards, that changed a path; null when none did. */
export async function lastCommitOf(path: string, from: string, filePath: string, signal?: AbortSignal) {
  const { stdout } = await runGitOk(
    path,
    { command: 'rev-list', flags: ['--max-count=1'], revisions: [from], paths: [filePath] },
    { signal },
  )
  return linesOf(stdout)[0] ?? null
}
