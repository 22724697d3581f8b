import { describe, expect, it } from 'vitest'
import type { Caller } from './caller.js'
import {
  canReadCode,
  canReadStatuses,
  canSeeProject,
  effectiveLevel,
  type Visibility,
} from './project-roles.js'

const caller = (id: number, admin = false): Caller => ({
  user: { id, username: `user${id}`, name: '', email: '', admin, state: 'active' },
  token: { id, scopes: ['api'] },
})
const project = (visibility: Visibility) => ({ ownerId: 1, visibility })

describe('effectiveLevel', () => {
  it('makes the owner and administrators owners, whatever their membership says', () => {
    expect(effectiveLevel(project('private'), caller(1), 10)).toBe(50)
    expect(effectiveLevel(project('private'), caller(9, true), null)).toBe(50)
  })

  it('counts every signed-in user as a guest of open projects only', () => {
    expect(effectiveLevel(project('private'), caller(2), null)).toBe(0)
    expect(effectiveLevel(project('internal'), caller(2), null)).toBe(10)
    expect(effectiveLevel(project('public'), caller(2), null)).toBe(10)
    expect(effectiveLevel(project('public'), null, null)).toBe(0)
  })

  it('never lets the guest floor lower a membership', () => {
    expect(effectiveLevel(project('public'), caller(2), 30)).toBe(30)
  })
})

describe('who sees what', () => {
  const rules = { canSeeProject, canReadCode, canReadStatuses }
  const cases = [
    // visibility, caller, member level → project, code, statuses
    ['private', null, null, false, false, false],
    ['private', caller(2), null, false, false, false],
    ['private', caller(2), 10, true, false, false],
    ['private', caller(2), 20, true, true, true],
    ['internal', null, null, false, false, false],
    ['internal', caller(2), null, true, true, true],
    ['public', null, null, true, true, false],
    ['public', caller(2), null, true, true, true],
  ] as const

  it.each(cases)('%s project, caller %j, member level %s', (visibility, who, level, sees, code, statuses) => {
    const seen = Object.values(rules).map((rule) => rule(project(visibility), who, level))
    expect(seen).toEqual([sees, code, statuses])
  })
})
