import { randomUUID } from 'node:crypto'
import { forgetForeseenChanges, type Project, storeForeseenChanges } from '@switchyard/db'
import type { RefChange } from '@switchyard/domain/access'
import type { Foresee } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'
import { adoptDefaultBranch } from './adopt-default-branch.js'
import { type Change, eventOf, notifiedChangesMax, referencesChanged } from './references-changed.js'

/** A change of references by one request. */
export interface ReferenceChange {
  /** Stores the changes that webhooks have to be notified of, before the references change. */
  foresee: Foresee
  /** Does the work that follows from the changes that happened. @returns the project, which may have another default branch now */
  happened: (changes: readonly RefChange[]) => Promise<Project>
}

/**
 * Time after which another process checks whether a change has happened. It is longer than most changes take from `foresee`
 * until their deliveries are stored.
 */
const lookInMs = 10_000

/**
 * Begins a change of references. When this process ends between `foresee` and the end of `happened`, another one finds out
 * whether the references have changed, and notifies webhooks: see notifying/notify-of-foreseen-changes.ts.
 */
export function beginChange(dependencies: Dependencies, about: Change): ReferenceChange {
  const { database } = dependencies
  const { project, user, baseUrl, pushOptions = [] } = about
  const { id, name, username, email } = user
  // The options of a push are added to this array between `beginChange` and `foresee`.
  const row = {
    projectId: project.id,
    about: { user: { id, name, username, email }, baseUrl, pushOptions },
    lookInMs,
  }
  const foreseen = new Map<string, string>()
  const keyOf = ({ ref, after }: RefChange) => `${ref} ${after}`

  return {
    async foresee(changes) {
      const notified = changes.slice(0, notifiedChangesMax - foreseen.size).flatMap((change) => {
        const event = eventOf(change.ref)
        return event === null ? [] : [{ ...change, event, id: randomUUID() as string }]
      })
      if (notified.length === 0) return
      const stored = new Set(await storeForeseenChanges(database, notified, row))
      for (const change of notified) if (stored.has(change.id)) foreseen.set(keyOf(change), change.id)
    },
    async happened(changes) {
      const changed = { ...about, project: await settleDefaultBranch(dependencies, project, changes) }
      await referencesChanged(dependencies, changed, changes, {
        idOf: (change) => foreseen.get(keyOf(change)),
        async forget() {
          if (foreseen.size > 0) await forgetForeseenChanges(database, [...foreseen.values()])
        },
      })
      return changed.project
    },
  }
}

/** The project, after a change of its branches made another one its default branch. */
async function settleDefaultBranch(
  dependencies: Dependencies,
  project: Project,
  changes: readonly RefChange[],
): Promise<Project> {
  const { defaultBranch, wantedDefaultBranch, id } = project
  const others = changes.filter(({ ref }) => eventOf(ref) === 'push' && ref !== `refs/heads/${defaultBranch}`)
  if (others.length === 0 && wantedDefaultBranch === null) return project
  try {
    return await adoptDefaultBranch(dependencies, project)
  } catch (err) {
    // The references have changed: a database that is unreachable now must not make the change appear refused.
    dependencies.logger.warn({ err, project_id: id }, 'could not adopt the default branch')
    return project
  }
}
