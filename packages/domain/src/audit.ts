/**
 * The kinds of things that the audit log is about. `hasTenant`: each entry has the tenant in its details. The
 * console offers the kinds of this list.
 */
const audited = {
  User: { hasTenant: false },
  Project: { hasTenant: false },
  Webhook: { hasTenant: false },
  BroadcastMessage: { hasTenant: false },
  Saga: { hasTenant: true },
  SagaBulkJob: { hasTenant: true },
  SagaCommand: { hasTenant: true },
  SagaCommandBatch: { hasTenant: true },
  Job: { hasTenant: false },
} as const

export type AuditedEntity = keyof typeof audited

export const auditedEntities = Object.keys(audited) as AuditedEntity[]

/** The kinds for which a token that is bound to tenants sees only the entries of these tenants. */
export const tenantEntities = auditedEntities.filter((entity) => audited[entity].hasTenant)
