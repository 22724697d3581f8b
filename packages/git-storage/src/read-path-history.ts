import type { GitCommand } from './git-process.js'
import { isTooHard, linesOf, runGitOk } from './git-process.js'
import { pathArguments } from './path-arguments.js'
import { everyReference, fingerprintOfReferences } from './refs.js'
import type { Repository } from './repository.js'

export interface PathHistoryQuery {
  /** Null: the commits of every reference. */
  tip: string | null
  filePath: string
  firstParent: boolean
}

/** Approximate memory of a list of ids. */
export const bytesOfIds = (ids: readonly string[]) => ids.length * 64

/** Ids of the commits that changed a file or a folder, newest first. Renames of files are followed. */
export async function pathHistory(repository: Repository, query: PathHistoryQuery): Promise<string[]> {
  const { tip, filePath, firstParent } = query
  const { path, engine } = repository
  const key = `path ${tip ?? (await fingerprintOfReferences(repository))} ${firstParent} ${filePath}`
  return engine.cache.getOrCompute(path, key, () => historyByGit(repository, query), bytesOfIds)
}

async function historyByGit(repository: Repository, query: PathHistoryQuery): Promise<string[]> {
  try {
    return await logOf(repository, query, ['--follow'])
  } catch (error) {
    // When git cannot compare that many files, the file counts as new in the commit that added it.
    if (isTooHard(error)) return logOf(repository, query, [])
    throw error
  }
}

async function logOf(
  repository: Repository,
  { tip, filePath, firstParent }: PathHistoryQuery,
  furtherFlags: string[],
): Promise<string[]> {
  const { flags, paths, stdin = '' } = pathArguments(filePath)
  const command: GitCommand = {
    command: 'log',
    flags: [
      ...flags,
      ...['--format=%H', ...furtherFlags],
      ...(tip === null ? everyReference : []),
      ...(firstParent ? ['--first-parent'] : []),
    ],
    revisions: tip === null ? [] : [tip],
    ...(paths && { paths }),
  }
  const { processBytesMax: memoryBytesMax } = repository.engine.slots
  const { stdout } = await runGitOk(repository, command, { stdin, memoryBytesMax })
  return linesOf(stdout)
}
