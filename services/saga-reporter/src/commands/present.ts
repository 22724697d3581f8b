import { commandKinds, commandStates } from '@switchyard/domain/saga'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { BatchPlan } from './commands.js'
import type { SagaCommand } from './store.js'

export const commandShape = z
  .object({
    id: z.string(),
    tenant: z.string(),
    saga_id: z.string(),
    service_name: z.string(),
    kind: oneOf(commandKinds),
    activity_id: z.string().nullable().meta({ description: 'The step of `retry` and `skip`' }),
    reason: z.string(),
    batch_id: z.string().nullable().meta({ description: 'Of commands for a filter: what they share' }),
    state: oneOf(commandStates),
    author: z.object({ id: z.int(), username: z.string() }),
    created_at: z.date(),
    expires_at: z.date().meta({ description: 'From then on no orchestrator gets it' }),
    decided_by: z.string().nullable().meta({ description: 'Who approved or denied it' }),
    decided_at: z.date().nullable(),
    worker: z.string().nullable().meta({ description: 'The orchestrator that leased it last' }),
    leased_until: z.date().nullable(),
    deliveries: z.int().meta({ description: 'How often it was leased' }),
    message: z.string().nullable().meta({ description: 'What the orchestrator answered' }),
    ended_at: z.date().nullable(),
  })
  .meta({ id: 'SagaCommand', description: 'What an operator asks of the orchestrator of a saga' })

export const presentCommand = (command: SagaCommand): z.output<typeof commandShape> => ({
  id: command.id,
  tenant: command.tenant,
  saga_id: command.sagaId,
  service_name: command.serviceName,
  kind: command.kind,
  activity_id: command.activityId,
  reason: command.reason,
  batch_id: command.batchId,
  state: command.state,
  author: { id: command.authorId, username: command.authorName },
  created_at: command.createdAt,
  expires_at: command.expiresAt,
  decided_by: command.decidedBy,
  decided_at: command.decidedAt,
  worker: command.worker,
  leased_until: command.state === 'leased' ? command.dueAt : null,
  deliveries: command.deliveries,
  message: command.message,
  ended_at: command.endedAt,
})

const planShape = z.object({
  matched: z.int().meta({ description: 'Sagas that the filter finds' }),
  left_out: z
    .object({ without_service: z.int(), without_step: z.int(), busy: z.int(), ended: z.int() })
    .meta({
      description:
        'Sagas that get no command: `busy` have one that has not ended; `ended` have ended, and nothing of the kind is left to do',
    }),
})

export const batchPreviewShape = z
  .object({ ...planShape.shape, commands: z.int().meta({ description: 'Sagas that would get a command' }) })
  .meta({ id: 'SagaCommandBatchPreview', description: 'What a request for the sagas of a filter would do' })

export const batchShape = z
  .object({ ...planShape.shape, batch_id: z.string(), created: z.int() })
  .meta({ id: 'SagaCommandBatch', description: 'Commands for the sagas of a filter' })

export const decidedBatchShape = z
  .object({
    batch_id: z.string(),
    decided: z.int().meta({ description: 'Commands that were changed' }),
    left_out: z.int().meta({ description: 'Commands of the batch whose state did not allow it any more' }),
  })
  .meta({ id: 'DecidedSagaCommandBatch', description: 'What a decision about a batch of commands did' })

const presentPlan = ({ matched, leftOut }: BatchPlan) => ({ matched, left_out: leftOut })

export const presentBatchPreview = (plan: BatchPlan): z.output<typeof batchPreviewShape> => ({
  ...presentPlan(plan),
  commands: plan.sagas.length,
})

export const presentBatch = (
  batch: BatchPlan & { batchId: string; created: number },
): z.output<typeof batchShape> => ({
  ...presentPlan(batch),
  batch_id: batch.batchId,
  created: batch.created,
})
