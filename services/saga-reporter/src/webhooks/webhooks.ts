import type { AuditAuthor, Database } from '@switchyard/db'
import type { Precondition } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import type { TargetPolicy } from '@switchyard/outbound-http'
import {
  addWebhook,
  auditedWebhook,
  changeWebhook,
  type HookRules,
  removeWebhook,
  type SagaOccurrence,
  type SecretBox,
  sagaPayload,
  sagaWebhookEvents,
  type Webhook,
  type WebhookOwner,
} from '@switchyard/webhooks'

export { getWebhook, listWebhooks } from '@switchyard/webhooks'

export interface WebhookDependencies {
  database: Database
  policy: TargetPolicy
  secretBox: SecretBox
}

/** The webhooks of sagas of every tenant; administrators see all of them. */
export const ofSagas: WebhookOwner = { scope: 'saga' }

/**
 * Returns the webhooks that a caller may address by id: for a token that is bound to tenants, only those of
 * the given tenant.
 */
export const webhooksFor = (caller: Caller, tenant: string): WebhookOwner =>
  boundTenantsOf(caller) === null ? ofSagas : { scope: 'saga', tenant }

export const rulesOf = ({ policy, secretBox }: WebhookDependencies): HookRules => ({
  policy,
  knownEvents: sagaWebhookEvents,
  eventsMin: 1,
  secret: { parameter: 'secret', lengthMin: 16 },
  secretBox,
})

/**
 * @throws DomainError invalid, with the problems by field; unavailable when there is no key to encrypt the
 *   secret
 */
export const createWebhook = (
  dependencies: WebhookDependencies,
  tenant: string,
  fields: Parameters<typeof addWebhook>[2],
  author: AuditAuthor,
): Promise<Webhook> =>
  auditedWebhook(dependencies.database, author, 'webhook_created', (transaction) =>
    addWebhook(transaction, { scope: 'saga', tenant }, fields, rulesOf(dependencies)),
  )

/** @throws DomainError not-found; precondition-failed; the errors of `createWebhook` */
export const updateWebhook = (
  dependencies: WebhookDependencies,
  owner: WebhookOwner,
  change: Parameters<typeof changeWebhook>[2],
  author: AuditAuthor,
): Promise<Webhook> =>
  auditedWebhook(dependencies.database, author, 'webhook_changed', (transaction) =>
    changeWebhook(transaction, owner, change, rulesOf(dependencies)),
  )

/**
 * Deletes a webhook and its deliveries.
 *
 * @throws DomainError not-found; precondition-failed
 */
export const deleteWebhook = (
  database: Database,
  owner: WebhookOwner,
  { id, precondition }: { id: number; precondition: Precondition | undefined },
  author: AuditAuthor,
): Promise<Webhook> =>
  auditedWebhook(database, author, 'webhook_deleted', (transaction) =>
    removeWebhook(transaction, owner, id, precondition),
  )

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
