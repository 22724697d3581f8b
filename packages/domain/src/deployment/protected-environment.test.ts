import { expect, it } from 'vitest'
import {
  countPendingApprovals,
  type EnvironmentProtection,
  mayApprove,
  mayDeployTo,
} from './protected-environment.js'

const maintainers = { id: 1, accessLevel: 40, userId: null }
const ada = { id: 2, accessLevel: null, userId: 7 }
const protection = (given: Partial<EnvironmentProtection> = {}): EnvironmentProtection => ({
  deployers: [maintainers, ada],
  requiredApprovalCount: 2,
  approvalRules: [],
  ...given,
})
const actor = (userId: number | null, accessLevel: number) => ({ userId, accessLevel })
const approved = (userId: number | null, accessLevel: number) => ({
  ...actor(userId, accessLevel),
  status: 'approved',
})

it('allows everybody with the role, the named users and administrators to deploy', () => {
  const may = (userId: number, level: number) => mayDeployTo(protection(), actor(userId, level))
  expect([may(1, 40), may(1, 30), may(7, 10), may(1, 60)]).toEqual([true, false, true, true])
  expect(mayDeployTo(protection({ deployers: [] }), actor(1, 50))).toBe(false)
})

it('counts approvals of everybody who may deploy, and no rejections', () => {
  const pending = (...given: Parameters<typeof countPendingApprovals>[1]) =>
    countPendingApprovals(protection(), given)
  expect(pending()).toBe(2)
  expect(pending(approved(1, 40), { ...approved(2, 40), status: 'rejected' })).toBe(1)
  expect(pending(approved(1, 40), approved(null, 40), approved(3, 40))).toBe(0)
  expect(pending(approved(1, 40), approved(2, 30), approved(null, 30))).toBe(1)
})

it('requires the approvals of each rule', () => {
  const approvalRules = [
    { ...maintainers, requiredApprovals: 2 },
    { ...ada, requiredApprovals: 1 },
  ]
  const rules = protection({ approvalRules })
  expect(countPendingApprovals(rules, [])).toBe(3)
  expect(countPendingApprovals(rules, [approved(1, 40), approved(2, 50)])).toBe(1)
  expect(countPendingApprovals(rules, [approved(7, 40)])).toBe(1)
  expect([mayApprove(rules, actor(7, 10)), mayApprove(rules, actor(8, 30))]).toEqual([true, false])
})
