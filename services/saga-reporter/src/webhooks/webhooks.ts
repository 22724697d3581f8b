import type { Database } from '@switchyard/db'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import type { TargetPolicy } from '@switchyard/outbound-http'
import {
  type HookRules,
  type SagaOccurrence,
  type SecretBox,
  sagaPayload,
  sagaWebhookEvents,
  type WebhookOwner,
} from '@switchyard/webhooks'

export interface WebhookDependencies {
  database: Database
  policy: TargetPolicy
  secretBox: SecretBox
}

/** The webhooks of sagas of every tenant; administrators see all of them. */
export const ofSagas: WebhookOwner = { scope: 'saga' }

/**
 * Returns the owner of the webhooks that a caller may address by id: for a token that is bound to tenants,
 * only the given tenant.
 */
export const ownerFor = (caller: Caller, tenant: string): WebhookOwner =>
  boundTenantsOf(caller) === null ? ofSagas : { scope: 'saga', tenant }

export const rulesOf = ({ policy, secretBox }: WebhookDependencies): HookRules => ({
  policy,
  knownEvents: sagaWebhookEvents,
  eventsMin: 1,
  secret: { parameter: 'secret', lengthMin: 16 },
  secretBox,
})

/** Returns the payload of an event about an invented saga. */
export function sampleOf(event: (typeof sagaWebhookEvents)[number], tenant: string) {
  const at = new Date('2026-01-31T12:00:00Z')
  const isEnd = event === 'saga.ended'
  const isFlag = !['saga.error', 'saga.ended', 'saga.resolved'].includes(event)
  const flag = {
    kind: event.slice('saga.'.length),
    sagaId: 'example',
    activityId: 'example-hotel',
    since: at,
  }
  const occurrence: SagaOccurrence = {
    event,
    tenant,
    saga: {
      tenant,
      id: 'example',
      serviceName: 'booking',
      status: isEnd ? 'Ended' : isFlag ? 'Started' : 'Error',
      outcome: isEnd ? 'succeeded' : null,
      firstSeenAt: at,
      startedAt: at,
      endedAt: isEnd ? at : null,
      resolvedAt: event === 'saga.resolved' ? at : null,
      lastEventAt: at,
    },
    flag: isFlag ? flag : null,
    activities: [
      {
        id: 'example-hotel',
        sagaId: 'example',
        status: 'CompensateAborted',
        executeErrors: null,
        compensateErrors: 'no such booking',
      },
    ],
  }
  return { event, payload: sagaPayload(occurrence, undefined) }
}
