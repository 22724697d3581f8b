import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  accepted,
  auditAuthor,
  type Call,
  created,
  endpoint,
  filledText,
  flag,
  list,
  noContent,
  ok,
  pageParameters,
  pageReply,
  preconditionOf,
  type Reply,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import {
  bodyParameters,
  branchFilterStrategies,
  changeWebhookHeader,
  deliveryShape,
  getWebhook,
  getWebhookDelivery,
  listedDeliveryShape,
  listWebhookDeliveries,
  listWebhooks,
  type ProjectWebhookEvent,
  presentDelivery,
  presentListedDelivery,
  previewShape,
  redeliverWebhook,
  removeWebhook,
  type SilentProjectEvent,
  silentProjectEvents,
} from '@switchyard/webhooks'
import { z } from 'zod'
import type { ProjectCall } from '../guards.js'
import { optional } from '../shapes/parameters.js'
import { hookShape, presentHook } from './present.js'
import * as testDeliveries from './test-deliveries.js'
import type { EventChoices, WebhookDependencies } from './webhooks.js'
import * as webhooks from './webhooks.js'

export function hookRoutes(deps: WebhookDependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/hooks'
  const deliveries = `${path}/:hook_id/deliveries`
  const header = `${path}/:hook_id/custom_headers/:key`
  return [
    route('GET', path, maintain, listHooks(deps.database)),
    route('POST', path, maintain, createHook(deps)),
    route('POST', `${path}/preview`, maintain, previewHook(deps), { refusesUnknown: true }),
    route('GET', `${path}/:hook_id`, maintain, getHook(deps.database)),
    route('PUT', `${path}/:hook_id`, maintain, updateHook(deps)),
    route('DELETE', `${path}/:hook_id`, maintain, deleteHook(deps.database)),
    route('PUT', header, maintain, setHookHeader(deps)),
    route('DELETE', header, maintain, deleteHookHeader(deps)),
    route('POST', `${path}/:hook_id/test/:trigger`, maintain, testHook(deps.database)),
    route('GET', deliveries, maintain, listDeliveries(deps.database), { refusesUnknown: true }),
    route('GET', `${deliveries}/:delivery_id`, maintain, getDelivery(deps.database)),
    route('POST', `${deliveries}/:delivery_id/redeliver`, maintain, redeliver(deps.database)),
  ]
}

const hookId = { hook_id: rowId() }

/** Flags of the events that Switchyard has. */
const eventFlags = {
  push_events: optional(flag()),
  tag_push_events: optional(flag()),
  note_events: optional(flag()),
  job_events: optional(flag()),
  pipeline_events: optional(flag()),
  deployment_events: optional(flag()),
  deployment_impact_events: optional(flag()),
  impact_rule_events: optional(flag()),
  releases_events: optional(flag()),
} satisfies Record<EventFlag, unknown>

type EventFlag = `${ProjectWebhookEvent}_events`

const silentFlag = () =>
  optional(flag()).meta({ description: 'Kept and shown: these events do not happen here' })

/** Flags of the events that only GitLab has. */
const silentEventFlags = Object.fromEntries(
  silentProjectEvents.map((event) => [`${event}_events`, silentFlag()]),
) as Record<`${SilentProjectEvent}_events`, ReturnType<typeof silentFlag>>

/** The fields of a webhook, all optional. */
const optionalHookParameters = {
  url: filledText().optional(),
  token: text().nullish(),
  enabled: optional(flag()),
  name: text().nullish(),
  description: text().nullish(),
  push_events_branch_filter: text().nullish().meta({ description: 'Only pushes to these branches are sent' }),
  branch_filter_strategy: optional(z.enum(branchFilterStrategies)),
  enable_ssl_verification: optional(flag()),
  ...bodyParameters,
  custom_headers: optional(list(z.object({ key: filledText(), value: text() }), 20)).meta({
    description: 'The headers that replace all present ones. Values are never returned',
  }),
  url_variables: z
    .unknown()
    .optional()
    .refine((given) => given === undefined || given === null || given === '' || isEmptyList(given), {
      error: 'is not supported: addresses have no variables',
    })
    .meta({ description: 'Refused: addresses have no variables' }),
  ...eventFlags,
  ...silentEventFlags,
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

const eventOf = (flag: string) => flag.replace(/_events$/, '') as ProjectWebhookEvent

const choicesOf = (given: Record<string, unknown>): EventChoices =>
  Object.fromEntries(
    Object.keys({ ...eventFlags, ...silentEventFlags }).map((flag) => [eventOf(flag), given[flag]]),
  )

/** Returns undefined unchanged; null and the empty text become null. */
const textOrNull = (given: string | null | undefined) => (given === '' ? null : given)

const hookFields = (given: z.output<z.ZodObject<typeof optionalHookParameters>>) => ({
  events: choicesOf(given),
  name: textOrNull(given.name),
  description: textOrNull(given.description),
  branchFilter: textOrNull(given.push_events_branch_filter),
  branchFilterStrategy: given.branch_filter_strategy,
  verifyTls: given.enable_ssl_verification,
  bodyTemplate: textOrNull(given.custom_webhook_template),
  messageFormat: textOrNull(given.message_format),
  headers: given.custom_headers,
})

const listHooks = (database: Database) =>
  endpoint({
    summary: 'List the webhooks of a project',
    replies: { 200: z.array(hookShape) },
    input: z.object(pageParameters),
    async handle(page, { project }: ProjectCall, call) {
      const found = await listWebhooks(database, webhooks.ownerOf(project), rowsOf(page))
      return pageReply(found.webhooks.map(presentHook), page, found.total, call)
    },
  })

const createHook = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Add a webhook to a project',
    replies: { 201: hookShape },
    refusals: [422],
    input: z.object({ ...optionalHookParameters, url: filledText() }),
    async handle(given, access: ProjectCall<Caller>, call) {
      const { url, token, enabled = true } = given
      const fields = { ...hookFields(given), url, secret: textOrNull(token) ?? null, enabled }
      const author = auditAuthor(access.caller, call)
      return created(presentHook(await webhooks.addHook(deps, access, fields, author)))
    },
  })

const getHook = (database: Database) =>
  endpoint({
    summary: 'Get a webhook',
    replies: { 200: hookShape },
    input: z.object(hookId),
    async handle({ hook_id: id }, { project }: ProjectCall) {
      const hook = await getWebhook(database, webhooks.ownerOf(project), id)
      return versioned(presentHook(hook), hook)
    },
  })

const updateHook = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Change a webhook',
    replies: { 200: hookShape },
    refusals: [412],
    input: z.object({ ...optionalHookParameters, ...hookId }),
    async handle({ hook_id, ...given }, access: ProjectCall<Caller>, call) {
      const { url, token, enabled } = given
      const changes = { ...hookFields(given), url, secret: textOrNull(token), enabled }
      const author = auditAuthor(access.caller, call)
      const hook = await webhooks.changeHook(
        deps,
        access,
        { id: hook_id, changes },
        author,
        preconditionOf(call),
      )
      return versioned(presentHook(hook), hook)
    },
  })

const deleteHook = (database: Database) =>
  endpoint({
    summary: 'Delete a webhook and its deliveries',
    replies: { 204: null },
    refusals: [412],
    input: z.object(hookId),
    async handle({ hook_id: id }, { project, caller }: ProjectCall<Caller>, call) {
      const wanted = { id, precondition: preconditionOf(call) }
      await removeWebhook(database, webhooks.ownerOf(project), wanted, auditAuthor(caller, call))
      return noContent()
    },
  })

const headerKey = { ...hookId, key: text() }

/** Sets the value of a custom header; null deletes the header. */
async function changeHeader(
  deps: WebhookDependencies,
  change: { id: number; key: string; value: string | null },
  { project, caller }: ProjectCall<Caller>,
  call: Call,
): Promise<Reply> {
  const guarded = { ...change, precondition: preconditionOf(call) }
  const owner = webhooks.ownerOf(project)
  await changeWebhookHeader(deps.database, owner, guarded, webhooks.rulesOf(deps), auditAuthor(caller, call))
  return noContent()
}

const setHookHeader = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Set a custom header of a webhook; its value is never returned',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ ...headerKey, value: text() }),
    handle: ({ hook_id: id, key, value }, access: ProjectCall<Caller>, call) =>
      changeHeader(deps, { id, key, value }, access, call),
  })

const deleteHookHeader = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Delete a custom header of a webhook',
    replies: { 204: null },
    refusals: [412],
    input: z.object(headerKey),
    handle: ({ hook_id: id, key }, access: ProjectCall<Caller>, call) =>
      changeHeader(deps, { id, key, value: null }, access, call),
  })

/** Answers before the delivery is sent; the route of the delivery shows its outcome. */
const testHook = (database: Database) =>
  endpoint({
    summary: 'Test a webhook: send the newest event of a kind again',
    replies: { 201: z.object({ message: z.string(), ...deliveryShape.shape }) },
    refusals: [409],
    input: z.object({ ...hookId, trigger: z.enum(Object.keys(eventFlags) as [EventFlag]) }),
    async handle({ hook_id: hookId, trigger }, access: ProjectCall<Caller>, call) {
      const delivery = await testDeliveries.testHook(
        database,
        access,
        { hookId, event: eventOf(trigger) },
        call,
      )
      return created({ message: '201 Created', ...presentDelivery(delivery) })
    },
  })

const previewHook = (deps: WebhookDependencies) =>
  endpoint({
    summary: 'Preview what a webhook would send for the newest event of a kind',
    replies: { 200: previewShape },
    input: z.object({
      trigger: z.enum(Object.keys(eventFlags) as [EventFlag]),
      ...bodyParameters,
    }),
    async handle({ trigger, ...given }, access: ProjectCall<Caller>, call) {
      const choice = {
        event: eventOf(trigger),
        bodyTemplate: textOrNull(given.custom_webhook_template) ?? null,
        messageFormat: textOrNull(given.message_format) ?? null,
      }
      return ok(await testDeliveries.previewHook(deps, access, choice, call))
    },
  })

const deliveryIds = z.object({ ...hookId, delivery_id: z.uuid() })

const listDeliveries = (database: Database) =>
  endpoint({
    summary: 'List the deliveries of a webhook, newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      ...hookId,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ hook_id: webhookId, state, ...page }, { project }: ProjectCall, call) {
      const wanted = { webhookId, state }
      const owner = webhooks.ownerOf(project)
      const found = await listWebhookDeliveries(database, owner, wanted, rowsOf(page))
      return pageReply(found.deliveries.map(presentListedDelivery), page, found.total, call)
    },
  })

const getDelivery = (database: Database) =>
  endpoint({
    summary: 'Get a delivery with its request and response',
    replies: { 200: deliveryShape },
    input: deliveryIds,
    async handle({ hook_id: id, delivery_id: deliveryId }, { project }: ProjectCall) {
      const owner = webhooks.ownerOf(project)
      return ok(presentDelivery(await getWebhookDelivery(database, owner, id, deliveryId)))
    },
  })

const redeliver = (database: Database) =>
  endpoint({
    summary: 'Resend a delivery',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: deliveryIds,
    async handle({ hook_id: id, delivery_id: deliveryId }, { project }: ProjectCall) {
      const owner = webhooks.ownerOf(project)
      return accepted(presentDelivery(await redeliverWebhook(database, owner, id, deliveryId)))
    },
  })
