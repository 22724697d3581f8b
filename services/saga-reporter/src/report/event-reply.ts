import { EventOutcome, type EventReply } from '@switchyard/contracts/saga-ingest'
import { DomainError } from '@switchyard/domain'
import { type EventResult, SagaRejection } from '@switchyard/domain/saga'
import { z } from 'zod'

const codes = {
  recorded: EventOutcome.EVENT_OUTCOME_RECORDED,
  duplicate: EventOutcome.EVENT_OUTCOME_DUPLICATE,
  rejected: EventOutcome.EVENT_OUTCOME_REJECTED,
  refused: EventOutcome.EVENT_OUTCOME_REFUSED,
  retryable: EventOutcome.EVENT_OUTCOME_RETRYABLE,
} as const

type OutcomeWord = keyof typeof codes

export const eventReplyShape = z
  .object({
    outcome: z.enum(Object.keys(codes) as [OutcomeWord, ...OutcomeWord[]]),
    message: z.string(),
    errors: z.string().meta({ description: 'Empty, or `CODE: detail`' }),
  })
  .meta({ id: 'SagaEventReply', description: 'The result of one event' })

/** Returns the outcome of an event of a call as text. The text of an unexpected failure is never shown. */
export function presentEventReply(outcome: EventResult | Error): z.output<typeof eventReplyShape> {
  if (typeof outcome === 'string') {
    const isDuplicate = outcome === 'duplicate'
    return { outcome: isDuplicate ? 'duplicate' : 'recorded', message: outcome, errors: '' }
  }
  if (outcome instanceof SagaRejection)
    return { outcome: 'rejected', message: outcome.message, errors: outcome.errors }
  if (!(outcome instanceof DomainError))
    return { outcome: 'refused', message: 'refused', errors: 'INTERNAL: internal error' }
  const errors = `${outcome.kind.toUpperCase().replaceAll('-', '_')}: ${outcome.message}`
  if (outcome.kind === 'unavailable' || outcome.kind === 'rate-limited')
    return { outcome: 'retryable', message: 'temporarily unavailable', errors }
  return { outcome: 'refused', message: 'refused', errors }
}

/** Returns the outcome of an event of a call as a gRPC message. */
export function toEventReply(outcome: EventResult | Error): EventReply {
  const reply = presentEventReply(outcome)
  return { ...reply, outcome: codes[reply.outcome] }
}
