import type { AuditAuthor, Project } from '@switchyard/db'
import type { Precondition } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { TargetPolicy } from '@switchyard/outbound-http'
import {
  addWebhook,
  type CustomHeader,
  changeWebhook,
  getWebhook,
  type HookRules,
  type ProjectWebhookEvent,
  projectWebhookEvents,
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

const givenOnly = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields

/**
 * @throws DomainError invalid, with every problem by field; unprocessable when the project has too many
 *   webhooks; unavailable when there is no key to encrypt its secret
 */
export function addHook(
  deps: WebhookDependencies,
  { project, caller }: ProjectCall<Caller>,
  fields: NewHook,
  author: AuditAuthor,
): Promise<Webhook> {
  const events = chosenEvents(fields.events, defaultEvents)
  const given = { ...givenOnly(fields), events, serviceName: null, createdBy: caller.user.id }
  return addWebhook(deps.database, ownerOf(project), given, rulesOf(deps), author)
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
  const change = { id, changes: fields, precondition }
  return changeWebhook(deps.database, ownerOf(project), change, rulesOf(deps), author)
}
