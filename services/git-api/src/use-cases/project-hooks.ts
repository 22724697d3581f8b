import {
  type AuditAuthor,
  type DatabaseOrTransaction,
  deleteWebhook,
  getWebhook,
  inTransaction,
  type Project,
  recordAuditEvent,
  type Webhook,
  type WebhookOwner,
} from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { addWebhook, changeWebhook, type HookRules, projectWebhookEvents } from '@switchyard/webhooks'
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
  return inTransaction(deps.database, async (transaction) => {
    const webhook = await addWebhook(transaction, ofProject(project), given, rulesOf(deps))
    return audited(transaction, author, 'webhook_created', webhook)
  })
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
  return inTransaction(deps.database, async (transaction) => {
    const webhook = await changeWebhook(transaction, ofProject(project), id, given, rulesOf(deps))
    return audited(transaction, author, 'webhook_changed', webhook)
  })
}

/** @throws DomainError not-found */
export async function removeHook(
  { database }: Needed,
  { project }: ProjectCall,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const webhook = await getWebhook(transaction, ofProject(project), id)
    await deleteWebhook(transaction, ofProject(project), id)
    await audited(transaction, author, 'webhook_deleted', webhook)
  })
}

/** Notes the host alone: the rest of a URL may hold a secret of its receiver. */
async function audited(
  transaction: DatabaseOrTransaction,
  author: AuditAuthor,
  eventName: string,
  webhook: Webhook,
): Promise<Webhook> {
  const { id, projectId, host, events, enabled } = webhook
  await recordAuditEvent(transaction, author, {
    eventName,
    entityType: 'Project',
    entityId: projectId ?? '',
    details: { webhook_id: id, host, events, enabled },
  })
  return webhook
}
