import { nameOf } from '@switchyard/domain/commit'
import { isTooHard } from './children/git-child.js'
import type { GitCommand } from './git-process.js'
import { runGitOk } from './git-process.js'
import type { OpenRepository } from './open-repository.js'
import { linesOf } from './output-lines.js'
import { pathArguments } from './path-arguments.js'
import { everyReference } from './refs.js'

export interface PathHistoryQuery {
  /** Null: the commits of every reference. */
  tip: string | null
  filePath: string
  firstParent: boolean
}

const idTextBytes = 64

/** Ids of the commits that changed a file or a folder, newest first. Renames of files are followed. */
export async function pathHistory(repository: OpenRepository, query: PathHistoryQuery): Promise<string[]> {
  const { tip, filePath, firstParent } = query
  const { path, engine } = repository
  if (tip === null) return historyByGit(repository, query)
  const key = `path ${tip} ${firstParent} ${filePath}`
  const known = engine.cache.get<string[]>(path, key)
  if (known) return known
  const nameBefore = (commitId: string, name: string) => findNameBefore(repository, commitId, name)
  const here = { tip, path: filePath, firstParent, nameBefore }
  const ids =
    (await engine.local.open(path).walkPath(here, repository)) ?? (await historyByGit(repository, query))
  engine.cache.set(path, key, ids, ids.length * idTextBytes)
  return ids
}

async function historyByGit({ path, signal }: OpenRepository, query: PathHistoryQuery): Promise<string[]> {
  const { tip, filePath, firstParent } = query
  const { flags, paths, stdin = '' } = pathArguments(filePath)
  const command: GitCommand = {
    command: 'log',
    flags: [
      ...flags,
      ...['--format=%H', '--follow'],
      ...(tip === null ? everyReference : []),
      ...(firstParent ? ['--first-parent'] : []),
    ],
    revisions: tip === null ? [] : [tip],
    ...(paths && { paths }),
  }
  return linesOf((await runGitOk(path, command, { signal, stdin })).stdout)
}

/** The name of a file before the commit that renamed or copied it; null when the commit created it. */
async function findNameBefore(
  { path, engine, signal }: OpenRepository,
  commitId: string,
  filePath: string,
): Promise<string | null> {
  const { flags, paths, stdin = '' } = pathArguments(filePath)
  const command: GitCommand = {
    command: 'log',
    flags: ['--follow', '--first-parent', '--max-count=1', '--format=', '--name-status', '-z', ...flags],
    revisions: [commitId],
    ...(paths && { paths }),
  }
  const options = { signal, stdin, memoryBytesMax: engine.processBytesMax }
  const found = await runGitOk(path, command, options).catch((error: unknown) => {
    // When git cannot compare that many files, the file counts as new.
    if (isTooHard(error)) return null
    throw error
  })
  if (!found) return null
  const { stdout } = found
  const [status = '', before = '', after] = stdout.toString('latin1').replace(/^\n/, '').split('\0')
  if (!/^[RC]\d+$/.test(status) || after === undefined) return null
  return nameOf(Buffer.from(before, 'latin1'))
}
