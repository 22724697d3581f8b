import { type AuditedChange, recordAuditEvent } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import type { NewSagaEvent, RecordingTransaction, SagaEventStore } from '@switchyard/saga-store'
import { nothingToResolve, operatorEvent } from '../resolve/resolve.js'
import { createSagaNotes } from '../resolve/store.js'
import {
  type BulkItemOutcome,
  type BulkLease,
  type BulkStep,
  type BulkStepItem,
  endBulkStep,
  finishBulkJob,
  takeBulkStep,
} from './step-store.js'

/** Most sagas that one transaction changes, because reporters of these sagas wait for it. */
const sagasMax = 200

const noLongerExists = 'The saga no longer exists'
const hasChanged = 'The saga has changed since'

interface StepDependencies {
  store: SagaEventStore
  clock: Clock
  /** Duration of the lease from the start of the step. */
  leaseMs: number
}

/**
 * Processes the next sagas of a job. The changes, the results and the position of the job are committed
 * together, so after a crash every saga is processed exactly once.
 *
 * @returns whether the job has further steps; false also when the lease has ended
 */
export const runBulkStep = (
  { store, clock, leaseMs }: StepDependencies,
  lease: BulkLease,
): Promise<boolean> =>
  store.recordWithin(async (transaction) => {
    const { client } = transaction
    const step = await takeBulkStep(client, lease, { leaseMs, take: sagasMax })
    if (!step) return false
    if (step.items.length === 0) {
      await finishBulkJob(client, lease)
      return false
    }
    const { outcomes, eventName } = await processItems(transaction, step, clock())
    await recordAuditEvent(client, step.audit, ...auditEntries(step, outcomes, eventName))
    await endBulkStep(client, lease, outcomes)
    return true
  })

interface Processed {
  outcomes: BulkItemOutcome[]
  /** Event of the audit entries about the changed sagas. */
  eventName: string
}

async function processItems(
  transaction: RecordingTransaction,
  step: BulkStep,
  now: Date,
): Promise<Processed> {
  const { job } = step
  if (job.state === 'undoing')
    return { outcomes: await undo(transaction, step, now), eventName: 'saga_resolution_undone' }
  if (job.action === 'note') return { outcomes: await note(transaction, step), eventName: 'saga_note_added' }
  return { outcomes: await resolve(transaction, step, now), eventName: 'saga_resolved' }
}

/** Resolves the sagas with the same rules as a single one. */
async function resolve({ record }: RecordingTransaction, { job, items }: BulkStep, now: Date) {
  const { tenant, note, authorName: author } = job
  const events: NewSagaEvent[] = []
  const outcomes = items.map((item): BulkItemOutcome => {
    const { sagaId, saga } = item
    if (!saga) return outcomeOf(item, 'failed', noLongerExists)
    if (saga.status !== 'Error') return outcomeOf(item, 'failed', nothingToResolve(saga.status))
    events.push(operatorEvent(tenant, { operation: 'OperatorResolved', sagaId, author, note }, now))
    const { resolvedAt: previousResolvedAt, resolvedBy: previousResolvedBy } = saga
    return { ...outcomeOf(item, 'done'), resolvedAt: now, previousResolvedAt, previousResolvedBy }
  })
  await recordAll(record, events)
  return outcomes
}

async function note({ client }: RecordingTransaction, { job, items }: BulkStep) {
  const { tenant, authorId, authorName, note: body } = job
  const sagaIds = items.flatMap(({ sagaId, saga }) => (saga ? [sagaId] : []))
  await createSagaNotes(client, { tenant, sagaIds }, { authorId, authorName, body })
  return items.map((item) =>
    item.saga ? outcomeOf(item, 'done') : outcomeOf(item, 'failed', noLongerExists),
  )
}

/** Restores the resolution that each saga had before the job, unless the saga has had events since then. */
async function undo({ record }: RecordingTransaction, { job, items }: BulkStep, now: Date) {
  const events: NewSagaEvent[] = []
  const outcomes = items.map((item): BulkItemOutcome => {
    const { sagaId, saga, resolvedAt, previousResolvedAt, previousResolvedBy } = item
    if (!saga) return outcomeOf(item, 'undo_failed', noLongerExists)
    const isUnchanged = saga.resolvedAt?.getTime() === resolvedAt?.getTime()
    if (resolvedAt === null || !isUnchanged || saga.lastEventAt > resolvedAt)
      return outcomeOf(item, 'undo_failed', hasChanged)
    const undone = { sagaId, author: job.undoName ?? '', resolvedAt, previousResolvedAt, previousResolvedBy }
    events.push(operatorEvent(job.tenant, { operation: 'OperatorResolutionUndone', ...undone }, now))
    return outcomeOf(item, 'undone')
  })
  await recordAll(record, events)
  return outcomes
}

/** Records events. The sagas are locked and in a state that permits the events, so a refusal is a defect. */
async function recordAll(record: RecordingTransaction['record'], events: readonly NewSagaEvent[]) {
  const refused = (await record(events)).find((result) => result instanceof Error)
  if (refused) throw new Error('an event of an operator was refused', { cause: refused })
}

const outcomeOf = (
  { position, resolvedAt, previousResolvedAt, previousResolvedBy }: BulkStepItem,
  state: BulkItemOutcome['state'],
  error: string | null = null,
): BulkItemOutcome => ({ position, state, error, resolvedAt, previousResolvedAt, previousResolvedBy })

function auditEntries(
  { job, items }: BulkStep,
  outcomes: readonly BulkItemOutcome[],
  eventName: string,
): AuditedChange[] {
  return items.flatMap(({ sagaId }, index) =>
    outcomes[index]?.error === null
      ? [
          {
            eventName,
            entityType: 'Saga',
            entityId: sagaId,
            details: { tenant: job.tenant, bulk_job: job.id },
          },
        ]
      : [],
  )
}
