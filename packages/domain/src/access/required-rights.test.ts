import { describe, expect, it } from 'vitest'
import type { Caller } from './caller.js'
import { requireAdministratorOrScope, requireUnboundToken } from './required-rights.js'
import { projectTokenScopes, type Scope, scopes } from './scopes.js'

const callerWith = (
  held: readonly Scope[],
  { admin = false, projectId = null as number | null } = {},
): Caller => ({
  user: { id: 1, username: 'ada', name: 'Ada', email: 'ada@example.com', admin, state: 'active' },
  token: { id: 1, scopes: held, projectId },
})

const refusal = expect.objectContaining({ kind: 'forbidden' })

describe('an operation outside of projects', () => {
  it.each(['read_metrics', 'read_sagas', 'manage_jobs'] as const)('is allowed with the scope %s', (scope) => {
    const caller = callerWith([scope])
    expect(requireAdministratorOrScope(caller, scope)).toBe(caller)
    expect(() => requireAdministratorOrScope(callerWith(['api']), scope)).toThrow(refusal)
  })

  it('refuses a read-only token of an administrator for changes', () => {
    const reader = callerWith(['read_api'], { admin: true })
    expect(requireAdministratorOrScope(reader, 'manage_jobs')).toBe(reader)
    expect(() => requireAdministratorOrScope(reader, 'manage_jobs', [])).toThrow(refusal)
    const writer = callerWith(['api'], { admin: true })
    expect(requireAdministratorOrScope(writer, 'manage_jobs', [])).toBe(writer)
  })

  it('refuses tokens of a project, whatever their scopes', () => {
    const token = callerWith(scopes, { projectId: 7 })
    expect(() => requireAdministratorOrScope(token, 'read_metrics')).toThrow(refusal)
    expect(() => requireUnboundToken(token)).toThrow(refusal)
    expect(requireUnboundToken(callerWith(['saga_report'])).token.projectId).toBeNull()
  })

  it('needs a scope that no token of a project can have', () => {
    const beyond: readonly Scope[] = [
      'read_user',
      'read_metrics',
      'read_sagas',
      'saga_report',
      'manage_jobs',
      'manage_broadcasts',
    ]
    expect(scopes.filter((scope) => !(projectTokenScopes as readonly Scope[]).includes(scope))).toEqual(
      beyond,
    )
  })
})
