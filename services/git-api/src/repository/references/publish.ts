import { type Database, isDatabaseUnavailable, type Project } from '@switchyard/db'
import { isZeroId, type RefChange } from '@switchyard/domain/access'
import { shortRefName, tagsFolder } from '@switchyard/domain/commit'
import { findCommit } from '@switchyard/git-storage/commits'
import type { Git } from '@switchyard/git-storage/git'
import type { Logger } from '@switchyard/service-kit/observability'
import { type BranchFilter, enqueueForProject, matchesBranch } from '@switchyard/webhooks'
import pTimeout from 'p-timeout'
import type { BackgroundWork } from '../../background-work.js'
import type { OutgoingMessages } from '../../outgoing-messages.js'
import { removeReleasesOfTags } from '../../publishing/releases/releases.js'
import { pushHook } from '../../shapes/push-hook.js'
import { type Change, comparingMs, eventOf, pushedCommits, readCheckedOut } from '../pushes/pushes.js'

/** The dependencies of storing webhook deliveries of changes. */
export interface StoringDependencies {
  database: Database
  git: Git
  logger: Logger
}

/** The dependencies of a change of references. */
export interface ReferenceDependencies extends StoringDependencies {
  messages: OutgoingMessages
  backgroundWork: BackgroundWork
}

/**
 * The maximum number of references of one push that webhooks receive. A push of more references mirrors a
 * repository.
 */
export const notifiedChangesMax = 100
/** Longest time for which an answer waits until its deliveries are stored, which takes milliseconds. */
const awaitedMs = 500
/**
 * Longest time for which an answer waits for git: for the commits of deleted releases, without which webhooks
 * then learn of the deletion, and for the tags of events, which are then published later.
 */
const readingMs = 10_000
/** Time after which storing a delivery is given up. */
const storedWithinMs = 10 * 60_000
/** The changes that were stored before they happened. */
interface Intents {
  /** Returns the id of the event of a change; undefined for a change that was not stored. */
  idOf: (change: RefChange) => string | undefined
  /** Deletes the intents. Call it when the deliveries of every change are stored. */
  forget: () => Promise<void>
}

/**
 * Runs the work after a change of references: requests housekeeping, deletes the releases of deleted tags,
 * publishes events and stores webhook deliveries. The references have changed already, so a failure here does
 * not make a push look refused. The answer waits for the deletion of releases, because a release that the
 * next request creates must not be deleted. It waits for a limited time for git, events and deliveries.
 */
export async function referencesChanged(
  deps: ReferenceDependencies,
  about: Change,
  changes: readonly RefChange[],
  intended: Intents,
): Promise<void> {
  const { messages, backgroundWork, logger } = deps
  messages.requestHousekeeping(about.project.id)
  await deleteReleasesOfTags(deps, about, changes)
  const notified = changes.slice(0, notifiedChangesMax).flatMap((change) => {
    const event = eventOf(change.ref)
    return event === null ? [] : [{ event, change }]
  })
  const identified = notified.map(({ change }) => ({ change, id: intended.idOf(change) }))
  const announced = announce(deps, about.project, notified)
  const stored = announced.then(() => storePushDeliveries(deps, backgroundWork, about, identified))
  const forget = async () => {
    if (await stored) await intended.forget()
  }
  backgroundWork.run(
    forget().catch((err: unknown) =>
      logger.warn({ err }, 'could not forget changes whose deliveries are stored'),
    ),
  )
  await pTimeout(announced, { milliseconds: readingMs, message: false })
  await pTimeout(stored, { milliseconds: awaitedMs, message: false })
}

/** Most characters of a tag's text in a notice. */
const noticeTextMax = 10_000

async function announce(
  { messages, git, logger }: ReferenceDependencies,
  project: Project,
  notified: readonly { event: 'push' | 'tag_push'; change: RefChange }[],
): Promise<void> {
  const repository = git.open(project)
  for (const { event, change } of notified) {
    const { commitId, message } = await readCheckedOut(repository, change).catch((err: unknown) => {
      logger.warn({ err, project_id: project.id }, 'could not read a tag that was pushed')
      return { commitId: null, message: null }
    })
    messages.announce({
      event,
      project_id: project.id,
      ...change,
      checkout_sha: commitId,
      message: message?.slice(0, noticeTextMax) ?? null,
    })
  }
}

/**
 * Deletes the releases of deleted tags and notifies webhooks. While the database is unreachable, a release
 * stays and is shown without a commit.
 */
async function deleteReleasesOfTags(
  { database, git, messages, logger }: ReferenceDependencies,
  { project, baseUrl }: Change,
  changes: readonly RefChange[],
): Promise<void> {
  const targets = new Map(
    changes
      .filter(({ ref, after }) => ref.startsWith(tagsFolder) && isZeroId(after))
      .map(({ ref, before }) => [shortRefName(ref), before]),
  )
  if (targets.size === 0) return
  const repository = git.open(project)
  const readUntilMs = performance.now() + readingMs
  const findCommitOf = async (tag: string) => {
    const milliseconds = readUntilMs - performance.now()
    if (milliseconds <= 0) return null
    return pTimeout(findCommit(repository, targets.get(tag) ?? ''), { milliseconds }).catch(
      (err: unknown) => {
        logger.warn({ err, project_id: project.id }, 'could not read the commit of a deleted release')
        return null
      },
    )
  }
  try {
    await removeReleasesOfTags({ database, messages }, project, {
      tags: [...targets.keys()],
      findCommitOf,
      baseUrl,
    })
  } catch (error) {
    logger.warn({ err: error, project_id: project.id }, 'could not delete the releases of deleted tags')
  }
}

/**
 * Stores the webhook deliveries of changes.
 *
 * @param backgroundWork null: storing is tried only once
 * @param changes `id` identifies the event, so that deliveries that are stored twice are sent once
 * @returns whether all deliveries are stored
 */
export async function storePushDeliveries(
  { database, git, logger }: StoringDependencies,
  backgroundWork: BackgroundWork | null,
  about: Change,
  changes: readonly { change: RefChange; id: string | undefined }[],
): Promise<boolean> {
  const { project } = about
  const compareUntilMs = performance.now() + comparingMs
  try {
    const repository = git.open(project)
    for (const { change, id } of changes) {
      const event = eventOf(change.ref)
      if (event === null) continue
      let made: Promise<ReturnType<typeof pushHook>> | undefined
      // All attempts store the same delivery, so that an attempt whose confirmation was lost does not lead to
      // a second delivery.
      const make = () => {
        made ??= pushedCommits(repository, project, change, compareUntilMs).then((commits) => {
          const delivery = pushHook(change, commits, about)
          return id === undefined ? delivery : { ...delivery, dedupeKey: id }
        })
        return made
      }
      const accepts = async (webhook: BranchFilter) =>
        event !== 'push' || matchesBranch(webhook, shortRefName(change.ref))
      await storeWhenPossible(backgroundWork, () =>
        enqueueForProject(database.pool, project.id, event, make, accepts),
      )
    }
    return true
  } catch (error) {
    logger.warn({ err: error, project_id: project.id }, 'could not notify webhooks of a push')
    return false
  }
}

/**
 * Retries while the database is unreachable or has no space. The push is acknowledged already, so its client
 * does not repeat it.
 */
async function storeWhenPossible(
  backgroundWork: BackgroundWork | null,
  store: () => Promise<void>,
): Promise<void> {
  const untilMs = performance.now() + storedWithinMs
  for (;;) {
    try {
      return await store()
    } catch (error) {
      if (!backgroundWork || !isDatabaseUnavailable(error) || performance.now() > untilMs) throw error
      await backgroundWork.waitBeforeRetry()
    }
  }
}
