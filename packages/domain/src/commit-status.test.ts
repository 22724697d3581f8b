import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  aggregateStatus,
  applyPost,
  isActive,
  postedStates,
  type StatusFields,
  validateStatusTexts,
} from './commit-status.js'

const post = fc.record({
  state: fc.constantFrom(...postedStates),
  description: fc.constantFrom(undefined, '', 'a', 'b'),
  targetUrl: fc.constantFrom(undefined, ' ', 'https://x'),
  coverage: fc.constantFrom(undefined, 0, 50),
})

type Post = Parameters<typeof applyPost>[1]

/**
 * Applies posts of the same commit, ref and name, one after the other. `check` receives each post with the
 * active status before the post (null: there is none), and with the status after the post.
 */
function replay(
  posts: Post[],
  check: (active: StatusFields | null, made: StatusFields, post: Post, now: Date) => void,
) {
  let current: StatusFields | null = null
  for (const [index, next] of posts.entries()) {
    const active: StatusFields | null = current && isActive(current.status) ? current : null
    const now = new Date(index * 1000)
    current = applyPost(active, next, now)
    check(active, current, next, now)
  }
}

const posts = fc.array(post, { minLength: 1, maxLength: 20 })

test('a record has an end once it finishes and a start once it runs, in whatever order posts arrive', () => {
  const check = (active: StatusFields | null, made: StatusFields, { state }: Post, now: Date) => {
    const started = { pending: null, running: active?.startedAt ?? now }
    const startedAt =
      state === 'pending' || state === 'running' ? started[state] : (active?.startedAt ?? null)
    expect(made).toMatchObject({ status: state, startedAt, finishedAt: isActive(state) ? null : now })
  }
  fc.assert(fc.property(posts, (given) => replay(given, check)))
})

test('a post that does not mention a field of an active record keeps that field', () => {
  const kept = (sent: string | undefined, before: string | null | undefined) =>
    sent?.trim() ? sent : (before ?? null)
  const check = (active: StatusFields | null, made: StatusFields, sent: Post) => {
    expect(made).toMatchObject({
      description: kept(sent.description, active?.description),
      targetUrl: kept(sent.targetUrl, active?.targetUrl),
      coverage: sent.coverage ?? active?.coverage ?? null,
    })
  }
  fc.assert(fc.property(posts, (given) => replay(given, check)))
})

test('posting the same again changes nothing', () => {
  const check = (_active: StatusFields | null, made: StatusFields, sent: Post, now: Date) =>
    expect(applyPost(made, sent, now)).toEqual(made)
  fc.assert(fc.property(posts, (given) => replay(given, check)))
})

test('a status that never ran has no start, and a status that ran keeps its start', () => {
  const [first, second, third] = [new Date(1), new Date(2), new Date(3)]
  expect(applyPost(null, { state: 'success' }, first)).toMatchObject({ startedAt: null, finishedAt: first })
  const running = applyPost(applyPost(null, { state: 'pending' }, first), { state: 'running' }, second)
  expect(applyPost(running, { state: 'failed' }, third)).toMatchObject({
    startedAt: second,
    finishedAt: third,
  })
})

test.each([
  [[], null],
  [['skipped', 'skipped'], 'skipped'],
  [['success'], 'success'],
  [['success', 'skipped'], 'success'],
  [['created'], 'created'],
  [['success', 'canceled'], 'canceled'],
  [['canceled'], 'canceled'],
  [['pending'], 'pending'],
  [['created', 'pending'], 'pending'],
  [['success', 'pending'], 'running'],
  [['failed', 'running'], 'running'],
  [['success', 'manual'], 'manual'],
  [['success', 'created'], 'running'],
  [['success', 'failed'], 'failed'],
  [['failed', 'canceled'], 'failed'],
])('%j result in %s', (states, expected) => {
  expect(aggregateStatus(states.map((status) => ({ status, allowFailure: false })))).toBe(expected)
})

test('an allowed failure does not affect the state of the commit', () => {
  const success = { status: 'success', allowFailure: false }
  for (const status of ['failed', 'canceled']) {
    expect(aggregateStatus([success, { status, allowFailure: true }])).toBe('success')
  }
  expect(aggregateStatus([{ status: 'failed', allowFailure: true }])).toBe('success')
})

test('the order of statuses does not matter', () => {
  const status = fc.constantFrom(
    'created',
    'pending',
    'running',
    'success',
    'failed',
    'canceled',
    'skipped',
    'manual',
  )
  const counted = fc.array(fc.record({ status, allowFailure: fc.boolean() }), { maxLength: 6 })
  fc.assert(
    fc.property(counted, (statuses) => {
      expect(aggregateStatus([...statuses].reverse())).toBe(aggregateStatus(statuses))
    }),
  )
})

test('lengths are counted in characters, of which an emoji is one', () => {
  const described = (description: string) => () => validateStatusTexts({ name: 'ci', description })
  expect(described('🚀'.repeat(10_000))).not.toThrow()
  expect(described('🚀'.repeat(10_001))).toThrow()
})
