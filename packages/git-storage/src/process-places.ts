import { availableParallelism } from 'node:os'
import { unavailable } from '@switchyard/domain'
import { LRUCache } from 'lru-cache'
import pLimit, { type LimitFunction } from 'p-limit'

/** Most processes at once. More would take the cores from the requests of this service. */
const processesMax = Math.max(8, 2 * availableParallelism())
const perRepositoryMax = processesMax / 2
const waitingMax = 1_000
const repositoriesMax = 10_000

const totalLimit = pLimit(processesMax)
const repositoryLimits = new LRUCache<string, LimitFunction>({ max: repositoriesMax })

/**
 * Runs work that starts a git process when it is its turn. One repository gets at most half of the processes, so that
 * others are served meanwhile.
 *
 * @param path of the repository
 * @throws DomainError unavailable when too much work on the repository waits
 */
export async function withProcessPlace<T>(path: string, work: () => Promise<T>): Promise<T> {
  const repositoryLimit = repositoryLimits.get(path) ?? pLimit(perRepositoryMax)
  repositoryLimits.set(path, repositoryLimit)
  if (repositoryLimit.pendingCount >= waitingMax) throw unavailable('git')
  return repositoryLimit(() => totalLimit(work))
}
