import type { Caller } from '@switchyard/domain/access'
import { defaultTenant } from '@switchyard/domain/saga'
import {
  accepted,
  administrator,
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  ok,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  rowId,
  rowsOf,
  versioned,
} from '@switchyard/service-kit/http'
import {
  addWebhook,
  auditedWebhook,
  changeWebhook,
  deliveryShape,
  listedDeliveryShape,
  presentDelivery,
  presentListedDelivery,
  previewBody,
  previewShape,
  redeliverWebhook,
  removeWebhook,
  sagaWebhookEvents,
  testWebhook as sendTest,
} from '@switchyard/webhooks'
import { z } from 'zod'
import { identifierCharsMax, tenantParameter } from '../shapes/parameters.js'
import { tenantRoute } from '../shapes/tenants.js'
import {
  bodyFields,
  getDelivery as findDelivery,
  getWebhook as findWebhook,
  ofSagas,
  optionalWebhookParameters,
  pageDeliveries,
  pageWebhooks,
  presentWebhook,
  requiredWebhookParameters,
  rulesOf,
  sampleOf,
  type WebhookDependencies,
  webhookShape,
  webhooksFor,
} from './webhooks.js'

/** `GET /sagas/webhooks`: of every tenant, or of one. */
const listWebhooks = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Webhooks of sagas, of every tenant or of one',
    replies: { 200: z.array(webhookShape) },
    input: z.object({ ...pageParameters, tenant: filledText().optional() }),
    async handle({ tenant, ...page }, _caller, call) {
      const owner = tenant === undefined ? ofSagas : ({ scope: 'saga', tenant } as const)
      const { webhooks, total } = await pageWebhooks(database, owner, rowsOf(page))
      return pageReply(webhooks.map(presentWebhook), page, total, call)
    },
  })

/** `POST /sagas/webhooks` */
const createWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    summary: 'Tell a server of sagas',
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
      const owner = { scope: 'saga', tenant } as const
      const author = auditAuthor(caller, call)
      const webhook = await auditedWebhook(dependencies.database, author, 'webhook_created', (transaction) =>
        addWebhook(transaction, owner, fields, rulesOf(dependencies)),
      )
      return created(presentWebhook(webhook))
    },
  })

/** `POST /sagas/webhooks/preview` */
const previewWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    summary: 'Show what a webhook would send of an event of a made-up saga; nothing is sent',
    replies: { 200: previewShape },
    input: z.object({
      ...tenantParameter,
      event: z.enum(sagaWebhookEvents),
      custom_webhook_template: optionalWebhookParameters.custom_webhook_template,
      message_format: optionalWebhookParameters.message_format,
    }),
    async handle({ event, tenant, ...given }) {
      const choice = { bodyTemplate: null, messageFormat: null, ...bodyFields(given) }
      return ok(await previewBody(choice, sampleOf(event, tenant), rulesOf(dependencies)))
    },
  })

/** `GET /sagas/webhooks/:id` */
const getWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One webhook',
    replies: { 200: webhookShape },
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller) {
      const webhook = await findWebhook(database, webhooksFor(caller, tenant), id)
      return versioned(presentWebhook(webhook), webhook)
    },
  })

/** `PUT /sagas/webhooks/:id`: changes what is given. */
const updateWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    summary: 'Change a webhook',
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
      const webhook = await auditedWebhook(dependencies.database, author, 'webhook_changed', (transaction) =>
        changeWebhook(transaction, webhooksFor(caller, tenant), change, rulesOf(dependencies)),
      )
      return versioned(presentWebhook(webhook), webhook)
    },
  })

/** `DELETE /sagas/webhooks/:id`, with the log of its deliveries. */
const deleteWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Delete a webhook with the log of its deliveries',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: rowId(), ...tenantParameter }),
    async handle({ id, tenant }, caller: Caller, call) {
      await auditedWebhook(database, auditAuthor(caller, call), 'webhook_deleted', (transaction) =>
        removeWebhook(transaction, webhooksFor(caller, tenant), id, preconditionOf(call)),
      )
      return noContent()
    },
  })

/** `POST /sagas/webhooks/:id/test`: the worker sends it soon; the delivery shows the result. */
const testWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Send a test to a webhook',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter }),
    handle: async ({ id, tenant }, caller: Caller) =>
      accepted(presentDelivery(await sendTest(database, webhooksFor(caller, tenant), id))),
  })

/** `GET /sagas/webhooks/:id/deliveries`, newest first. */
const listDeliveries = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'What a webhook was told, the newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      id: rowId(),
      ...tenantParameter,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ id, tenant, state, ...page }, caller: Caller, call) {
      const wanted = { webhookId: id, state }
      const { deliveries, total } = await pageDeliveries(
        database,
        webhooksFor(caller, tenant),
        wanted,
        rowsOf(page),
      )
      return pageReply(deliveries.map(presentListedDelivery), page, total, call)
    },
  })

/** `GET /sagas/webhooks/:id/deliveries/:delivery_id` */
const getDelivery = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const wanted = { webhookId: id, deliveryId }
      const delivery = await findDelivery(database, webhooksFor(caller, tenant), wanted)
      return ok(presentDelivery(delivery))
    },
  })

/** `POST /sagas/webhooks/:id/deliveries/:delivery_id/redeliver`: sends it again soon, under the same id. */
const redeliver = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Send a delivery again',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter, delivery_id: z.uuid() }),
    async handle({ id, tenant, delivery_id: deliveryId }, caller: Caller) {
      const delivery = await redeliverWebhook(database, webhooksFor(caller, tenant), id, deliveryId)
      return accepted(presentDelivery(delivery))
    },
  })

const base = '/sagas/webhooks'

/** The routes of webhooks that are called about sagas. */
export const webhookRoutes = (dependencies: WebhookDependencies): Route[] => [
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
