import type {
  DatabaseOrTransaction,
  Prisma,
  PrismaTransaction,
  Rows,
  Webhook as WebhookRow,
} from '@switchyard/db'
import { lockName, lockProjectRow } from '@switchyard/db/sql'
import { notFound } from '@switchyard/domain'
import { type StoredHeaders, toHeaderColumns } from './header-values.js'
import { type EncryptedSecret, keepPreviousSecret, toSecretColumns } from './secrets.js'

const omit = {
  secret: true,
  encryptedSecret: true,
  secretKeyId: true,
  previousSecret: true,
  previousSecretKeyId: true,
  previousSecretUntil: true,
  encryptedHeaders: true,
  headersKeyId: true,
} as const

/** A webhook without its secret and the values of its headers. */
export type Webhook = Omit<WebhookRow, keyof typeof omit>

/**
 * The project, or the tenant of sagas, whose events a webhook receives. Without `tenant`: the sagas of every
 * tenant.
 */
export type WebhookOwner = { scope: 'saga'; tenant?: string } | { scope: 'project'; projectId: number }

/** The optional fields of a webhook. Missing fields get their defaults. */
type OptionalFields = Partial<
  Pick<
    WebhookRow,
    | 'name'
    | 'description'
    | 'branchFilter'
    | 'branchFilterStrategy'
    | 'verifyTls'
    | 'bodyTemplate'
    | 'messageFormat'
  >
>

export interface NewWebhook extends OptionalFields {
  url: string
  /** Host of the URL, lower-cased. */
  host: string
  /** Null: deliveries are not signed. */
  secret: EncryptedSecret | null
  events: string[]
  serviceName: string | null
  enabled: boolean
  createdBy: number | null
  /** Further headers of the requests. Undefined: none for a new webhook, unchanged for an existing one. */
  headers?: StoredHeaders | undefined
}

export type WebhookChanges = Partial<Omit<NewWebhook, 'createdBy'>>

export const createWebhook = (
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  { secret, headers, ...fields }: NewWebhook,
): Promise<Webhook> =>
  prisma.webhook.create({
    data: { ...owner, ...fields, ...toSecretColumns(secret), ...(headers && toHeaderColumns(headers)) },
    omit,
  })

/**
 * Counts the webhooks of a project or a tenant, and locks the owner until the transaction ends, so that no
 * two transactions count and add its webhooks at the same time.
 *
 * @throws DomainError not-found for the project
 */
export async function lockAndCountWebhooks(
  transaction: PrismaTransaction,
  owner: WebhookOwner,
): Promise<number> {
  if (owner.scope === 'project') await lockProjectRow(transaction, owner.projectId)
  else await lockName(transaction, `switchyard.webhooks ${owner.tenant ?? ''}`)
  return transaction.prisma.webhook.count({ where: owner })
}

/** Lists one page of an owner's webhooks, oldest first, with the number of all of them. */
export async function listWebhooks(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  rows: Rows,
): Promise<{ webhooks: Webhook[]; total: number }> {
  const where: Prisma.WebhookWhereInput = owner
  const [webhooks, total] = await Promise.all([
    prisma.webhook.findMany({ where, orderBy: { id: 'asc' }, omit, ...rows }),
    prisma.webhook.count({ where }),
  ])
  return { webhooks, total }
}

/**
 * Returns a webhook.
 *
 * @throws DomainError not-found, also for a webhook of another owner
 */
export async function getWebhook(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  id: number,
): Promise<Webhook> {
  const webhook = await prisma.webhook.findFirst({ where: { ...owner, id }, omit })
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/**
 * Changes a webhook. Enabling it also resets its failures, so that old failures do not disable it again. A
 * replaced secret signs for another day.
 *
 * @throws DomainError not-found
 */
export async function updateWebhook(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  id: number,
  { secret, headers, ...changes }: WebhookChanges,
  now: Date,
): Promise<Webhook> {
  if (secret) await keepPreviousSecret(prisma, id)
  const forgotten = { disabledReason: null, disabledAt: null, failingSince: null, consecutiveFailures: 0 }
  const [webhook] = await prisma.webhook.updateManyAndReturn({
    where: { ...owner, id },
    data: {
      ...changes,
      ...(secret === undefined ? {} : toSecretColumns(secret)),
      ...(headers && toHeaderColumns(headers)),
      ...(changes.enabled ? forgotten : {}),
      updatedAt: now,
    },
    omit,
  })
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/**
 * Deletes a webhook.
 *
 * @throws DomainError not-found
 */
export async function deleteWebhook(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  id: number,
): Promise<void> {
  const { count } = await prisma.webhook.deleteMany({ where: { ...owner, id } })
  if (count === 0) throw notFound('Webhook')
}
