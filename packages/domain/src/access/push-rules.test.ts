import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNewRefName } from '../commit/revision.js'
import { type BranchProtection, canForcePush, canPush } from './branch-protection.js'
import { compilePushRules, type PushRights } from './push-rules.js'
import type { TagProtection } from './tag-protection.js'

const zero = '0'.repeat(40)
const one = '1'.repeat(40)
const two = '2'.repeat(40)
const kinds = {
  create: { before: zero, after: one },
  move: { before: one, after: two },
  delete: { before: one, after: zero },
}
type Kind = keyof typeof kinds

const rights = (
  level: number,
  branchProtections: BranchProtection[] = [],
  tagProtections: TagProtection[] = [],
): PushRights => ({ level, defaultBranch: 'main', branchProtections, tagProtections })
const verdict = (given: PushRights, kind: Kind, ref: string) =>
  compilePushRules(given)({ ref, ...kinds[kind] })
const outcome = (given: PushRights, kind: Kind, ref: string) => verdict(given, kind, ref).outcome

const names = fc
  .string({ unit: fc.constantFrom(...'ab/*?[]!-.$\'"`\\(){}|&;é# '), minLength: 1, maxLength: 6 })
  .filter(isNewRefName)

/** Generates a branch, and protections that are random or made from pieces of its name. */
const situations = names.chain((branch) => {
  const pattern = fc.oneof(
    fc.constant(branch),
    fc.nat(branch.length).map((at) => `${branch.slice(0, at)}*`),
    fc.nat(branch.length).map((at) => `*${branch.slice(at)}`),
    fc.string({ unit: fc.constantFrom('a', 'b', '*', '/'), maxLength: 5 }),
  )
  const protection = fc.record({
    name: pattern,
    pushAccessLevel: fc.constantFrom(0, 30, 40),
    allowForcePush: fc.boolean(),
  })
  return fc.record({
    branch: fc.constant(branch),
    protections: fc.array(protection, { maxLength: 3 }),
    level: fc.constantFrom(10, 30, 40, 50),
  })
})

describe('a push to a branch', () => {
  it('follows the same rules as canPush and canForcePush for a commit', () => {
    fc.assert(
      fc.property(situations, ({ branch, protections, level }) => {
        const given = rights(level, protections)
        const mayPush = canPush(branch, level, protections)
        const ref = `refs/heads/${branch}`
        expect(outcome(given, 'create', ref)).toBe(mayPush ? 'allowed' : 'refused')
        const moved = canForcePush(branch, protections) ? 'allowed' : 'fast-forward'
        expect(outcome(given, 'move', ref)).toBe(mayPush ? moved : 'refused')
      }),
      { numRuns: 1000 },
    )
  })

  it('cannot create or move a branch with a name that cannot be looked up, but can delete it', () => {
    for (const name of ['-x', 'HEAD', 'refs/heads/main', 'a'.repeat(40), '', 'a b', 'a..b']) {
      for (const [folder, what] of [
        ['refs/heads/', 'Branch name'],
        ['refs/tags/', 'Tag name'],
        ['refs/notes/', 'Name of notes'],
      ]) {
        const reason = `${what} is invalid: ${name}`
        expect(verdict(rights(50), 'create', `${folder}${name}`)).toEqual({ outcome: 'refused', reason })
        expect(verdict(rights(50), 'move', `${folder}${name}`)).toEqual({ outcome: 'refused', reason })
        expect(outcome(rights(50), 'delete', `${folder}${name}`)).toBe('allowed')
      }
    }
  })

  it('cannot delete the default branch, and deletes a protected branch only for maintainers', () => {
    const protection = { name: 'release/*', pushAccessLevel: 30, allowForcePush: true }
    expect(verdict(rights(50), 'delete', 'refs/heads/main')).toMatchObject({
      reason: 'The default branch of a project cannot be deleted.',
    })
    expect(verdict(rights(30, [protection]), 'delete', 'refs/heads/release/1')).toMatchObject({
      reason: 'You are not allowed to delete this protected branch: release/1',
    })
    expect(outcome(rights(40, [protection]), 'delete', 'refs/heads/release/1')).toBe('allowed')
    expect(outcome(rights(30, [protection]), 'delete', 'refs/heads/free')).toBe('allowed')
  })
})

describe('a push to another reference', () => {
  it.each(['create', 'move', 'delete'] as const)('may %s tags as a developer', (kind) => {
    expect(outcome(rights(30), kind, 'refs/tags/v1')).toBe('allowed')
    expect(outcome(rights(20), kind, 'refs/tags/v1')).toBe('refused')
  })

  it.each([
    [30, 30, 'allowed'],
    [30, 40, 'refused'],
    [40, 40, 'allowed'],
    [50, 0, 'refused'],
  ] as const)('creates a protected tag with level %i when level %i may: %s', (level, asked, expected) => {
    const protection = { name: 'v*', createAccessLevel: asked }
    expect(outcome(rights(level, [], [protection]), 'create', 'refs/tags/v1/2')).toBe(expected)
    expect(outcome(rights(level, [], [protection]), 'create', 'refs/tags/w1')).toBe('allowed')
    const open = { name: 'v1*', createAccessLevel: 30 }
    expect(outcome(rights(level, [], [protection, open]), 'create', 'refs/tags/v1')).toBe('allowed')
  })

  it('never moves a protected tag, and deletes it only for maintainers', () => {
    const protection = { name: 'v*', createAccessLevel: 30 }
    expect(verdict(rights(50, [], [protection]), 'move', 'refs/tags/v1')).toEqual({
      outcome: 'refused',
      reason: 'Protected tags cannot be updated: v1',
    })
    expect(verdict(rights(30, [], [protection]), 'delete', 'refs/tags/v1')).toEqual({
      outcome: 'refused',
      reason: 'You are not allowed to delete this protected tag: v1',
    })
    expect(outcome(rights(40, [], [protection]), 'delete', 'refs/tags/v1')).toBe('allowed')
  })

  it.each(['create', 'move', 'delete'] as const)('may %s notes as a maintainer', (kind) => {
    expect(outcome(rights(30), kind, 'refs/notes/commits')).toBe('refused')
    expect(outcome(rights(40), kind, 'refs/notes/commits')).toBe('allowed')
  })

  it.each([
    'refs/merge-requests/1/head',
    'refs/replace/abc',
    'refs/pipelines/1',
    'refs/keep-around/abc',
    'refs/environments/1',
    'refs/headsx/a',
    'refs/stash',
  ])('neither creates nor moves %s, but a maintainer may delete it', (ref) => {
    const reason = `Only refs/heads/, refs/tags/ and refs/notes/ can be pushed to, not ${ref}`
    expect(verdict(rights(50), 'create', ref)).toEqual({ outcome: 'refused', reason })
    expect(verdict(rights(50), 'move', ref)).toEqual({ outcome: 'refused', reason })
    expect(outcome(rights(30), 'delete', ref)).toBe('refused')
    expect(outcome(rights(40), 'delete', ref)).toBe('allowed')
  })
})

it('a pattern made to be slow is judged without delay', () => {
  const slow = { name: `${'*a'.repeat(24)}*b`, pushAccessLevel: 0, allowForcePush: false }
  expect(outcome(rights(30, [slow]), 'create', `refs/heads/${'a'.repeat(60)}`)).toBe('allowed')
})

it.each([
  ['create', `refs/x/${'a'.repeat(5000)}`],
  ['move', `refs/heads/${'a'.repeat(5000)}`],
  ['create', `refs/tags/${'a'.repeat(5000)}`],
] as const)('a reason repeats 200 characters of a long name: %s', (kind, ref) => {
  const judged = verdict(rights(50), kind, ref)
  expect(judged).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/a{150,199}…$/) })
})
