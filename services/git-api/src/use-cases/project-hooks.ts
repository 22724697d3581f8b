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

/** A field that is undefined stays as it was. */
type HookChanges = { [Field in keyof HookFields]: HookFields[Field] | undefined }

type Needed = Pick<Dependencies, 'database' | 'webhookTargets' | 'secretBox'>

/** GitLab takes a secret of any length, and a webhook without events, so its clients send both. */
const rulesOf = ({ webhookTargets, secretBox }: Needed): HookRules => ({
  policy: webhookTargets,
  knownEvents: projectWebhookEvents,
  eventsMin: 0,
  secret: { parameter: 'token', lengthMin: 1 },
  secretBox,
})

/** @throws DomainError invalid, with every problem by field; unavailable when there is no key for its secret */
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

/** @throws DomainError not-found; invalid, by field; unavailable when there is no key for its secret */
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
  { database }: Pick<Dependencies, 'database'>,
  { project }: ProjectCall,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  await auditedWebhook(database, author, 'webhook_deleted', (transaction) =>
    removeWebhook(transaction, ofProject(project), id),
  )
}
