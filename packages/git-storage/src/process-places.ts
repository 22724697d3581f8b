import { availableParallelism } from 'node:os'
import { unavailable } from '@switchyard/domain'
import { LRUCache } from 'lru-cache'
import pLimit, { type LimitFunction } from 'p-limit'

/** Most processes at once. More would take the cores from the requests of this service. */
const processesMax = Math.max(8, 2 * availableParallelism())
const perRepositoryMax = processesMax / 2
const waitingMax = 1_000
const repositoriesMax = 10_000

const ofAll = pLimit(processesMax)
const ofRepositories = new LRUCache<string, LimitFunction>({ max: repositoriesMax })

/**
 * Runs work that starts a git process when it is its turn. Questions about one repository wait for each other, and leave
 * processes for other repositories.
 *
 * @param path of the repository
 * @throws DomainError unavailable when too many questions about the repository wait
 */
export async function withProcessPlace<T>(path: string, work: () => Promise<T>): Promise<T> {
  const ofRepository = ofRepositories.get(path) ?? pLimit(perRepositoryMax)
  ofRepositories.set(path, ofRepository)
  if (ofRepository.pendingCount >= waitingMax) throw unavailable('git')
  return ofRepository(() => ofAll(work))
}
