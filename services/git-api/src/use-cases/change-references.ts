import { randomUUID } from 'node:crypto'
import { forgetForeseenChanges, storeForeseenChanges } from '@switchyard/db'
import type { RefChange } from '@switchyard/domain/access'
import type { Foresee } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'
import { type Change, eventOf, notifiedChangesMax, referencesChanged } from './references-changed.js'

/** A change of references by one request. */
export interface ReferenceChange {
  /** Stores the changes that webhooks have to be notified of, before the references change. */
  foresee: Foresee
  /** Does the work that follows from the changes that happened. */
  happened: (changes: readonly RefChange[]) => Promise<void>
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
    happened: (changes) =>
      referencesChanged(dependencies, about, changes, {
        idOf: (change) => foreseen.get(keyOf(change)),
        async forget() {
          if (foreseen.size > 0) await forgetForeseenChanges(database, [...foreseen.values()])
        },
      }),
  }
}
