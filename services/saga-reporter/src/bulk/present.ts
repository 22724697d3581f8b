import { sagaStatuses } from '@switchyard/domain/saga'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type BulkItem, type BulkJob, bulkActions, bulkItemStates, bulkStates } from './job.js'
import type { SagaMatches } from './store.js'

export const bulkJobShape = z
  .object({
    id: z.int(),
    tenant: z.string(),
    action: oneOf(bulkActions),
    note: z.string(),
    filter: z.record(z.string(), z.unknown()),
    state: oneOf(bulkStates),
    matched: z
      .int()
      .meta({ description: 'Number of sagas that matched the filter when the job was created' }),
    done: z.int().meta({ description: 'Number of sagas that were resolved or annotated' }),
    failed: z.int(),
    undone: z.int(),
    undo_failed: z.int(),
    author: z.object({ id: z.int(), username: z.string() }),
    undone_by: z.string().nullable(),
    created_at: z.date(),
    finished_at: z.date().nullable(),
  })
  .meta({ id: 'SagaBulkJob', description: 'A job that resolves or annotates all sagas that match a filter' })

export const presentBulkJob = (job: BulkJob): z.output<typeof bulkJobShape> => ({
  id: job.id,
  tenant: job.tenant,
  action: job.action,
  note: job.note,
  filter: job.filter,
  state: job.state,
  matched: job.matched,
  done: job.done,
  failed: job.failed,
  undone: job.undone,
  undo_failed: job.undoFailed,
  author: { id: job.authorId, username: job.authorName },
  undone_by: job.undoName,
  created_at: job.createdAt,
  finished_at: job.finishedAt,
})

export const bulkResultShape = z
  .object({
    position: z.int(),
    saga_id: z.string(),
    state: oneOf(bulkItemStates),
    error: z.string().nullable(),
  })
  .meta({ id: 'SagaBulkResult', description: 'The result of a bulk job for one saga' })

export const presentBulkResult = ({
  position,
  sagaId,
  state,
  error,
}: BulkItem): z.output<typeof bulkResultShape> => ({ position, saga_id: sagaId, state, error })

export const bulkPreviewShape = z
  .object({ matched: z.int(), statuses: z.partialRecord(z.enum(sagaStatuses), z.int()) })
  .meta({ id: 'SagaBulkPreview', description: 'Number of sagas that match a filter, in total and by status' })

export const presentBulkPreview = ({
  matched,
  statuses,
}: SagaMatches): z.output<typeof bulkPreviewShape> => ({ matched, statuses })
