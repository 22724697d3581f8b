import { notFound } from '@switchyard/domain'
import type pg from 'pg'
import type { DatabaseOrTransaction } from '../../client.js'
import type { WebhookDelivery } from '../../generated/client.js'

export interface NewDelivery {
  webhookId: number
  event: string
  /** What happened: a second delivery with the same key to the same webhook is not made. */
  dedupeKey: string
  /** The body as it will be sent. */
  payload: string
  /** Headers of this event besides those every delivery has. */
  requestHeaders?: Record<string, string>
}

const insertDeliveries = `INSERT INTO webhook_deliveries
    (webhook_id, event, dedupe_key, payload, request_headers, next_attempt_at)
  SELECT webhook_id, event, dedupe_key, payload, request_headers, now()
  FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::jsonb[])
    AS given (webhook_id, event, dedupe_key, payload, request_headers)
  ON CONFLICT (webhook_id, dedupe_key) DO NOTHING
  RETURNING id`

/**
 * Notes what has to be sent; the worker sends it soon. Part of the caller's transaction when it gets a client
 * that is in one.
 *
 * @returns ids of the deliveries that are new
 */
export async function enqueueDeliveries(
  client: Pick<pg.Pool | pg.PoolClient, 'query'>,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const { rows } = await client.query<{ id: string }>(insertDeliveries, [
    deliveries.map(({ webhookId }) => webhookId),
    deliveries.map(({ event }) => event),
    deliveries.map(({ dedupeKey }) => dedupeKey),
    deliveries.map(({ payload }) => payload),
    deliveries.map(({ requestHeaders }) => JSON.stringify(requestHeaders ?? {})),
  ])
  return rows.map(({ id }) => id)
}

/**
 * Notes a delivery for every webhook of a project that wants to be told of an event. Part of the caller's transaction
 * when it gets a client that is in one.
 *
 * @param make asked only when there is such a webhook
 */
export async function enqueueForProject(
  client: Pick<pg.Pool | pg.PoolClient, 'query'>,
  projectId: number,
  event: string,
  make: () => Promise<Omit<NewDelivery, 'webhookId'>> | Omit<NewDelivery, 'webhookId'>,
): Promise<void> {
  const { rows } = await client.query<{ id: number }>({
    name: 'webhooks-of-project-event',
    text: `SELECT id FROM webhooks WHERE scope = 'project' AND project_id = $1 AND enabled AND $2 = ANY (events)`,
    values: [projectId, event],
  })
  if (rows.length === 0) return
  const delivery = await make()
  await enqueueDeliveries(
    client,
    rows.map(({ id }) => ({ ...delivery, webhookId: id })),
  )
}

const listed = {
  payload: true,
  requestHeaders: true,
  responseHeaders: true,
  responseBody: true,
} as const

/** A delivery without what was sent and answered. */
export type ListedDelivery = Omit<WebhookDelivery, keyof typeof listed>

/** One page of a webhook's deliveries, newest first, and how many there are. */
export async function listDeliveries(
  { prisma }: DatabaseOrTransaction,
  { webhookId, state }: { webhookId: number; state?: string },
  rows: { skip: number; take: number },
): Promise<{ deliveries: ListedDelivery[]; total: number }> {
  const where = { webhookId, state }
  const [deliveries, total] = await Promise.all([
    prisma.webhookDelivery.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      omit: listed,
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
 * Makes a delivery due now, under the same id and with all of its attempts before it.
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
