import {
  listDeliveries as findDeliveries,
  getDelivery as findDelivery,
  getWebhook as findWebhook,
  listWebhooks as findWebhooks,
  type Readable,
  type WebhookOwner,
} from '@switchyard/db'

type Database = Parameters<typeof findWebhook>[0] & Readable

/** @throws DomainError not-found */
export const getWebhook = (database: Database, owner: WebhookOwner, id: number) =>
  findWebhook(database, owner, id)

/** A page of an owner's webhooks, and how many there are. */
export const listWebhooks = (
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
export async function listDeliveries(
  database: Database,
  owner: WebhookOwner,
  wanted: Parameters<typeof findDeliveries>[1],
  rows: Parameters<typeof findDeliveries>[2],
) {
  await findWebhook(database, owner, wanted.webhookId)
  return findDeliveries(database, wanted, rows)
}
