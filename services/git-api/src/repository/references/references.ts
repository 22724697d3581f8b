import { randomUUID } from 'node:crypto'
import { inTransaction, type Project } from '@switchyard/db'
import { isZeroId, type RefChange } from '@switchyard/domain/access'
import { branchRef, type Signature } from '@switchyard/domain/commit'
import {
  findBranchTip,
  findUsualBranch,
  isBranchOfGitAnnex,
  listUnreferencedCommits,
  pointHeadTo,
} from '@switchyard/git-storage/references'
import type { RecordIntent, Repository } from '@switchyard/git-storage/repository'
import { changeDefaultBranch, type DefaultBranchChoice, findProjectForUser } from '../../projects/store.js'
import { type Change, eventOf } from '../pushes/pushes.js'
import { notifiedChangesMax, type ReferenceDependencies, referencesChanged } from './publish.js'
import { forgetIntents, storeIntents, storeJobCommits } from './store.js'

export type { ReferenceDependencies } from './publish.js'

/** A change of references by one request. */
interface ReferenceChange {
  /**
   * Stores the changes that webhooks are to receive, and finds the commits that a CI job pushes. Call it
   * before the references change.
   */
  recordIntent: RecordIntent
  /**
   * Runs the work that follows the changes that happened.
   *
   * @returns the project, whose default branch may have changed
   */
  publish: (changes: readonly RefChange[]) => Promise<Project>
  /** Forgets the recorded changes, which have certainly not happened. */
  forget: () => Promise<void>
}

/**
 * Time after which another process checks whether a change has happened. It is longer than most changes take
 * from `recordIntent` until their deliveries are stored.
 */
const lookInMs = 10_000

/**
 * Begins a change of references. When this process ends between `recordIntent` and the end of `publish`,
 * another process finds out whether the references have changed, and notifies webhooks: see outbox.ts.
 */
export function beginChange(deps: ReferenceDependencies, about: Change): ReferenceChange {
  const { database } = deps
  const { project, user, baseUrl, pushOptions = [] } = about
  const broughtCommits = noteCommitsOfJob(deps, about)
  const { id, name, username, email } = user
  // The options of a push are added to this array between `beginChange` and `recordIntent`.
  const row = {
    projectId: project.id,
    about: { user: { id, name, username, email }, baseUrl, pushOptions },
    lookInMs,
  }
  const intended = new Map<string, string>()
  const keyOf = ({ ref, after }: RefChange) => `${ref} ${after}`
  const forget = async () => {
    if (intended.size > 0) await forgetIntents(database, [...intended.values()])
  }
  const forgetRefused = async (refused: readonly RefChange[]) => {
    const ids = refused.flatMap((change) => intended.get(keyOf(change)) ?? [])
    if (ids.length === 0) return
    for (const change of refused) intended.delete(keyOf(change))
    // Without it, another process compares the reference, which is right unless a later change is the same.
    await forgetIntents(database, ids).catch((err: unknown) =>
      deps.logger.warn({ err, project_id: project.id }, 'could not forget changes that git refused'),
    )
  }

  return {
    async recordIntent(changes) {
      await broughtCommits.list(changes)
      const notified = changes.slice(0, notifiedChangesMax - intended.size).flatMap((change) => {
        const event = eventOf(change.ref)
        return event === null ? [] : [{ ...change, event, id: randomUUID() as string }]
      })
      if (notified.length > 0) {
        const stored = new Set(await storeIntents(database, notified, row))
        for (const change of notified) if (stored.has(change.id)) intended.set(keyOf(change), change.id)
      }
      return () => forgetRefused(changes)
    },
    async publish(changes) {
      await broughtCommits.store()
      const changed = { ...about, project: await settleDefaultBranch(deps, project, changes) }
      await referencesChanged(deps, changed, changes, {
        idOf: (change) => intended.get(keyOf(change)),
        forget,
      })
      return changed.project
    },
    forget,
  }
}

/** Most new commits of one change that are recorded for a CI job. */
const jobCommitsMax = 1000

/**
 * Returns the two steps that record the commits of a job: `list` reads those that no reference contains
 * before the change, and `store` writes them after it.
 */
function noteCommitsOfJob({ database, git, logger }: ReferenceDependencies, { project, job }: Change) {
  let shas: string[] = []
  return {
    async list(changes: readonly RefChange[]): Promise<void> {
      if (!job) return
      const tips = changes.map(({ after }) => after).filter((id) => !isZeroId(id))
      shas = await listUnreferencedCommits(git.open(project), tips, jobCommitsMax)
    },
    async store(): Promise<void> {
      if (!job || shas.length === 0) return
      try {
        await storeJobCommits(database, project.id, { shas, job })
      } catch (err) {
        // The references have changed, so an unreachable database must not make the change look refused.
        logger.warn({ err, project_id: project.id }, 'could not note the CI job of new commits')
      }
    },
  }
}

/** Returns the project, whose default branch may change with its branches. */
async function settleDefaultBranch(
  deps: ReferenceDependencies,
  project: Project,
  changes: readonly RefChange[],
): Promise<Project> {
  const { defaultBranch, wantedDefaultBranch, id } = project
  // Another branch may have become the substitute of the default branch since the request read the project,
  // so its creation counts, too.
  const maySettle = changes.some(
    ({ ref, before }) => eventOf(ref) === 'push' && (ref !== branchRef(defaultBranch) || isZeroId(before)),
  )
  if (!maySettle && wantedDefaultBranch === null) return project
  try {
    return await adoptDefaultBranch(deps, project)
  } catch (err) {
    // The references have changed, so an unreachable database must not make the change look refused.
    deps.logger.warn({ err, project_id: id }, 'could not adopt the default branch')
    return project
  }
}

/** Most attempts to choose a branch, because another request may change the branches meanwhile. */
const triesMax = 3

/**
 * Makes another branch the default branch while the wanted one does not exist. So a client that pushes
 * `master` to a new project finds its commits without naming the branch, and clones check it out. When the
 * wanted branch is pushed, it becomes the default branch. The references have changed already, so this
 * ignores the signal of the request and continues when the client disconnects.
 *
 * @returns the current project
 */
async function adoptDefaultBranch(
  { database, git }: ReferenceDependencies,
  { id, ...known }: Project,
): Promise<Project> {
  let project: Project = { id, ...known }
  for (let tries = 0; tries < triesMax; tries += 1) {
    // Another request may have changed the default branch after the request read the project.
    const found = await findProjectForUser(database, String(id), null)
    if (!found) return project
    project = found.project
    const { defaultBranch: branch } = project
    const to = await chooseDefaultBranch(git.open(project), project)
    if (to.defaultBranch === branch) return project
    const changing = project
    await inTransaction(database, async (transaction) => {
      // HEAD moves last and while the row is locked, so that both stay equal.
      if (await changeDefaultBranch(transaction, id, { from: changing, to })) {
        await pointHeadTo(git.open(changing), to.defaultBranch)
      }
    })
  }
  return project
}

async function chooseDefaultBranch(
  repository: Repository,
  { defaultBranch, wantedDefaultBranch }: DefaultBranchChoice,
): Promise<DefaultBranchChoice> {
  const wanted = wantedDefaultBranch ?? defaultBranch
  if ((await findBranchTip(repository, wanted)) !== null) {
    return { defaultBranch: wanted, wantedDefaultBranch: null }
  }
  const isUsable = wantedDefaultBranch !== null && !isBranchOfGitAnnex(defaultBranch)
  if (isUsable && (await findBranchTip(repository, defaultBranch)) !== null) {
    return { defaultBranch, wantedDefaultBranch }
  }
  const substitute = await findUsualBranch(repository)
  if (substitute === null) return { defaultBranch, wantedDefaultBranch }
  return { defaultBranch: substitute, wantedDefaultBranch: wanted }
}

/** Returns the signature of a user who writes a commit now. */
export const signatureOf = ({ name, email }: Pick<Signature, 'name' | 'email'>): Signature => ({
  name,
  email,
  seconds: Math.floor(Date.now() / 1000),
  offsetMinutes: 0,
})
