/** A saga, as an event tells of it. */
export interface SagaNews {
  tenant: string
  id: string
  serviceName: string | null
  status: string
  outcome: string | null
  firstSeenAt: Date
  startedAt: Date | null
  endedAt: Date | null
  /** When an operator last resolved the saga. */
  resolvedAt: Date | null
  lastEventAt: Date
}

/** An activity with errors. Long error texts are cut. */
export interface FailedActivity {
  id: string
  sagaId: string
  status: string
  executeErrors: string | null
  compensateErrors: string | null
}

/** An event of a saga, or of an activity without a saga. */
export interface SagaOccurrence {
  event: string
  tenant: string
  /** Null: an activity without a saga. */
  saga: SagaNews | null
  /**
   * The flag that was set. Its `activityId` is empty for a flag of the saga itself. Null: the event is not
   * about a flag.
   */
  flag: { kind: string; sagaId: string; activityId: string; since: Date } | null
  /** Activities with errors. */
  activities: readonly FailedActivity[]
}

/**
 * Returns the body of a webhook of sagas, before the webhook writes it in its own form.
 *
 * @param externalUrl base of links, without a slash at its end; undefined: no links
 */
export const sagaPayload = (
  { event, tenant, saga, flag, activities }: SagaOccurrence,
  externalUrl: string | undefined,
): string =>
  JSON.stringify({
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
  })

const urlOf = ({ tenant, id }: SagaNews, externalUrl: string) =>
  `${externalUrl}/api/v4/sagas/${encodeURIComponent(id)}?tenant=${encodeURIComponent(tenant)}`
