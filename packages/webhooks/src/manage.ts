import { randomUUID } from 'node:crypto'
import {
  type AuditAuthor,
  type Database,
  type DatabaseOrTransaction,
  deletingMsMax,
  inTransaction,
  type PrismaTransaction,
  type Rows,
  recordAuditEvent,
  requireUnchanged,
  type WebhookDelivery,
} from '@switchyard/db'
import { type BodyChoice, conflict, type Precondition, unprocessable, writtenBody } from '@switchyard/domain'
import { hostnameOf } from '@switchyard/outbound-http'
import type { z } from 'zod'
import { type CustomHeader, sealHeaders } from './custom-headers.js'
import { testEvent } from './events.js'
import { checkHook, type HookRules } from './hook-rules.js'
import type { previewShape } from './present.js'
import { UnreadableSecret } from './secret-box.js'
import {
  enqueueDeliveries,
  getDelivery,
  listDeliveries,
  type NewDelivery,
  redeliver,
  writtenFor,
} from './store/deliveries.js'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  lockAndCountWebhooks,
  type NewWebhook,
  updateWebhook,
  type Webhook,
  type WebhookChanges,
  type WebhookOwner,
} from './store/hooks.js'
import { findSecret } from './store/secrets.js'
import { readSecret } from './stored-secrets.js'

/** Fields with the plain secret and headers, which are encrypted before they are stored. */
type WithPlainSecrets<Fields> = Omit<Fields, 'host' | 'secret' | 'headers'> & {
  secret?: string | null | undefined
  headers?: CustomHeader[] | undefined
}

/**
 * Changes a webhook and adds an audit entry in one transaction. The entry has only the host, because the rest
 * of a URL may contain a secret.
 */
export const audited = (
  database: Database,
  author: AuditAuthor,
  eventName: 'webhook_created' | 'webhook_changed' | 'webhook_deleted',
  change: (transaction: PrismaTransaction) => Promise<Webhook>,
): Promise<Webhook> =>
  inTransaction(
    database,
    async (transaction) => {
      const webhook = await change(transaction)
      const { id, scope, projectId, host, events, enabled } = webhook
      await recordAuditEvent(transaction, author, {
        eventName,
        entityType: projectId === null ? 'Webhook' : 'Project',
        entityId: projectId ?? id,
        details: { webhook_id: id, scope, host, events, enabled },
      })
      return webhook
    },
    // A webhook is deleted together with its log of deliveries.
    deletingMsMax,
  )

/**
 * Most webhooks of a project, as in GitLab, and of a tenant, because each event is stored once for each
 * webhook.
 */
const webhooksMax = 100

/**
 * Creates a webhook.
 *
 * @throws DomainError invalid, with the problems by field; unprocessable when the owner has too many
 * webhooks; unavailable when there is no key to encrypt the secret
 */
export const addWebhook = (
  database: Database,
  owner: WebhookOwner,
  fields: WithPlainSecrets<NewWebhook>,
  rules: HookRules,
  author: AuditAuthor,
): Promise<Webhook> =>
  audited(database, author, 'webhook_created', async (transaction) => {
    await checkHook(fields, rules)
    const secret = encrypted(fields.secret, rules) ?? null
    const headers = sealed(fields.headers, rules)
    if ((await lockAndCountWebhooks(transaction, owner)) >= webhooksMax)
      throw unprocessable(`Maximum number of ${owner.scope} hooks (${webhooksMax}) exceeded`)
    return createWebhook(transaction, owner, { ...fields, secret, headers, host: hostOf(fields.url) })
  })

interface WebhookChange {
  id: number
  changes: WithPlainSecrets<WebhookChanges>
  precondition?: Precondition | undefined
}

/**
 * Changes a webhook. A new secret signs at once, and the previous one for another day. Sending the same
 * secret again changes nothing.
 *
 * @throws DomainError not-found; precondition-failed; otherwise as `addWebhook`
 */
export const changeWebhook = (
  database: Database,
  owner: WebhookOwner,
  { id, changes, precondition }: WebhookChange,
  rules: HookRules,
  author: AuditAuthor,
): Promise<Webhook> =>
  audited(database, author, 'webhook_changed', async (transaction) => {
    const before = await getWebhook(transaction, owner, id)
    const { branchFilter, branchFilterStrategy, bodyTemplate, messageFormat } = before
    await requireUnchanged(transaction, 'webhooks', { id }, precondition)
    const kept = { branchFilter, branchFilterStrategy, bodyTemplate, messageFormat }
    await checkHook({ ...kept, ...changes }, rules)
    const isSame = await hasSecret(transaction, id, changes.secret, rules)
    const secret = isSame ? undefined : encrypted(changes.secret, rules)
    const headers = sealed(changes.headers, rules)
    const host = changes.url === undefined ? undefined : hostOf(changes.url)
    return updateWebhook(transaction, owner, id, { ...changes, secret, headers, host }, new Date())
  })

const encrypted = (secret: string | null | undefined, { secretBox }: HookRules) =>
  typeof secret === 'string' ? secretBox.encrypt(secret) : secret

async function hasSecret(
  database: DatabaseOrTransaction,
  id: number,
  secret: string | null | undefined,
  { secretBox }: HookRules,
): Promise<boolean> {
  const stored = typeof secret === 'string' ? await findSecret(database, id) : null
  try {
    return stored !== null && readSecret(stored, secretBox) === secret
  } catch (error) {
    if (error instanceof UnreadableSecret) return false
    throw error
  }
}

const sealed = (headers: CustomHeader[] | undefined, { secretBox }: HookRules) =>
  headers && sealHeaders(headers, secretBox)

/**
 * Deletes a webhook and its deliveries.
 *
 * @throws DomainError not-found; precondition-failed
 */
export async function removeWebhook(
  database: Database,
  owner: WebhookOwner,
  { id, precondition }: Pick<WebhookChange, 'id' | 'precondition'>,
  author: AuditAuthor,
): Promise<void> {
  await audited(database, author, 'webhook_deleted', async (transaction) => {
    const webhook = await getWebhook(transaction, owner, id)
    await requireUnchanged(transaction, 'webhooks', { id }, precondition)
    await deleteWebhook(transaction, owner, id)
    return webhook
  })
}

/**
 * Stores a test delivery, independent of the events that the webhook subscribes to. The worker sends it.
 *
 * @param make creates the message. Unset: an empty test event
 * @throws DomainError not-found; conflict when the webhook is disabled
 */
export async function testWebhook(
  database: Database,
  owner: WebhookOwner,
  id: number,
  make: () => Promise<TestMessage> | TestMessage = emptyTest,
): Promise<WebhookDelivery> {
  const webhook = await getWebhook(database, owner, id)
  refuseDisabled(webhook)
  const message = await make()
  const [deliveryId = ''] = await enqueueDeliveries(database.pool, [
    { ...writtenFor(webhook, message), webhookId: id, dedupeKey: `test-${randomUUID()}` },
  ])
  return getDelivery(database, id, deliveryId)
}

/**
 * Returns the request that a webhook with these settings would send about an event.
 *
 * @throws DomainError invalid, with the problems by field
 */
export async function previewBody(
  choice: BodyChoice,
  message: Pick<NewDelivery, 'event' | 'payload'>,
  rules: HookRules,
): Promise<z.output<typeof previewShape>> {
  await checkHook(choice, rules)
  const { payload, contentType = 'application/json' } = writtenBody(choice, message)
  return { event: message.event, content_type: contentType, body: payload }
}

type TestMessage = Omit<NewDelivery, 'webhookId' | 'dedupeKey'>

const emptyTest = (): TestMessage => ({
  event: testEvent,
  payload: JSON.stringify({ event: testEvent, sent_at: new Date() }),
})

/**
 * Lists one page of the deliveries of an owner's webhook, the newest first, with the number of all of them.
 *
 * @throws DomainError not-found
 */
export async function listWebhookDeliveries(
  database: Database,
  owner: WebhookOwner,
  wanted: Parameters<typeof listDeliveries>[1],
  rows: Rows,
) {
  await getWebhook(database, owner, wanted.webhookId)
  return listDeliveries(database, wanted, rows)
}

/**
 * Returns one delivery of an owner's webhook.
 *
 * @throws DomainError not-found for the webhook or the delivery
 */
export async function getWebhookDelivery(
  database: Database,
  owner: WebhookOwner,
  id: number,
  deliveryId: string,
): Promise<WebhookDelivery> {
  await getWebhook(database, owner, id)
  return getDelivery(database, id, deliveryId)
}

/**
 * Makes a delivery due now, in any state.
 *
 * @throws DomainError not-found; conflict when the webhook is disabled
 */
export async function redeliverWebhook(
  database: Database,
  owner: WebhookOwner,
  id: number,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const webhook = await getWebhook(database, owner, id)
  await getDelivery(database, id, deliveryId)
  refuseDisabled(webhook)
  return redeliver(database, id, deliveryId, new Date())
}

const hostOf = (url: string) => hostnameOf(new URL(url))

function refuseDisabled({ enabled }: Webhook): void {
  if (!enabled) throw conflict('The webhook is disabled. Enable it first.')
}
