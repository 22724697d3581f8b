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
  bodyParameters,
  deliveryShape,
  getWebhookDelivery,
  listedDeliveryShape,
  listWebhookDeliveries,
  presentDelivery,
  presentListedDelivery,
  presentWebhookState,
  previewBody,
  previewShape,
  redeliverWebhook,
  sagaWebhookEvents,
  testWebhook as sendTest,
  type Webhook,
  webhookStateShape,
} from '@switchyard/webhooks'
import { z } from 'zod'
import { identifierCharsMax, tenantParameter } from '../shapes/parameters.js'
import { tenantRoute } from '../tenants.js'
import * as hooks from './webhooks.js'

const base = '/sagas/webhooks'

/** Endpoints for webhooks about sagas. */
export const webhookRoutes = (dependencies: hooks.WebhookDependencies): Route[] => [
  tenantRoute('GET', base, administrator, listWebhooks(dependencies)),
  tenantRoute('POST', base, administrator, createWebhook(dependencies)),
  tenantRoute('POST', `${base}/preview`, administrator, previewWebhook(dependencies)),
  tenantRoute('GET', `${base}/:id`, administrator, getWebhook(dependencies)),
  tenantRoute('PUT', `${base}/:id`, administrator, updateWebhook(dependencies)),
  tenantRoute('DELETE', `${base}/:id`, administrator, deleteWebhook(dependencies)),
  tenantRoute('POST', `${base}/:id/test`, administrator, testWebhook(dependencies)),
  tenantRoute('GET', `${base}/:id/deliveries`, administrator, listDeliveries(dependencies)),
  tenantRoute('GET', `${base}/:id/deliveries/:delivery_id`, administrator, getDelivery(dependencies)),
  tenantRoute(
    'POST',
    `${base}/:id/deliveries/:delivery_id/redeliver`,
    administrator,
    redeliver(dependencies),
  ),
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

const listWebhooks = ({ database }: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'List the webhooks for sagas',
    replies: { 200: z.array(webhookShape) },
    input: z.object({ ...pageParameters, tenant: filledText().optional() }),
    async handle({ tenant, ...page }, _caller, call) {
      const owner = tenant === undefined ? hooks.ofSagas : ({ scope: 'saga', tenant } as const)
      const { webhooks, total } = await hooks.listWebhooks(database, owner, rowsOf(page))
      return pageReply(webhooks.map(presentWebhook), page, total, call)
    },
  })

const createWebhook = (dependencies: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'Create a webhook for sagas',
    replies: { 201: webhookShape },
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
      const author = auditAuthor(caller, call)
      return created(presentWebhook(await hooks.createWebhook(dependencies, tenant, fields, author)))
    },
  })

const previewWebhook = (dependencies: hooks.WebhookDependencies) =>
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
      return ok(await previewBody(choice, hooks.sampleOf(event, tenant), hooks.rulesOf(dependencies)))
    },
  })

const getWebhook = ({ database }: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'Get a webhook for sagas',
    replies: { 200: webhookShape },
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller) {
      const webhook = await hooks.getWebhook(database, hooks.webhooksFor(caller, tenant), id)
      return versioned(presentWebhook(webhook), webhook)
    },
  })

const updateWebhook = (dependencies: hooks.WebhookDependencies) =>
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
      const author = auditAuthor(caller, call)
      const owner = hooks.webhooksFor(caller, tenant)
      const webhook = await hooks.updateWebhook(dependencies, owner, change, author)
      return versioned(presentWebhook(webhook), webhook)
    },
  })

const deleteWebhook = ({ database }: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'Delete a webhook for sagas and its deliveries',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller, call) {
      const wanted = { id, precondition: preconditionOf(call) }
      const owner = hooks.webhooksFor(caller, tenant)
      await hooks.deleteWebhook(database, owner, wanted, auditAuthor(caller, call))
      return noContent()
    },
  })

const testWebhook = ({ database }: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'Send a test event to a webhook for sagas',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter }),
    handle: async ({ id, tenant }, caller: Caller) =>
      accepted(presentDelivery(await sendTest(database, hooks.webhooksFor(caller, tenant), id))),
  })

const listDeliveries = ({ database }: hooks.WebhookDependencies) =>
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
      const owner = hooks.webhooksFor(caller, tenant)
      const wanted = { webhookId: id, state }
      const { deliveries, total } = await listWebhookDeliveries(database, owner, wanted, rowsOf(page))
      return pageReply(deliveries.map(presentListedDelivery), page, total, call)
    },
  })

const getDelivery = ({ database }: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'Get a delivery about sagas with its request and response',
    replies: { 200: deliveryShape },
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const owner = hooks.webhooksFor(caller, tenant)
      return ok(presentDelivery(await getWebhookDelivery(database, owner, id, deliveryId)))
    },
  })

const redeliver = ({ database }: hooks.WebhookDependencies) =>
  endpoint({
    summary: 'Resend a delivery about sagas',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const delivery = await redeliverWebhook(database, hooks.webhooksFor(caller, tenant), id, deliveryId)
      return accepted(presentDelivery(delivery))
    },
  })
