import { messageFormats } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { defaultTenant } from '@switchyard/domain/saga'
import {
  accepted,
  administrator,
  auditAuthor,
  created,
  emptyAs,
  endpoint,
  filledText,
  flag,
  list,
  noContent,
  ok,
  oneOf,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  rowId,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import {
  addWebhook,
  bodyParameters,
  changeWebhook,
  deliveryShape,
  getWebhook,
  getWebhookDelivery,
  listedDeliveryShape,
  listWebhookDeliveries,
  listWebhooks,
  presentDelivery,
  presentListedDelivery,
  presentWebhookState,
  previewBody,
  previewShape,
  redeliverWebhook,
  removeWebhook,
  sagaWebhookEvents,
  testWebhook,
  type Webhook,
  webhookStateShape,
} from '@switchyard/webhooks'
import { z } from 'zod'
import { identifierCharsMax, tenantParameter } from '../shapes/parameters.js'
import { tenantRoute } from '../tenants.js'
import type { WebhookDependencies } from './webhooks.js'
import * as webhooks from './webhooks.js'

const base = '/sagas/webhooks'

/** Endpoints for webhooks about sagas. */
export const webhookRoutes = (deps: WebhookDependencies): Route[] => [
  tenantRoute('GET', base, administrator, listHooks(deps)),
  tenantRoute('POST', base, administrator, createHook(deps)),
  tenantRoute('POST', `${base}/preview`, administrator, previewHook(deps)),
  tenantRoute('GET', `${base}/:id`, administrator, getHook(deps)),
  tenantRoute('PUT', `${base}/:id`, administrator, updateHook(deps)),
  tenantRoute('DELETE', `${base}/:id`, administrator, deleteHook(deps)),
  tenantRoute('POST', `${base}/:id/test`, administrator, testHook(deps)),
  tenantRoute('GET', `${base}/:id/deliveries`, administrator, listDeliveries(deps)),
  tenantRoute('GET', `${base}/:id/deliveries/:delivery_id`, administrator, getDelivery(deps)),
  tenantRoute('POST', `${base}/:id/deliveries/:delivery_id/redeliver`, administrator, redeliver(deps)),
]

const webhookShape = z
  .object({
    id: z.int(),
    tenant: z.string().nullable(),
    url: z.string(),
    events: z.array(oneOf(sagaWebhookEvents)),
    service_name: z.string().nullable(),
    custom_webhook_template: z.string().nullable(),
    message_format: oneOf(messageFormats).nullable(),
    ...webhookStateShape,
  })
  .meta({ id: 'SagaWebhook', description: 'A webhook for sagas, with its settings and its recent failures' })

/** Returns a webhook for administrators. Its secret can be written but not read. */
const presentWebhook = (webhook: Webhook): z.output<typeof webhookShape> => ({
  id: webhook.id,
  tenant: webhook.tenant,
  url: webhook.url,
  events: webhook.events,
  service_name: webhook.serviceName,
  custom_webhook_template: webhook.bodyTemplate,
  message_format: webhook.messageFormat,
  ...presentWebhookState(webhook),
})

/** A service name or null. A form cannot send null, so an empty text means null. */
const serviceName = () => emptyAs(null, text(identifierCharsMax).nullable())

/** A list of events. A form with one event sends a text instead. */
const events = () => z.preprocess((value) => (typeof value === 'string' ? [value] : value), list(text()))

/** The fields of a webhook, each optional. The rules of webhooks check their values. */
const optionalWebhookParameters = {
  url: filledText().optional(),
  secret: filledText().optional(),
  events: events().optional(),
  service_name: serviceName().optional(),
  enabled: flag().optional(),
  ...bodyParameters,
}

/**
 * Returns the fields that determine the body, under their column names. Null and the empty text mean none;
 * missing fields stay out.
 */
const bodyFields = ({
  custom_webhook_template: template,
  message_format: format,
}: z.output<z.ZodObject<typeof bodyParameters>>) => ({
  ...(template === undefined ? {} : { bodyTemplate: template || null }),
  ...(format === undefined ? {} : { messageFormat: format || null }),
})

const requiredWebhookParameters = {
  url: filledText(),
  secret: filledText(),
  events: events(),
}

const listHooks = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'List the webhooks for sagas',
    replies: { 200: z.array(webhookShape) },
    input: z.object({ ...pageParameters, tenant: filledText().optional() }),
    async handle({ tenant, ...page }, _caller, call) {
      const owner = tenant === undefined ? webhooks.ofSagas : ({ scope: 'saga', tenant } as const)
      const found = await listWebhooks(database, owner, rowsOf(page))
      return pageReply(found.webhooks.map(presentWebhook), page, found.total, call)
    },
  })

const createHook = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Create a webhook for sagas',
    replies: { 201: webhookShape },
    refusals: [422],
    input: z.object({
      ...optionalWebhookParameters,
      ...requiredWebhookParameters,
      tenant: filledText(identifierCharsMax).default(defaultTenant),
    }),
    async handle(
      { tenant, service_name: serviceName = null, enabled = true, url, secret, events, ...given },
      caller: Caller,
      call,
    ) {
      const fields = {
        ...bodyFields(given),
        url,
        secret,
        events,
        serviceName,
        enabled,
        createdBy: caller.user.id,
      }
      const owner = { scope: 'saga', tenant } as const
      const rules = webhooks.rulesOf(deps)
      const author = auditAuthor(caller, call)
      return created(presentWebhook(await addWebhook(deps.database, owner, fields, rules, author)))
    },
  })

const previewHook = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Preview what a webhook would send for an event of a sample saga',
    replies: { 200: previewShape },
    input: z.object({
      ...tenantParameter,
      event: z.enum(sagaWebhookEvents),
      ...bodyParameters,
    }),
    async handle({ event, tenant, ...given }) {
      const choice = { bodyTemplate: null, messageFormat: null, ...bodyFields(given) }
      return ok(await previewBody(choice, webhooks.sampleOf(event, tenant), webhooks.rulesOf(deps)))
    },
  })

const getHook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Get a webhook for sagas',
    replies: { 200: webhookShape },
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller) {
      const webhook = await getWebhook(database, webhooks.ownerFor(caller, tenant), id)
      return versioned(presentWebhook(webhook), webhook)
    },
  })

const updateHook = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Change a webhook for sagas',
    replies: { 200: webhookShape },
    refusals: [412],
    input: z.object({ ...optionalWebhookParameters, id: rowId(), ...tenantParameter }),
    async handle(
      { id, tenant, service_name: serviceName, url, secret, events, enabled, ...given },
      caller: Caller,
      call,
    ) {
      const changes = { ...bodyFields(given), url, secret, events, enabled, serviceName }
      const change = { id, changes, precondition: preconditionOf(call) }
      const owner = webhooks.ownerFor(caller, tenant)
      const rules = webhooks.rulesOf(deps)
      const author = auditAuthor(caller, call)
      const webhook = await changeWebhook(deps.database, owner, change, rules, author)
      return versioned(presentWebhook(webhook), webhook)
    },
  })

const deleteHook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Delete a webhook for sagas and its deliveries',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller, call) {
      const wanted = { id, precondition: preconditionOf(call) }
      const owner = webhooks.ownerFor(caller, tenant)
      await removeWebhook(database, owner, wanted, auditAuthor(caller, call))
      return noContent()
    },
  })

const testHook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Send a test event to a webhook for sagas',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter }),
    handle: async ({ id, tenant }, caller: Caller) =>
      accepted(presentDelivery(await testWebhook(database, webhooks.ownerFor(caller, tenant), id))),
  })

const listDeliveries = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'List the deliveries of a webhook for sagas, newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      id: rowId(),
      ...tenantParameter,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ id, tenant, state, ...page }, caller: Caller, call) {
      const owner = webhooks.ownerFor(caller, tenant)
      const wanted = { webhookId: id, state }
      const { deliveries, total } = await listWebhookDeliveries(database, owner, wanted, rowsOf(page))
      return pageReply(deliveries.map(presentListedDelivery), page, total, call)
    },
  })

const getDelivery = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Get a delivery about sagas with its request and response',
    replies: { 200: deliveryShape },
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const owner = webhooks.ownerFor(caller, tenant)
      return ok(presentDelivery(await getWebhookDelivery(database, owner, id, deliveryId)))
    },
  })

const redeliver = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Resend a delivery about sagas',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const delivery = await redeliverWebhook(database, webhooks.ownerFor(caller, tenant), id, deliveryId)
      return accepted(presentDelivery(delivery))
    },
  })
