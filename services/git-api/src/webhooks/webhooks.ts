import type { AuditAuthor, Database, Project, Rows, WebhookDelivery } from '@switchyard/db'
import type { Precondition } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { TargetPolicy } from '@switchyard/outbound-http'
import {
  addWebhook,
  auditedWebhook,
  type CustomHeader,
  changeWebhook,
  changeWebhookHeader,
  getWebhook,
  getWebhookDelivery,
  type HookRules,
  listWebhookDeliveries,
  listWebhooks,
  type ProjectWebhookEvent,
  projectWebhookEvents,
  redeliverWebhook,
  removeWebhook,
  type SecretBox,
  type SilentProjectEvent,
  silentProjectEvents,
  type Webhook,
  type WebhookOwner,
} from '@switchyard/webhooks'
import type { ProjectCall, ProjectResourceDependencies } from '../guards.js'

export interface WebhookDependencies extends ProjectResourceDependencies {
  /** Encrypts the secrets of webhooks. */
  secretBox: SecretBox
  /** The addresses that webhooks may have. */
  webhookTargets: TargetPolicy
}

type KnownEvent = ProjectWebhookEvent | SilentProjectEvent

const knownEvents: readonly KnownEvent[] = [...projectWebhookEvents, ...silentProjectEvents]

/** Switches events on or off. Undefined: the event stays as it was. */
export type EventChoices = Partial<Record<KnownEvent, boolean | undefined>>

interface HookFields {
  url: string
  secret: string | null
  enabled: boolean
  events: EventChoices
  name: string | null
  description: string | null
  /** Null: pushes to every branch are delivered. */
  branchFilter: string | null
  branchFilterStrategy: string
  verifyTls: boolean
  bodyTemplate: string | null
  messageFormat: string | null
  headers: CustomHeader[]
}

/** A new webhook. Missing fields have their default values. */
type NewHook = Pick<HookFields, 'url' | 'secret' | 'enabled' | 'events'> & Partial<HookChanges>

/** Changes of a webhook. Undefined fields stay. */
type HookChanges = { [Field in keyof HookFields]: HookFields[Field] | undefined }

const defaultEvents: readonly string[] = ['push']

export const ownerOf = ({ id }: Pick<Project, 'id'>) =>
  ({ scope: 'project', projectId: id }) as const satisfies WebhookOwner

/**
 * Returns rules that accept secrets of any length and webhooks without events, because GitLab's clients rely
 * on both.
 */
export const rulesOf = ({ webhookTargets, secretBox }: WebhookDependencies): HookRules => ({
  policy: webhookTargets,
  knownEvents,
  eventsMin: 0,
  secret: { parameter: 'token', lengthMin: 1 },
  secretBox,
})

const chosenEvents = (choices: EventChoices, before: readonly string[]) =>
  knownEvents.filter((event) => choices[event] ?? before.includes(event))

export const listHooks = (database: Database, { project }: ProjectCall, rows: Rows) =>
  listWebhooks(database, ownerOf(project), rows)

/** @throws DomainError not-found */
export const getHook = (database: Database, { project }: ProjectCall, id: number): Promise<Webhook> =>
  getWebhook(database, ownerOf(project), id)

const givenOnly = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields

/**
 * @throws DomainError invalid, with every problem by field; unavailable when there is no key to encrypt its
 *   secret
 */
export function addHook(
  deps: WebhookDependencies,
  { project, caller }: ProjectCall<Caller>,
  fields: NewHook,
  author: AuditAuthor,
): Promise<Webhook> {
  const events = chosenEvents(fields.events, defaultEvents)
  const given = { ...givenOnly(fields), events, serviceName: null, createdBy: caller.user.id }
  return auditedWebhook(deps.database, author, 'webhook_created', (transaction) =>
    addWebhook(transaction, ownerOf(project), given, rulesOf(deps)),
  )
}

/**
 * @throws DomainError not-found; precondition-failed; invalid, by field; unavailable when there is no key to
 *   encrypt its secret
 */
export async function changeHook(
  deps: WebhookDependencies,
  { project }: ProjectCall,
  { id, changes: { events, ...changes } }: { id: number; changes: HookChanges },
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<Webhook> {
  const before = await getWebhook(deps.database, ownerOf(project), id)
  const fields = { ...givenOnly(changes), events: chosenEvents(events ?? {}, before.events) }
  return auditedWebhook(deps.database, author, 'webhook_changed', (transaction) =>
    changeWebhook(transaction, ownerOf(project), { id, changes: fields, precondition }, rulesOf(deps)),
  )
}

/**
 * Sets or removes one custom header of a webhook's requests; the others stay.
 *
 * @throws DomainError not-found; precondition-failed; invalid; unavailable when the values cannot be read or
 *   encrypted
 */
export async function changeHookHeader(
  deps: WebhookDependencies,
  { project }: ProjectCall,
  change: Parameters<typeof changeWebhookHeader>[2],
  author: AuditAuthor,
): Promise<void> {
  await auditedWebhook(deps.database, author, 'webhook_changed', (transaction) =>
    changeWebhookHeader(transaction, ownerOf(project), change, rulesOf(deps)),
  )
}

/** @throws DomainError not-found; precondition-failed */
export async function removeHook(
  database: Database,
  { project }: ProjectCall,
  id: number,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<void> {
  await auditedWebhook(database, author, 'webhook_deleted', (transaction) =>
    removeWebhook(transaction, ownerOf(project), id, precondition),
  )
}

/** Returns one page of the deliveries of a webhook, newest first. @throws DomainError not-found */
export const listHookDeliveries = (
  database: Database,
  { project }: ProjectCall,
  wanted: Parameters<typeof listWebhookDeliveries>[2],
  rows: Rows,
) => listWebhookDeliveries(database, ownerOf(project), wanted, rows)

/** @throws DomainError not-found for the webhook or the delivery */
export const getHookDelivery = (
  database: Database,
  { project }: ProjectCall,
  hookId: number,
  deliveryId: string,
): Promise<WebhookDelivery> => getWebhookDelivery(database, ownerOf(project), hookId, deliveryId)

/**
 * Sends a delivery again soon, under the same id.
 *
 * @throws DomainError not-found; conflict for a disabled webhook
 */
export const redeliverHook = (
  database: Database,
  { project }: ProjectCall,
  hookId: number,
  deliveryId: string,
): Promise<WebhookDelivery> => redeliverWebhook(database, ownerOf(project), hookId, deliveryId)
