import { type Database, findProjectForUser, type ProjectForUser } from '@switchyard/db'
import { accessLevels } from '@switchyard/domain/access'
import { LRUCache } from 'lru-cache'

/** A user who loses the right to read is refused by every process within this time. */
const knownMs = 500
/** This process asks the database each time for this long, before and after its own change is committed. */
const changedMs = 1_000
const rememberedMax = 10_000

/**
 * Finds projects for requests that read code: a busy client costs two queries a second instead of one a request.
 * Only projects that the user may read are remembered, so a new project or member is seen at once.
 */
export function createProjectLookup(database: Database) {
  type Question = { reference: string; userId: number | null }
  const ask = ({ reference, userId }: Question) => findProjectForUser(database, reference, userId)
  const known = new LRUCache<string, ProjectForUser, Question>({
    max: rememberedMax,
    ttl: knownMs,
    // A question is still answered when its answer is dropped from the cache meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context }) => (await ask(context)) ?? undefined,
  })
  const changed = new LRUCache<number, true>({ max: rememberedMax, ttl: changedMs })
  return {
    async find(reference: string, userId: number | null): Promise<ProjectForUser | null> {
      const question = { reference, userId }
      const key = `${userId} ${reference}`
      const found = await known.fetch(key, { context: question })
      if (!found) return null
      if (found.project.visibility === 'private' && (found.memberLevel ?? 0) < accessLevels.reporter) {
        known.delete(key)
      }
      return changed.has(found.project.id) ? ask(question) : found
    },
    /** A request of this process is about to change the project or its members, or has just done so. */
    noteChange(projectId: number): void {
      changed.set(projectId, true)
    },
  }
}
