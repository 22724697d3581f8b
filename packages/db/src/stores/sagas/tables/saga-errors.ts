import { type Activity, errorFingerprint } from '@switchyard/domain/saga'
import { timeOf } from '../../../sql/row-columns.js'
import { type Column, insertInto } from '../../../sql/write-rows.js'

/** The errors of an activity that has a saga. */
export interface ActivityErrors {
  tenant: string
  activity: Activity
  /** When the saga was first seen. */
  sagaFirstSeenAt: Date
}

/** The text that searches look through. */
const textOf = ({ activity }: ActivityErrors): string =>
  [activity.executeErrors, activity.compensateErrors].filter(Boolean).join('\n')

const columns: readonly Column<ActivityErrors>[] = [
  { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
  { name: 'activity_id', type: 'text', get: ({ activity }) => activity.id },
  { name: 'saga_id', type: 'text', get: ({ activity }) => activity.sagaId },
  { name: 'first_seen_at', type: 'timestamptz', get: ({ sagaFirstSeenAt }) => timeOf(sagaFirstSeenAt) },
  { name: 'failed_at', type: 'timestamptz', get: ({ activity }) => timeOf(activity.lastEventAt) },
  {
    name: 'fingerprint',
    type: 'text',
    get: (errors) => errors.activity.errorFingerprint ?? errorFingerprint(textOf(errors)),
  },
  { name: 'text', type: 'text', get: textOf },
  // PostgreSQL folds the case of search terms, so it folds the case of the searched text as well.
  { name: 'folded', type: 'text', get: textOf, expression: 'lower(given.folded)' },
]

export const upsertErrors = insertInto(
  'saga_errors-upsert',
  'saga_errors',
  columns,
  `ON CONFLICT (tenant, activity_id) DO UPDATE SET saga_id = EXCLUDED.saga_id, failed_at = EXCLUDED.failed_at,
    fingerprint = EXCLUDED.fingerprint, text = EXCLUDED.text, folded = EXCLUDED.folded`,
)

export const hasErrors = ({ executeErrors, compensateErrors }: Activity): boolean =>
  executeErrors !== null || compensateErrors !== null

/** Whether the errors of an activity with a saga have to be written: it failed, or its saga has just been named. */
export function hasNewErrors(before: Activity | null, after: Activity): boolean {
  if (after.sagaId === null || !hasErrors(after)) return false
  if (before === null || before.sagaId === null) return true
  return after.executeErrors !== before.executeErrors || after.compensateErrors !== before.compensateErrors
}
