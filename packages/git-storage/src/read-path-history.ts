import { isTooHard } from './children/git-child.js'
import type { GitCommand } from './git-process.js'
import { runGitOk } from './git-process.js'
import { UnknownLayout } from './objects/layout.js'
import type { OpenRepository } from './open-repository.js'
import { linesOf } from './output-lines.js'
import { everyReference } from './refs.js'

export interface PathHistoryQuery {
  /** Null: every reference counts. */
  tip: string | null
  filePath: string
  firstParent: boolean
}

const idTextBytes = 64

/** Ids of the commits that changed a file, its renames followed, or a folder; newest first. */
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
  const command: GitCommand = {
    command: 'log',
    flags: [
      ...['--format=%H', '--follow'],
      ...(tip === null ? everyReference : []),
      ...(firstParent ? ['--first-parent'] : []),
    ],
    revisions: tip === null ? [] : [tip],
    paths: [filePath],
  }
  return linesOf((await runGitOk(path, command, { signal })).stdout)
}

/**
 * The name of a file before the commit that renamed or copied it; null when the commit created it.
 *
 * @throws UnknownLayout when the former name is not UTF-8, so that no argument of a process can hold it
 */
async function findNameBefore(
  { path, engine, signal }: OpenRepository,
  commitId: string,
  filePath: string,
): Promise<string | null> {
  const command: GitCommand = {
    command: 'log',
    flags: ['--follow', '--first-parent', '--max-count=1', '--format=', '--name-status', '-z'],
    revisions: [commitId],
    paths: [filePath],
  }
  const options = { signal, memoryBytesMax: engine.processBytesMax }
  const found = await runGitOk(path, command, options).catch((error: unknown) => {
    // Where there is more to compare than git can, no former name is found, and the file counts as new.
    if (isTooHard(error)) return null
    throw error
  })
  if (!found) return null
  const { stdout } = found
  const [status = '', before = '', after] = stdout.toString('latin1').replace(/^\n/, '').split('\0')
  if (!/^[RC]\d+$/.test(status) || after === undefined) return null
  const name = Buffer.from(before, 'latin1')
  if (!name.equals(Buffer.from(name.toString()))) throw new UnknownLayout('name that is not UTF-8')
  return name.toString()
}
