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
    batch_id: z
      .string()
      .nullable()
      .meta({ description: 'Id shared by the commands of one batch; null: a single command' }),
    state: oneOf(commandStates),
    author: z.object({ id: z.int(), username: z.string() }),
    created_at: z.date(),
    expires_at: z.date().meta({ description: 'The time after which the command is no longer delivered' }),
    decided_by: z.string().nullable().meta({ description: 'Who approved or denied it' }),
    decided_at: z.date().nullable(),
    worker: z.string().nullable().meta({ description: 'The orchestrator that leased it last' }),
    leased_until: z.date().nullable(),
    deliveries: z.int().meta({ description: 'Number of leases of the command' }),
    message: z.string().nullable().meta({ description: 'The answer of the orchestrator' }),
    ended_at: z.date().nullable(),
  })
  .meta({ id: 'SagaCommand', description: 'A command of an operator for the orchestrator of a saga' })

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
  matched: z.int().meta({ description: 'Number of sagas that match the filter' }),
  left_out: z
    .object({ without_service: z.int(), without_step: z.int(), busy: z.int(), ended: z.int() })
    .meta({
      description:
        'Sagas that get no command: `busy` have an open command; `ended` have ended, and nothing of this kind is left to do',
    }),
})

export const batchPreviewShape = z
  .object({
    ...planShape.shape,
    commands: z.int().meta({ description: 'Number of sagas that would get a command' }),
  })
  .meta({
    id: 'SagaCommandBatchPreview',
    description: 'The effect that a request for the sagas that match a filter would have',
  })

export const batchShape = z
  .object({ ...planShape.shape, batch_id: z.string(), created: z.int() })
  .meta({ id: 'SagaCommandBatch', description: 'Commands for the sagas that match a filter' })

export const decidedBatchShape = z
  .object({
    batch_id: z.string(),
    decided: z.int().meta({ description: 'Commands that were changed' }),
    left_out: z.int().meta({ description: 'Commands of the batch whose state no longer allowed it' }),
  })
  .meta({ id: 'DecidedSagaCommandBatch', description: 'The result of a decision about a batch of commands' })

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
