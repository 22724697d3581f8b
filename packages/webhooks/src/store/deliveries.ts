import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { DatabaseOrTransaction, Pooled, Rows, WebhookDelivery } from '@switchyard/db'
import {
  type Column,
  column,
  insertInto,
  integer,
  json,
  query,
  queryOf,
  type Transaction,
  text,
  time,
} from '@switchyard/db/sql'
import { notFound, writtenBody } from '@switchyard/domain'
import type { Webhook } from './hooks.js'

export interface NewDelivery {
  webhookId: number
  event: string
  /** Key of the event. A webhook gets at most one delivery for each key. */
  dedupeKey: string
  payload: string
  /** Further headers besides those of every delivery. */
  requestHeaders?: Record<string, string>
}

const newDeliveries: readonly Column<NewDelivery>[] = [
  column(integer('webhook_id'), ({ webhookId }) => webhookId),
  column(text('event'), ({ event }) => event),
  column(text('dedupe_key'), ({ dedupeKey }) => dedupeKey),
  column(text('payload'), ({ payload }) => payload),
  column(json('request_headers'), ({ requestHeaders = {} }) => requestHeaders),
  column({ ...time('next_attempt_at'), expression: 'now()' }, () => null),
]

const insertDeliveries = insertInto(
  'add-webhook-deliveries',
  'webhook_deliveries',
  newDeliveries,
  'ON CONFLICT (webhook_id, dedupe_key) DO NOTHING RETURNING id',
)

/** Characters of bodies after which they are stored, so that few of many bodies are in memory at once. */
const charactersAtOnce = 4 * 1024 * 1024
/** Time for which bodies are made before other work gets a turn. */
const turnMs = 20

/**
 * Stores deliveries for the worker to send. Pass a transaction to store them within it. Deliveries that are
 * made while they are stored neither fill the memory nor hold up other work.
 *
 * @returns ids of the new deliveries
 */
export async function enqueueDeliveries(
  transaction: Transaction | Pooled['pool'],
  deliveries: Iterable<NewDelivery>,
): Promise<string[]> {
  const ids: string[] = []
  let some: NewDelivery[] = []
  let characters = 0
  const store = async () => {
    const rows = await query<{ id: string }>(transaction, queryOf(insertDeliveries, some))
    ids.push(...rows.map(({ id }) => id))
    some = []
    characters = 0
  }
  let turnBegan = performance.now()
  for (const delivery of deliveries) {
    some.push(delivery)
    characters += delivery.payload.length
    if (characters >= charactersAtOnce) await store()
    if (performance.now() - turnBegan < turnMs) continue
    await yieldToEventLoop()
    turnBegan = performance.now()
  }
  if (some.length > 0) await store()
  return ids
}

/**
 * Stores a delivery for every webhook of a project that subscribes to an event. Pass a transaction to
 * store them within it.
 *
 * @param make called only when there is such a webhook
 * @param accepts returns whether a subscribed webhook receives this event. Unset: each does
 */
export async function enqueueForProject(
  transaction: Transaction | Pooled['pool'],
  projectId: number,
  event: string,
  make: () => Promise<Omit<NewDelivery, 'webhookId'>> | Omit<NewDelivery, 'webhookId'>,
  accepts: (webhook: SubscribedWebhook) => Promise<boolean> = async () => true,
): Promise<void> {
  const rows = await listSubscribed(transaction, projectId, event)
  const accepted = await Promise.all(rows.map(accepts))
  const subscribed = rows.filter((_, index) => accepted[index])
  if (subscribed.length === 0) return
  const delivery = await make()
  await enqueueDeliveries(transaction, deliveriesTo(subscribed, delivery))
}

/** Returns whether a webhook of a project subscribes to an event. */
export const hasSubscriber = async (
  pool: Pooled['pool'],
  projectId: number,
  event: string,
): Promise<boolean> => (await listSubscribed(pool, projectId, event)).length > 0

const listSubscribed = (
  connection: Transaction | Pooled['pool'],
  projectId: number,
  event: string,
): Promise<SubscribedWebhook[]> =>
  query<SubscribedWebhook>(connection, {
    name: 'webhooks-of-project-event',
    text: `SELECT id, branch_filter AS "branchFilter", branch_filter_strategy AS "branchFilterStrategy",
        body_template AS "bodyTemplate", message_format AS "messageFormat"
      FROM webhooks WHERE scope = 'project' AND project_id = $1 AND enabled AND $2 = ANY (events)`,
    values: [projectId, event],
  })

/** A webhook that receives deliveries, with the form of their bodies. */
export type Recipient = Pick<Webhook, 'id' | 'bodyTemplate' | 'messageFormat'>

type SubscribedWebhook = Recipient & Pick<Webhook, 'branchFilter' | 'branchFilterStrategy'>

/**
 * Yields one delivery for each webhook, with its body in the form of the webhook. The templates of these
 * webhooks share the limits of one template, so that the bodies of one event stay small together.
 */
export function* deliveriesTo(
  webhooks: readonly Recipient[],
  delivery: Omit<NewDelivery, 'webhookId'>,
): Generator<NewDelivery> {
  const templates = webhooks.filter(({ bodyTemplate }) => bodyTemplate !== null).length
  for (const webhook of webhooks) yield { ...writtenFor(webhook, delivery, templates), webhookId: webhook.id }
}

/**
 * Returns a delivery with its body in the form of a webhook, and the type of the body when it is not JSON.
 *
 * @param sharedBy number of bodies by templates that share their limits. Unset: 1
 */
export function writtenFor<Delivery extends Pick<NewDelivery, 'event' | 'payload' | 'requestHeaders'>>(
  webhook: Pick<Webhook, 'bodyTemplate' | 'messageFormat'>,
  delivery: Delivery,
  sharedBy = 1,
): Delivery {
  const { payload, contentType } = writtenBody(webhook, delivery, sharedBy)
  const type = contentType === undefined ? {} : { 'Content-Type': contentType }
  return { ...delivery, payload, requestHeaders: { ...delivery.requestHeaders, ...type } }
}

/** Fields that a list leaves out, because they may be large. */
const unlisted = {
  payload: true,
  requestHeaders: true,
  responseHeaders: true,
  responseBody: true,
} as const

/** A delivery without the request and the response. */
export type ListedDelivery = Omit<WebhookDelivery, keyof typeof unlisted>

/** Lists one page of a webhook's deliveries, newest first, with the number of all of them. */
export async function listDeliveries(
  { prisma }: DatabaseOrTransaction,
  { webhookId, state }: { webhookId: number; state?: string },
  rows: Rows,
): Promise<{ deliveries: ListedDelivery[]; total: number }> {
  const where = { webhookId, state }
  const [deliveries, total] = await Promise.all([
    prisma.webhookDelivery.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      omit: unlisted,
      ...rows,
    }),
    prisma.webhookDelivery.count({ where }),
  ])
  return { deliveries, total }
}

/** @throws DomainError not-found */
export async function getDelivery(
  { prisma }: DatabaseOrTransaction,
  webhookId: number,
  id: string,
): Promise<WebhookDelivery> {
  const delivery = await prisma.webhookDelivery.findUnique({ where: { webhookId_id: { webhookId, id } } })
  if (!delivery) throw notFound('Delivery')
  return delivery
}

/**
 * Makes a delivery due now, with its id unchanged and its number of attempts reset.
 *
 * @throws DomainError not-found
 */
export async function redeliver(
  { prisma }: DatabaseOrTransaction,
  webhookId: number,
  id: string,
  now: Date,
): Promise<WebhookDelivery> {
  const [delivery] = await prisma.webhookDelivery.updateManyAndReturn({
    where: { webhookId, id },
    data: { state: 'pending', attempts: 0, nextAttemptAt: now },
  })
  if (!delivery) throw notFound('Delivery')
  return delivery
}
