/**
 * What an entry of the audit log is about, and whether each has the tenant in its details. Another kind
 * belongs here, so that the console offers it.
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

/** Those of which a token that is bound to tenants sees only the entries of its tenants. */
export const tenantEntities = auditedEntities.filter((entity) => audited[entity].hasTenant)
