import { describe, expect, it } from 'vitest'
import type { Caller } from './caller.js'
import { decideProjectRight, projectDenial, projectRights } from './project-rights.js'
import { effectiveLevel, type Visibility } from './project-roles.js'

const caller = (id: number, admin = false): Caller => ({
  user: { id, username: `user${id}`, name: '', email: '', admin, state: 'active' },
  token: { id, scopes: ['api'] },
})
const project = (visibility: Visibility, archived = false) => ({ id: 7, ownerId: 1, visibility, archived })

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

describe('projectDenial', () => {
  it('names the lowest role that is sufficient', () => {
    expect(projectDenial('write_statuses', project('public'), caller(2))).toContain('Developer')
    expect(projectDenial('read_code', project('private'), caller(2))).toContain('Reporter')
    expect(projectDenial('own', project('private'), caller(2))).toContain('Owner')
  })

  it('tells the caller when the token, not the role, is insufficient', () => {
    const { user, token } = caller(2)
    const elsewhere = { user, token: { ...token, projectId: 8 } }
    expect(projectDenial('comment', project('public'), elsewhere)).toContain('another project')
  })
})

describe('decideProjectRight', () => {
  const decisions = (visibility: Visibility, who: Caller | null, level: number | null) =>
    (['read_project', 'read_code', 'read_statuses', 'push_code'] as const).map((right) =>
      decideProjectRight(right, project(visibility), who, level),
    )
  const boundTo = (projectId: number): Caller => ({
    ...caller(2),
    token: { id: 2, scopes: ['api'], projectId },
  })

  it.each([
    ['private', null, null, ['hidden', 'hidden', 'unauthenticated', 'unauthenticated']],
    ['private', caller(2), null, ['hidden', 'hidden', 'hidden', 'hidden']],
    ['private', caller(2), 10, ['allowed', 'forbidden', 'forbidden', 'forbidden']],
    ['private', caller(2), 20, ['allowed', 'allowed', 'allowed', 'forbidden']],
    ['private', caller(2), 30, ['allowed', 'allowed', 'allowed', 'allowed']],
    ['internal', null, null, ['hidden', 'hidden', 'unauthenticated', 'unauthenticated']],
    ['internal', caller(2), null, ['allowed', 'allowed', 'allowed', 'forbidden']],
    ['public', null, null, ['allowed', 'allowed', 'unauthenticated', 'unauthenticated']],
    ['public', caller(2), null, ['allowed', 'allowed', 'allowed', 'forbidden']],
    ['private', boundTo(7), 30, ['allowed', 'allowed', 'allowed', 'allowed']],
    ['internal', boundTo(8), 30, ['hidden', 'hidden', 'hidden', 'hidden']],
    ['public', boundTo(8), 30, ['allowed', 'allowed', 'forbidden', 'forbidden']],
  ] as const)('%s project, caller %j, member level %s', (visibility, who, level, expected) => {
    expect(decisions(visibility, who, level)).toEqual(expected)
  })

  it('lets nobody write into an archived project, and lets everybody read it as before', () => {
    for (const right of Object.keys(projectRights) as (keyof typeof projectRights)[]) {
      const writes = ['comment', 'push_code', 'write_statuses', 'deploy'].includes(right)
      const decision = decideProjectRight(right, project('public', true), caller(1), null)
      expect([right, decision]).toEqual([right, writes ? 'forbidden' : 'allowed'])
    }
    expect(projectDenial('push_code', project('public', true), caller(1))).toBe('The project is archived')
  })

  it('gives a higher role everything that a lower one has', () => {
    for (const right of Object.keys(projectRights) as (keyof typeof projectRights)[])
      for (const visibility of ['private', 'internal', 'public'] as const) {
        const allowed = [null, 10, 20, 30, 40, 50].map(
          (level) => decideProjectRight(right, project(visibility), caller(2), level) === 'allowed',
        )
        expect(allowed).toEqual([...allowed].sort((a, b) => Number(a) - Number(b)))
      }
  })
})
