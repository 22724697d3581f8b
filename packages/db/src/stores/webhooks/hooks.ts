import { notFound } from '@switchyard/domain'
import type { DatabaseOrTransaction } from '../../client.js'
import type { Prisma, Webhook as WebhookRow } from '../../generated/client.js'

/** A webhook without its secret, which only sending reads. */
export type Webhook = Omit<WebhookRow, 'secret'>

/** Whose events a webhook tells of. */
export type WebhookOwner = { scope: 'saga'; tenant?: string } | { scope: 'project'; projectId: number }

export interface NewWebhook {
  url: string
  /** Host of the URL, lower-cased. */
  host: string
  /** Null: what is sent is not signed. */
  secret: string | null
  events: string[]
  serviceName: string | null
  enabled: boolean
  createdBy: number | null
}

export type WebhookChanges = Partial<Omit<NewWebhook, 'createdBy'>>

const omit = { secret: true } as const

export const createWebhook = (
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  fields: NewWebhook,
): Promise<Webhook> => prisma.webhook.create({ data: { ...owner, ...fields }, omit })

/** One page of an owner's webhooks in the order in which they were made, and how many there are. */
export async function listWebhooks(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  rows: { skip: number; take: number },
): Promise<{ webhooks: Webhook[]; total: number }> {
  const where: Prisma.WebhookWhereInput = owner
  const [webhooks, total] = await Promise.all([
    prisma.webhook.findMany({ where, orderBy: { id: 'asc' }, omit, ...rows }),
    prisma.webhook.count({ where }),
  ])
  return { webhooks, total }
}

/** @throws DomainError not-found, also when it is somebody else's */
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
 * Enabling one also forgets its failures, so that it is not disabled again for those of the past.
 *
 * @throws DomainError not-found
 */
export async function updateWebhook(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  id: number,
  changes: WebhookChanges,
  now: Date,
): Promise<Webhook> {
  const forgotten = { disabledReason: null, disabledAt: null, failingSince: null, consecutiveFailures: 0 }
  const [webhook] = await prisma.webhook.updateManyAndReturn({
    where: { ...owner, id },
    data: { ...changes, ...(changes.enabled ? forgotten : {}), updatedAt: now },
    omit,
  })
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/** @throws DomainError not-found */
export async function deleteWebhook(
  { prisma }: DatabaseOrTransaction,
  owner: WebhookOwner,
  id: number,
): Promise<void> {
  const { count } = await prisma.webhook.deleteMany({ where: { ...owner, id } })
  if (count === 0) throw notFound('Webhook')
}
