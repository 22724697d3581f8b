import { randomUUID } from 'node:crypto'
import type { Project } from '@switchyard/db'
import {
  aggregateStatus,
  applyPost,
  isActive,
  postedStates,
  type StatusFields,
} from '@switchyard/domain/commit-status'
import type { TestGitRepository } from '@switchyard/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStatusRecorder } from '../../src/ci/statuses/status-recorder.js'
import type { StatusKey } from '../../src/ci/statuses/store.js'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

interface Posted {
  id: number
  name: string
  status: string
}

async function post(sha: string, fields: Record<string, string>): Promise<Posted> {
  const path = `/projects/${project.id}/statuses/${sha}?${new URLSearchParams(fields)}`
  const response = await harness.send('developer', 'POST', path)
  expect(response.status).toBe(201)
  return (await response.json()) as Posted
}

async function listAll(sha: string, query: string): Promise<Posted[]> {
  const path = `/projects/${project.id}/repository/commits/${sha}/statuses?per_page=100&${query}`
  return (await (await harness.send('reporter', 'GET', path)).json()) as Posted[]
}

test('two hundred parallel posts from ten clients end in exactly the right rows', async () => {
  const jobs = ['unit', 'lint', 'e2e', 'docs', 'image']
  // Each client takes four of its own jobs through their states, and advances one shared job.
  const client = async (number: number) => {
    const lives = ['pending', 'running', 'success', 'running'].map(async (state, step) => {
      await post(commits.first, { state, ref: 'main', name: `own-${number}-${step}` })
    })
    await Promise.all(lives)
    await Promise.all(
      Array.from({ length: 16 }, (_, step) =>
        post(commits.first, {
          state: 'running',
          ref: 'main',
          name: jobs[step % 5] ?? '',
          description: `${number}`,
        }),
      ),
    )
  }
  await Promise.all(Array.from({ length: 10 }, (_, number) => client(number)))
  const rows = await listAll(commits.first, 'all=true')
  expect(rows).toHaveLength(10 * 4 + jobs.length)
  for (const name of jobs) expect(rows.filter((row) => row.name === name)).toHaveLength(1)
  await Promise.all(jobs.map((name) => post(commits.first, { state: 'success', ref: 'main', name })))
  const latest = await listAll(commits.first, '')
  expect(latest.filter(({ status }) => status === 'success')).toHaveLength(jobs.length + 10)
})

test('parallel finishing posts each create a record, and only the newest counts', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => (await post(commits.second, { state: 'failed', ref: 'main' })).id),
  )
  expect(new Set(ids).size).toBe(20)
  expect((await listAll(commits.second, '')).map(({ id }) => id)).toEqual([Math.max(...ids)])
  expect((await listAll(commits.second, 'all=true')).map(({ id }) => id)).toEqual(ids.sort((a, b) => a - b))
})

test('a page of many statuses has a total and links to the pages beside it', async () => {
  const count = 205
  await harness.database.pool.query(
    `INSERT INTO commit_statuses (project_id, sha, ref, pipeline_id, name, status, superseded)
     SELECT $1, $2, 'main', 0, 'many-' || n % 150, 'success', n <= $3 - 150 FROM generate_series(1, $3) n`,
    [project.id, commits.third, count],
  )
  const path = `/projects/${project.id}/repository/commits/${commits.third}/statuses`
  for (const [query, total, rows] of [
    ['all=true&per_page=100&page=3', count, 5],
    ['all=true&per_page=100&page=4', count, 0],
    ['per_page=100', 150, 100],
    ['per_page=100&page=2&sort=desc', 150, 50],
    ['name=many-7', 1, 1],
    ['name=many-7&all=true', 2, 2],
  ] as const) {
    const response = await harness.send('reporter', 'GET', `${path}?${query}`)
    expect([query, response.headers.get('x-total'), ((await response.json()) as unknown[]).length]).toEqual([
      query,
      String(total),
      rows,
    ])
  }
})

test('while a project is locked for its deletion, only its own posts are refused, and may be sent again', async () => {
  const locked = await harness.project()
  const user = await harness.database.prisma.user.findFirstOrThrow({ where: { username: 'dora' } })
  const recorder = createStatusRecorder(harness.database)
  const record = (projectId: number, name: string) =>
    recorder.record({
      key: { projectId, sha: 'e'.repeat(40), ref: 'main', name },
      anyRef: false,
      author: user,
      job: null,
      apply: (current, now) => applyPost(current, { state: 'success' }, now),
      delivery: () => ({ event: 'job', dedupeKey: '', payload: '' }),
      pipelineDelivery: () => ({ event: 'pipeline', dedupeKey: randomUUID(), payload: '' }),
    })
  const deleting = await harness.database.pool.connect()
  try {
    await deleting.query('BEGIN')
    await deleting.query('DELETE FROM projects WHERE id = $1', [locked.id])
    const posts = ['a', 'b', 'c'].flatMap((name) => [record(project.id, name), record(locked.id, name)])
    const outcomes = await Promise.allSettled(posts)
    const refused = { status: 'rejected', reason: { kind: 'unavailable', retryAfterMs: 1000 } }
    expect(outcomes).toMatchObject([1, 2, 3].flatMap(() => [{ status: 'fulfilled' }, refused]))
  } finally {
    await deleting.query('ROLLBACK')
    deleting.release()
  }
  expect((await record(locked.id, 'a')).status.status).toBe('success')
})

const aPost = fc.record({
  name: fc.constantFrom('a', 'b'),
  ref: fc.constantFrom('main', null),
  anyRef: fc.boolean(),
  state: fc.constantFrom(...postedStates),
  writer: fc.nat({ max: 2 }),
})

test('any posts of several processes at once never fail, leave one newest record for each key, and are all delivered to webhooks', async () => {
  await harness.database.prisma.webhook.create({
    data: {
      scope: 'project',
      projectId: project.id,
      url: 'http://x.example',
      host: 'x',
      events: ['pipeline'],
    },
  })
  const user = await harness.database.prisma.user.findFirstOrThrow({ where: { username: 'dora' } })
  const writers = [0, 1, 2].map(() => createStatusRecorder(harness.database))
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(aPost, { minLength: 1, maxLength: 40 }), async (posts) => {
      run += 1
      const told = new Map<string | null, string[]>([
        ['main', []],
        [null, []],
      ])
      const sha = String(run).padStart(40, '0')
      const recorded = await Promise.all(
        posts.map(({ name, ref, anyRef, state, writer }) => {
          const key: StatusKey = { projectId: project.id, sha, ref, name }
          const apply = (current: StatusFields | null, now: Date) => applyPost(current, { state }, now)
          return writers[writer]?.record({
            key,
            anyRef,
            author: user,
            job: null,
            apply,
            delivery: () => ({ event: 'job', dedupeKey: '', payload: '' }),
            pipelineDelivery: (pipeline) => {
              told.get(pipeline.ref)?.push(pipeline.status)
              return { event: 'pipeline', dedupeKey: randomUUID(), payload: '' }
            },
          })
        }),
      )
      expect(recorded.map((one) => one?.status.status)).toEqual(posts.map(({ state }) => state))
      const rows = await harness.database.prisma.commitStatus.findMany({
        where: { projectId: project.id, sha },
        orderBy: { id: 'asc' },
      })
      for (const [ref, states] of told) {
        const left = rows.filter((row) => row.ref === ref && !row.superseded)
        expect(states.at(-1) ?? null).toBe(aggregateStatus(left))
        expect(states.every((state, index) => state !== states[index - 1])).toBe(true)
      }
      const keyOf = (row: { name: string; ref: string | null }) => `${row.name} ${row.ref}`
      const newest = rows.filter(({ superseded }) => !superseded).map(keyOf)
      expect([...newest].sort()).toEqual([...new Set(rows.map(keyOf))].sort())
      for (const row of rows) if (row.superseded) expect(isActive(row.status)).toBe(false)
      for (const name of ['a', 'b']) {
        const own = rows.filter((row) => row.name === name)
        const finishing = posts.filter((one) => one.name === name && !isActive(one.state))
        // Exactly one post finished each finished record.
        expect(own.filter(({ status }) => !isActive(status))).toHaveLength(finishing.length)
        const given = posts.filter((one) => one.name === name)
        // A post for any ref never creates a record beside an active one.
        if (given.every(({ anyRef }) => anyRef)) {
          expect(own.filter(({ status }) => isActive(status)).length).toBeLessThanOrEqual(1)
        }
      }
    }),
    { numRuns: 40 },
  )
})
