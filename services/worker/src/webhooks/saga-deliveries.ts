import { deliveriesTo, type NewDelivery } from '@switchyard/db'
import type { FailedActivity, SagaFlagNews, SagaNews, SagaWebhook } from './saga-events-store.js'

/** An event of a saga, or of an activity without a saga. */
interface SagaOccurrence {
  event: string
  tenant: string
  /** Null: an activity without a saga. */
  saga: SagaNews | null
  flag: SagaFlagNews | null
  /** Activities with errors. */
  activities: FailedActivity[]
}

/** Events of a saga that has become Ended or Error, by its status, or resolved. */
export function decided(saga: SagaNews, activities: FailedActivity[]): SagaOccurrence[] {
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
 * One delivery for every webhook that subscribes to the event.
 *
 * @param externalUrl base of links; undefined: no links
 */
export function sagaDeliveries(
  occurrence: SagaOccurrence,
  webhooks: readonly SagaWebhook[],
  externalUrl: string | undefined,
): NewDelivery[] {
  const { event, tenant, saga } = occurrence
  const interested = webhooks.filter(
    (webhook) =>
      webhook.tenant === tenant &&
      webhook.events.includes(event) &&
      (webhook.serviceName === null || webhook.serviceName === saga?.serviceName),
  )
  if (interested.length === 0) return []
  const payload = JSON.stringify(payloadOf(occurrence, externalUrl))
  const dedupeKey = dedupeKeyOf(occurrence)
  return deliveriesTo(interested, { event, dedupeKey, payload })
}

/** Equal for the same event. A saga ends once, may fail again after it was resolved; a flag may be set again later. */
function dedupeKeyOf({ event, saga, flag }: SagaOccurrence): string {
  if (flag) return JSON.stringify([event, flag.sagaId, flag.activityId, flag.since])
  const episode = event === 'saga.ended' ? [] : [saga?.resolvedAt ?? null]
  return JSON.stringify([event, saga?.id, ...episode])
}

function payloadOf(
  { event, tenant, saga, flag, activities }: SagaOccurrence,
  externalUrl: string | undefined,
) {
  return {
    event,
    tenant,
    saga: saga && {
      saga_id: saga.id,
      service_name: saga.serviceName,
      status: saga.status,
      outcome: saga.outcome,
      first_seen_at: saga.firstSeenAt,
      started_at: saga.startedAt,
      ended_at: saga.endedAt,
      resolved_at: saga.resolvedAt,
      last_event_at: saga.lastEventAt,
      url: externalUrl === undefined ? null : urlOf(saga, externalUrl),
    },
    flag: flag && { kind: flag.kind, activity_id: flag.activityId || null, since: flag.since },
    activities: activities.map((activity) => ({
      activity_id: activity.id,
      status: activity.status,
      execute_errors: activity.executeErrors,
      compensate_errors: activity.compensateErrors,
    })),
  }
}

const urlOf = ({ tenant, id }: SagaNews, externalUrl: string) =>
  `${externalUrl.replace(/(?<!\/)\/+$/, '')}/api/v4/sagas/${encodeURIComponent(id)}?tenant=${encodeURIComponent(tenant)}`
