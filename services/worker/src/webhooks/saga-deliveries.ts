import {
  deliveriesTo,
  type FailedActivity,
  type NewDelivery,
  type SagaNews,
  type SagaOccurrence,
  sagaPayload,
} from '@switchyard/webhooks'
import type { SagaFlagNews, SagaWebhook } from './saga-events-store.js'

/** Returns the events of a saga that has become Ended or Error, by its status, or that was resolved. */
export function finished(saga: SagaNews, activities: FailedActivity[]): SagaOccurrence[] {
  const { tenant, status, resolvedAt } = saga
  const events = [
    ...(resolvedAt === null ? [] : ['saga.resolved']),
    ...(status === 'Error' ? ['saga.error'] : []),
    ...(status === 'Ended' ? ['saga.ended'] : []),
  ]
  return events.map((event) => ({ event, tenant, saga, flag: null, activities }))
}

export const flagged = (
  flag: SagaFlagNews,
  saga: SagaNews | null,
  activities: FailedActivity[],
): SagaOccurrence => ({ event: `saga.${flag.kind}`, tenant: flag.tenant, saga, flag, activities })

/**
 * Yields one delivery for every webhook that subscribes to an event, each only when it is read, because all
 * of them may be large.
 *
 * @param externalUrl base of links; undefined: no links
 */
export function* deliveriesOf(
  occurrences: readonly SagaOccurrence[],
  webhooks: readonly SagaWebhook[],
  externalUrl: string | undefined,
): Generator<NewDelivery> {
  for (const occurrence of occurrences) yield* deliveriesOfOne(occurrence, webhooks, externalUrl)
}

function* deliveriesOfOne(
  occurrence: SagaOccurrence,
  webhooks: readonly SagaWebhook[],
  externalUrl: string | undefined,
): Generator<NewDelivery> {
  const { event, tenant, saga } = occurrence
  const interested = webhooks.filter(
    (webhook) =>
      webhook.tenant === tenant &&
      webhook.events.includes(event) &&
      (webhook.serviceName === null || webhook.serviceName === saga?.serviceName),
  )
  if (interested.length === 0) return
  const payload = sagaPayload(occurrence, externalUrl)
  const dedupeKey = dedupeKeyOf(occurrence)
  yield* deliveriesTo(interested, { event, dedupeKey, payload })
}

/**
 * Returns a key that is equal for the same event. A saga ends once and may fail again after it was resolved;
 * a flag may be set again later.
 */
function dedupeKeyOf({ event, saga, flag }: SagaOccurrence): string {
  if (flag) return JSON.stringify([event, flag.sagaId, flag.activityId, flag.since])
  const episode = event === 'saga.ended' ? [] : [saga?.resolvedAt ?? null]
  return JSON.stringify([event, saga?.id, ...episode])
}
