import type { AuditAuthor, Project, Webhook, WebhookOwner } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  addWebhook,
  auditedWebhook,
  changeWebhook,
  type HookRules,
  projectWebhookEvents,
  removeWebhook,
} from '@switchyard/webhooks'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

export const ofProject = ({ id }: Pick<Project, 'id'>) =>
  ({ scope: 'project', projectId: id }) as const satisfies WebhookOwner

interface HookFields {
  url: string
  secret: string | null
  events: string[]
  enabled: boolean
}

/** Undefined: it stays as it was. */
type HookChanges = { [Field in keyof HookFields]: HookFields[Field] | undefined }

type Needed = Pick<Dependencies, 'database' | 'webhookTargets'>

/** Secrets of other lengths have been given to receivers long ago, and a webhook may wait for its first event. */
const rulesOf = ({ webhookTargets }: Needed): HookRules => ({
  policy: webhookTargets,
  knownEvents: projectWebhookEvents,
  eventsMin: 0,
  secret: { parameter: 'token', lengthMin: 1 },
})

/** @throws DomainError invalid, with every problem by field */
export function addHook(
  deps: Needed,
  { project, caller }: ProjectCall<Caller>,
  fields: HookFields,
  author: AuditAuthor,
): Promise<Webhook> {
  const given = { ...fields, serviceName: null, createdBy: caller.user.id }
  return auditedWebhook(deps.database, author, 'webhook_created', (transaction) =>
    addWebhook(transaction, ofProject(project), given, rulesOf(deps)),
  )
}

/** @throws DomainError not-found; invalid, with every problem by field */
export function changeHook(
  deps: Needed,
  { project }: ProjectCall,
  id: number,
  changes: HookChanges,
  author: AuditAuthor,
): Promise<Webhook> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  return auditedWebhook(deps.database, author, 'webhook_changed', (transaction) =>
    changeWebhook(transaction, ofProject(project), id, given, rulesOf(deps)),
  )
}

/** @throws DomainError not-found */
export async function removeHook(
  { database }: Needed,
  { project }: ProjectCall,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  await auditedWebhook(database, author, 'webhook_deleted', (transaction) =>
    removeWebhook(transaction, ofProject(project), id),
  )
}
