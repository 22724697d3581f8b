import { notFound, writtenBody } from '@switchyard/domain'
import type { DatabaseOrTransaction, Rows } from '../../client.js'
import type { Webhook, WebhookDelivery } from '../../generated/client.js'
import { column, integer, json, text, time } from '../../sql/row-columns.js'
import { type Column, insertInto, queryOf } from '../../sql/write-rows.js'

export interface NewDelivery {
  webhookId: number
  event: string
  /** Identifies the event. A webhook gets at most one delivery for each key. */
  dedupeKey: string
  payload: string
  /** Further headers besides those of every delivery. */
  requestHeaders?: Record<string, string>
}

/** The pool, or the client of a transaction. */
interface SqlClient {
  query<Row extends object>(statement: {
    name?: string
    text: string
    values: unknown[]
  }): Promise<{ rows: Row[] }>
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

/**
 * Stores deliveries for the worker to send. Pass the client of a transaction to store them within it.
 *
 * @returns ids of the new deliveries
 */
export async function enqueueDeliveries(
  client: SqlClient,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const { rows } = await client.query<{ id: string }>(queryOf(insertDeliveries, deliveries))
  return rows.map(({ id }) => id)
}

/**
 * Stores a delivery for every webhook of a project that subscribes to an event. Pass the client of a
 * transaction to store them within it.
 *
 * @param make called only when there is such a webhook
 * @param accepts whether a webhook that subscribes to the event is told of this one. Unset: each is
 */
export async function enqueueForProject(
  client: SqlClient,
  projectId: number,
  event: string,
  make: () => Promise<Omit<NewDelivery, 'webhookId'>> | Omit<NewDelivery, 'webhookId'>,
  accepts: (webhook: SubscribedWebhook) => Promise<boolean> = async () => true,
): Promise<void> {
  const { rows } = await client.query<SubscribedWebhook>({
    name: 'webhooks-of-project-event',
    text: `SELECT id, branch_filter AS "branchFilter", branch_filter_strategy AS "branchFilterStrategy",
        body_template AS "bodyTemplate", message_format AS "messageFormat"
      FROM webhooks WHERE scope = 'project' AND project_id = $1 AND enabled AND $2 = ANY (events)`,
    values: [projectId, event],
  })
  const accepted = await Promise.all(rows.map(accepts))
  const subscribed = rows.filter((_, index) => accepted[index])
  if (subscribed.length === 0) return
  const delivery = await make()
  await enqueueDeliveries(client, deliveriesTo(subscribed, delivery))
}

/** A webhook that gets deliveries, and how their bodies are written. */
export type Recipient = Pick<Webhook, 'id' | 'bodyTemplate' | 'messageFormat'>

type SubscribedWebhook = Recipient & Pick<Webhook, 'branchFilter' | 'branchFilterStrategy'>

/** One delivery for each webhook, with its body as the webhook has it. */
export const deliveriesTo = (
  webhooks: readonly Recipient[],
  delivery: Omit<NewDelivery, 'webhookId'>,
): NewDelivery[] => webhooks.map((webhook) => ({ ...writtenFor(webhook, delivery), webhookId: webhook.id }))

/** A delivery with its body as a webhook has it, and the type of the body when that is not JSON. */
export function writtenFor<Delivery extends Pick<NewDelivery, 'event' | 'payload' | 'requestHeaders'>>(
  webhook: Pick<Webhook, 'bodyTemplate' | 'messageFormat'>,
  delivery: Delivery,
): Delivery {
  const { payload, contentType } = writtenBody(webhook, delivery)
  const type = contentType === undefined ? {} : { 'Content-Type': contentType }
  return { ...delivery, payload, requestHeaders: { ...delivery.requestHeaders, ...type } }
}

/** The plain SQL of a transaction of Prisma, to store deliveries within it. */
export const sqlOf = ({ prisma }: DatabaseOrTransaction): SqlClient => ({
  query: async <Row>({ text, values }: { text: string; values: unknown[] }) => ({
    rows: await prisma.$queryRawUnsafe<Row[]>(text, ...values),
  }),
})

/** What a list leaves out, because it may be large. */
const unlisted = {
  payload: true,
  requestHeaders: true,
  responseHeaders: true,
  responseBody: true,
} as const

/** A delivery without the request and the response. */
export type ListedDelivery = Omit<WebhookDelivery, keyof typeof unlisted>

/** One page of a webhook's deliveries, newest first, and the number of all of them. */
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
