import { dayMs } from '@switchyard/domain'
import { isZeroId, type RefChange } from '@switchyard/domain/access'
import { shortRefName, tagsFolder } from '@switchyard/domain/commit'
import { findMergeBase } from '@switchyard/git-storage/commits'
import { findBranchTip, findTagTarget } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import { type Repeated, repeat } from '@switchyard/service-kit/lifecycle'
import { z } from 'zod'
import { findProjectForUser } from '../../projects/store.js'
import type { Storages } from '../../storages/storages.js'
import { type StoringDependencies, storePushDeliveries } from './publish.js'
import { type ClaimedIntent, claimIntents, forgetIntents } from './store.js'

interface Dependencies extends StoringDependencies {
  storages: Storages
}

const pauseMs = 5_000
const atOnceMax = 50
/** Time until an undecided change is checked again. */
const againInMs = 60_000
/** Time within which git has changed a reference if it ever does. */
const undecidedMsMax = 10 * 60_000
/** Time after which a change is deleted because its repository cannot be read. */
const unreadableMsMax = dayMs

/** The data that `beginChange` stores beside a change. */
const aboutSchema = z.object({
  user: z.object({ id: z.int(), name: z.string(), username: z.string(), email: z.string() }),
  baseUrl: z.string(),
  pushOptions: z.array(z.string()),
})

/**
 * Stores the webhook deliveries of changes whose process ended too early, and deletes changes that did not
 * happen. When that process is only slow, its deliveries have the same key, so no change is delivered twice.
 */
export const startNotifying = (deps: Dependencies): Repeated =>
  repeat(
    (signal) => publishInterrupted(deps, signal),
    pauseMs,
    (err) =>
      deps.logger.warn({ err }, 'could not notify webhooks of interrupted changes; trying again in 5 s'),
  )

async function publishInterrupted(deps: Dependencies, signal: AbortSignal): Promise<void> {
  const { database, storages, logger } = deps
  const claim = { storage: storages.own, rowsMax: atOnceMax, againInMs }
  for (const change of await claimIntents(database, claim)) {
    if (signal.aborted) return
    try {
      if ((await notify(deps, change)) || change.recordedMsAgo > undecidedMsMax) {
        await forgetIntents(database, [change.id])
      }
    } catch (err) {
      logger.warn({ err, project_id: change.projectId }, 'could not find out whether a reference has changed')
      if (change.recordedMsAgo > unreadableMsMax) await forgetIntents(database, [change.id])
    }
  }
}

/** @returns whether the change has happened and its deliveries are stored */
async function notify(
  deps: Dependencies,
  { id, projectId, about: stored, ref, before, after }: ClaimedIntent,
): Promise<boolean> {
  const change = { ref, before, after }
  const found = await findProjectForUser(deps.database, String(projectId), null)
  if (!found || !(await hasHappened(deps.git.open(found.project), change))) return false
  const about = { ...aboutSchema.parse(stored), project: found.project }
  return storePushDeliveries(deps, null, about, [{ change, id }])
}

/**
 * Returns whether a reference has changed, judging by the repository: the branch may have moved on since. A
 * commit that a later force push removed counts as not pushed.
 */
async function hasHappened(repository: Repository, { ref, before, after }: RefChange): Promise<boolean> {
  const name = shortRefName(ref)
  if (ref.startsWith(tagsFolder)) return isNow(await findTagTarget(repository, name), after)
  const tip = await findBranchTip(repository, name)
  if (isNow(tip, after)) return true
  if (tip === null || tip === before || isZeroId(after)) return false
  return (await findMergeBase(repository, [after, tip])) === after
}

const isNow = (target: string | null, after: string): boolean =>
  target === null ? isZeroId(after) : target === after
