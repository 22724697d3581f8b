import { EventOutcome, type EventReply } from '@switchyard/contracts/saga-ingest'
import { DomainError } from '@switchyard/domain'
import { type EventResult, SagaRejection } from '@switchyard/domain/saga'

/** What became of one event of a call. An unexpected failure shows nothing of its text. */
export function toEventReply(outcome: EventResult | Error): EventReply {
  if (typeof outcome === 'string') {
    const isDuplicate = outcome === 'duplicate'
    const { EVENT_OUTCOME_DUPLICATE, EVENT_OUTCOME_RECORDED } = EventOutcome
    return {
      outcome: isDuplicate ? EVENT_OUTCOME_DUPLICATE : EVENT_OUTCOME_RECORDED,
      message: outcome,
      errors: '',
    }
  }
  if (outcome instanceof SagaRejection) {
    const { message, errors } = outcome
    return { outcome: EventOutcome.EVENT_OUTCOME_REJECTED, message, errors }
  }
  if (!(outcome instanceof DomainError)) {
    const errors = 'INTERNAL: internal error'
    return { outcome: EventOutcome.EVENT_OUTCOME_REFUSED, message: 'refused', errors }
  }
  const errors = `${outcome.kind.toUpperCase().replaceAll('-', '_')}: ${outcome.message}`
  if (outcome.kind === 'unavailable' || outcome.kind === 'rate-limited')
    return { outcome: EventOutcome.EVENT_OUTCOME_RETRYABLE, message: 'temporarily unavailable', errors }
  return { outcome: EventOutcome.EVENT_OUTCOME_REFUSED, message: 'refused', errors }
}
