import type { Caller } from '@switchyard/domain/access'
import {
  accepted,
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import {
  deliveryShape,
  listedDeliveryShape,
  type ProjectWebhookEvent,
  presentDelivery,
  presentListedDelivery,
} from '@switchyard/webhooks'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { hookShape, presentHook } from '../presenters/hook.js'
import * as hooks from '../use-cases/project-hooks.js'
import * as testing from '../use-cases/test-hook.js'
import { optional } from '../wire/parameters.js'

export function hookRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/hooks'
  const deliveries = `${path}/:hook_id/deliveries`
  return [
    route('GET', path, maintain, listHooks(deps)),
    route('POST', path, maintain, createHook(deps)),
    route('GET', `${path}/:hook_id`, maintain, getHook(deps)),
    route('PUT', `${path}/:hook_id`, maintain, updateHook(deps)),
    route('DELETE', `${path}/:hook_id`, maintain, deleteHook(deps)),
    route('POST', `${path}/:hook_id/test/:trigger`, maintain, testHook(deps)),
    route('GET', deliveries, maintain, listDeliveries(deps), { refusesUnknown: true }),
    route('GET', `${deliveries}/:delivery_id`, maintain, getDelivery(deps)),
    route('POST', `${deliveries}/:delivery_id/redeliver`, maintain, redeliver(deps)),
  ]
}

const hookId = { hook_id: rowId() }

/** GitLab has more kinds of events; their flags are ignored, as those events do not happen here. */
const eventFlags = {
  push_events: optional(flag()),
  tag_push_events: optional(flag()),
  note_events: optional(flag()),
  job_events: optional(flag()),
  pipeline_events: optional(flag()),
  deployment_events: optional(flag()),
  releases_events: optional(flag()),
} satisfies Record<EventFlag, unknown>

type EventFlag = `${ProjectWebhookEvent}_events`

/** The fields of a webhook, each of which may be left out. */
const optionalHookParameters = {
  url: filledText().optional(),
  token: text().nullish(),
  enabled: optional(flag()),
  ...eventFlags,
}

const eventOf = (flag: string) => flag.replace(/_events$/, '') as ProjectWebhookEvent

const choicesOf = (flags: Partial<Record<EventFlag, boolean | undefined>>): hooks.EventChoices =>
  Object.fromEntries(Object.entries(flags).map(([flag, chosen]) => [eventOf(flag), chosen]))

/** Undefined: the secret stays as it was. Null: none. */
const secretOf = (token: string | null | undefined) => (token === '' ? null : token)

const listHooks = (deps: Dependencies) =>
  endpoint({
    summary: 'Webhooks of a project',
    replies: { 200: z.array(hookShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const { webhooks, total } = await hooks.listHooks(deps, access, rowsOf(page))
      return pageReply(webhooks.map(presentHook), page, total, call)
    },
  })

const createHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Add a webhook to a project',
    replies: { 201: hookShape },
    input: z.object({ ...optionalHookParameters, url: filledText() }),
    async handle({ url, token, enabled = true, ...flags }, access: ProjectCall<Caller>, call) {
      const fields = { url, secret: secretOf(token) ?? null, enabled, events: choicesOf(flags) }
      const author = auditAuthor(access.caller, call)
      return created(presentHook(await hooks.addHook(deps, access, fields, author)))
    },
  })

const getHook = (deps: Dependencies) =>
  endpoint({
    summary: 'One webhook',
    replies: { 200: hookShape },
    input: z.object(hookId),
    handle: async ({ hook_id }, access: ProjectCall) =>
      ok(presentHook(await hooks.getHook(deps, access, hook_id))),
  })

const updateHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Change a webhook',
    replies: { 200: hookShape },
    input: z.object({ ...optionalHookParameters, ...hookId }),
    async handle({ hook_id, url, token, enabled, ...flags }, access: ProjectCall<Caller>, call) {
      const changes = { url, secret: secretOf(token), enabled, events: choicesOf(flags) }
      const author = auditAuthor(access.caller, call)
      return ok(presentHook(await hooks.changeHook(deps, access, hook_id, changes, author)))
    },
  })

const deleteHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a webhook with the log of its deliveries',
    replies: { 204: null },
    input: z.object(hookId),
    async handle({ hook_id }, access: ProjectCall<Caller>, call) {
      await hooks.removeHook(deps, access, hook_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })

/** The answer comes before the delivery is sent; the route of the delivery shows its outcome. */
const testHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Send the newest event of a kind to a webhook again',
    replies: { 201: z.object({ message: z.string(), ...deliveryShape.shape }) },
    refusals: [409],
    input: z.object({ ...hookId, trigger: z.enum(Object.keys(eventFlags) as [EventFlag]) }),
    async handle({ hook_id: hookId, trigger }, access: ProjectCall<Caller>, call) {
      const delivery = await testing.testHook(deps, access, { hookId, event: eventOf(trigger) }, call)
      return created({ message: '201 Created', ...presentDelivery(delivery) })
    },
  })

const deliveryIds = z.object({ ...hookId, delivery_id: z.uuid() })

const listDeliveries = (deps: Dependencies) =>
  endpoint({
    summary: 'Deliveries of a webhook, the newest first',
    replies: { 200: z.array(listedDeliveryShape) },
    input: z.object({
      ...pageParameters,
      ...hookId,
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
    }),
    async handle({ hook_id: hookId, state, ...page }, access: ProjectCall, call) {
      const found = await hooks.listHookDeliveries(deps, access, { hookId, state }, rowsOf(page))
      return pageReply(found.deliveries.map(presentListedDelivery), page, found.total, call)
    },
  })

const getDelivery = (deps: Dependencies) =>
  endpoint({
    summary: 'One delivery, with what was sent and answered',
    replies: { 200: deliveryShape },
    input: deliveryIds,
    handle: async ({ hook_id, delivery_id }, access: ProjectCall) =>
      ok(presentDelivery(await hooks.getHookDelivery(deps, access, hook_id, delivery_id))),
  })

const redeliver = (deps: Dependencies) =>
  endpoint({
    summary: 'Send a delivery again',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: deliveryIds,
    handle: async ({ hook_id, delivery_id }, access: ProjectCall) =>
      accepted(presentDelivery(await hooks.redeliverHook(deps, access, hook_id, delivery_id))),
  })
