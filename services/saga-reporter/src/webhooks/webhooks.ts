import {
  type Database,
  listDeliveries as findDeliveries,
  getDelivery as findDelivery,
  getWebhook as findWebhook,
  listWebhooks as findWebhooks,
  type Webhook,
  type WebhookOwner,
} from '@switchyard/db'
import { messageFormats } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import { filledText, flag, list, oneOf, text } from '@switchyard/service-kit/http'
import {
  type HookRules,
  type SagaOccurrence,
  type SecretBox,
  sagaPayload,
  sagaWebhookEvents,
  type TargetPolicy,
} from '@switchyard/webhooks'
import { z } from 'zod'
import { identifierCharsMax } from '../shapes/parameters.js'

export interface WebhookDependencies {
  database: Database
  policy: TargetPolicy
  secretBox: SecretBox
}

/** The webhooks of sagas of every tenant; administrators see all of them. */
export const ofSagas: WebhookOwner = { scope: 'saga' }

/** The webhooks that a caller finds by their ids: those of the tenant named, for a token that is bound to tenants. */
export const webhooksFor = (caller: Caller, tenant: string): WebhookOwner =>
  boundTenantsOf(caller) === null ? ofSagas : { scope: 'saga', tenant }

export const rulesOf = ({ policy, secretBox }: WebhookDependencies): HookRules => ({
  policy,
  knownEvents: sagaWebhookEvents,
  eventsMin: 1,
  secret: { parameter: 'secret', lengthMin: 16 },
  secretBox,
})

/** A form cannot send null; an empty text stands for null. */
const serviceName = () =>
  z.preprocess((value) => (value === '' ? null : value), text(identifierCharsMax).nullable())

/** A form with one event sends a text instead of a list. */
const events = () => z.preprocess((value) => (typeof value === 'string' ? [value] : value), list(text()))

/** The fields of a webhook, each optional. The rules of webhooks check their values. */
export const optionalWebhookParameters = {
  url: filledText().optional(),
  secret: filledText().optional(),
  events: events().optional(),
  service_name: serviceName().optional(),
  enabled: flag().optional(),
  custom_webhook_template: text()
    .nullish()
    .meta({ description: 'JSON, a template of mustache with `{{path.of.a.field}}` for values of the event' }),
  message_format: text()
    .nullish()
    .meta({ description: 'A message for people instead of the event: slack, teams, mattermost or plain' }),
}

/** How the body is written, by the names of the rows. Null and the empty text stand for none; what is not given stays out. */
export const bodyFields = ({
  custom_webhook_template: template,
  message_format: format,
}: {
  custom_webhook_template?: string | null | undefined
  message_format?: string | null | undefined
}) => ({
  ...(template === undefined ? {} : { bodyTemplate: template || null }),
  ...(format === undefined ? {} : { messageFormat: format || null }),
})

export const requiredWebhookParameters = {
  url: filledText(),
  secret: filledText(),
  events: events(),
}

export const webhookShape = z
  .object({
    id: z.int(),
    tenant: z.string().nullable(),
    url: z.string(),
    events: z.array(oneOf(sagaWebhookEvents)),
    service_name: z.string().nullable(),
    custom_webhook_template: z.string().nullable(),
    message_format: oneOf(messageFormats).nullable(),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    disabled_at: z.date().nullable(),
    failing_since: z.date().nullable(),
    consecutive_failures: z.int(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({ id: 'SagaWebhook', description: 'Who is told of sagas, and how it has been going' })

/** A webhook as administrators see it. Its secret is written, never read. */
export const presentWebhook = (webhook: Webhook): z.output<typeof webhookShape> => ({
  id: webhook.id,
  tenant: webhook.tenant,
  url: webhook.url,
  events: webhook.events,
  service_name: webhook.serviceName,
  custom_webhook_template: webhook.bodyTemplate,
  message_format: webhook.messageFormat,
  enabled: webhook.enabled,
  disabled_reason: webhook.disabledReason,
  disabled_at: webhook.disabledAt,
  failing_since: webhook.failingSince,
  consecutive_failures: webhook.consecutiveFailures,
  created_at: webhook.createdAt,
  updated_at: webhook.updatedAt,
})

/** @throws DomainError not-found */
export const getWebhook = (database: Database, owner: WebhookOwner, id: number) =>
  findWebhook(database, owner, id)

/** A page of an owner's webhooks, and how many there are. */
export const pageWebhooks = (
  database: Database,
  owner: WebhookOwner,
  rows: Parameters<typeof findWebhooks>[2],
) => findWebhooks(database, owner, rows)

/**
 * One delivery of an owner's webhook.
 *
 * @throws DomainError not-found
 */
export async function getDelivery(
  database: Database,
  owner: WebhookOwner,
  { webhookId, deliveryId }: { webhookId: number; deliveryId: string },
) {
  await findWebhook(database, owner, webhookId)
  return findDelivery(database, webhookId, deliveryId)
}

/**
 * A page of the deliveries of an owner's webhook, the newest first, and how many there are.
 *
 * @throws DomainError not-found
 */
export async function pageDeliveries(
  database: Database,
  owner: WebhookOwner,
  wanted: Parameters<typeof findDeliveries>[1],
  rows: Parameters<typeof findDeliveries>[2],
) {
  await findWebhook(database, owner, wanted.webhookId)
  return findDeliveries(database, wanted, rows)
}

/** The payload of an event, about a saga that is made up. */
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
      status: isEnd ? 'Ended' : isFlag ? 'Executing' : 'Error',
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
