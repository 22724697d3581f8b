import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

type Who = Parameters<GitHarness['send']>[0]
type Status = { id: number; ref: string | null; name: string; status: string } & Record<string, unknown>

const post = (sha: string, query: Record<string, string>, who: Who = 'developer') =>
  harness.send(
    who,
    'POST',
    `/projects/${project.id}/statuses/${encodeURIComponent(sha)}?${new URLSearchParams(query)}`,
  )
const posted = async (sha: string, query: Record<string, string>) => {
  const response = await post(sha, query)
  expect(response.status).toBe(201)
  return (await response.json()) as Status
}
const list = async (sha: string, query = '') => {
  const path = `/projects/${project.id}/repository/commits/${encodeURIComponent(sha)}/statuses?${query}`
  const response = await harness.send('reporter', 'GET', path)
  expect(response.status).toBe(200)
  return (await response.json()) as Status[]
}
const commitStatus = async (sha: string) => {
  const response = await harness.send('reporter', 'GET', `/projects/${project.id}/repository/commits/${sha}`)
  return ((await response.json()) as { status: string | null }).status
}

/** Creates a commit for one test, on a branch that is not the default one. */
async function freshCommit() {
  const sha = await work.commit({ branch: 'statuses' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'statuses')
  return sha
}

test('a status is stored under the full hash with every field in order', async () => {
  const sha = await freshCommit()
  const status = await posted(sha.slice(0, 8), {
    state: 'success',
    ref: 'statuses',
    context: 'ci/build',
    target_url: 'https://ci.example.com/1',
    description: 'Fine',
    coverage: '80.5',
  })
  const finishedAt = status.finished_at
  expect(Object.entries(status)).toEqual(
    Object.entries({
      id: status.id,
      sha,
      ref: 'statuses',
      status: 'success',
      name: 'ci/build',
      target_url: 'https://ci.example.com/1',
      description: 'Fine',
      created_at: finishedAt,
      started_at: null,
      finished_at: finishedAt,
      allow_failure: false,
      coverage: 80.5,
      pipeline_id: status.pipeline_id,
      author: status.author,
      stage: 'external',
      report: [],
      artifacts: [],
      job_identity: null,
    }),
  )
  expect(status.pipeline_id).toEqual(expect.any(Number))
  expect(finishedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(status.author).toMatchObject({ username: 'dora', name: 'Dora Developer', state: 'active' })
  expect(await list(sha)).toEqual([status])
})

test('an active status is changed in place by any poster, and posting the same state again is accepted', async () => {
  const sha = await freshCommit()
  const first = await posted(sha, { state: 'pending', name: 'a' })
  const steps = ['pending', 'running', 'running', 'pending', 'running', 'success'] as const
  for (const state of steps)
    expect(await posted(sha, { state, name: 'a' })).toMatchObject({ id: first.id, status: state })
  const byOwner = await (await post(sha, { state: 'running', name: 'b' }, 'owner')).json()
  expect(await posted(sha, { state: 'failed', name: 'b' })).toMatchObject({ id: (byOwner as Status).id })
})

test('a finished status is final: the next post creates a new one, and the list shows the latest', async () => {
  const sha = await freshCommit()
  const failed = await posted(sha, { state: 'failed', name: 'a' })
  const retried = await posted(sha, { state: 'success', name: 'a' })
  expect(retried.id).toBeGreaterThan(failed.id)
  expect((await list(sha)).map(({ id }) => id)).toEqual([retried.id])
  expect((await list(sha, 'all=')).map(({ id }) => id)).toEqual([retried.id])
  expect((await list(sha, 'all=true')).map(({ id }) => id)).toEqual([failed.id, retried.id])
  expect((await list(sha, 'all=true&sort=desc')).map(({ id }) => id)).toEqual([retried.id, failed.id])
})

test('missing and empty fields keep their values', async () => {
  const sha = await freshCommit()
  await posted(sha, { state: 'running', description: 'old', target_url: 'http://x.example', coverage: '0' })
  expect(await posted(sha, { state: 'success', description: '', coverage: '' })).toMatchObject({
    name: 'default',
    description: 'old',
    target_url: 'http://x.example',
    coverage: 0,
  })
})

/** Posts with lists in the body, as JSON or as a form. */
const postBody = (sha: string, body: object) =>
  harness.ask('developer', 'POST', `/projects/${project.id}/statuses/${sha}`, body)

test('stage and links are read back as given, and stay until they are changed', async () => {
  const sha = await freshCommit()
  const report = [{ name: 'Tests \u202e', url: 'https://ci.example.com/1?tab=tests#a' }]
  const artifacts = [
    { name: 'app.zip', url: 'http://ci.example.com/app.zip' },
    { name: 'app.zip', url: 'https://ci.example.com/other.zip' },
  ]
  const given = { state: 'running', name: 'unit', stage: 'test', report, artifacts }
  const { status, body: first } = await postBody(sha, given)
  expect([status, first]).toMatchObject([201, { stage: 'test', report, artifacts }])
  const changed = await posted(sha, { state: 'running', name: 'unit', 'artifacts[]': '', stage: '' })
  expect(changed).toMatchObject({ id: first.id, stage: 'test', report, artifacts: [] })
  const link = { 'report[][name]': 'Log', 'report[][url]': 'https://ci.example.com/log' }
  const ended = await posted(sha, { state: 'success', name: 'unit', stage: 'check', ...link })
  expect(ended).toMatchObject({ stage: 'check', report: [{ name: 'Log', url: link['report[][url]'] }] })
  expect(await list(sha, 'stage=check')).toEqual([ended])
  expect(await list(sha, 'stage=test')).toEqual([])
  const jobs = `/projects/${project.id}/pipelines/${ended.pipeline_id}/jobs`
  expect((await harness.ask('reporter', 'GET', jobs)).body).toMatchObject([{ name: 'unit', stage: 'check' }])
  expect(await posted(sha, { state: 'running', name: 'unit' })).toMatchObject({
    stage: 'external',
    report: [],
  })
})

test.each([
  [{ stage: 's'.repeat(256) }, { message: { stage: ['is too long (maximum is 255 characters)'] } }],
  [{ stage: 'a\0b' }, { error: 'stage is invalid' }],
  [{ report: 'https://x.example' }, { error: 'report is invalid' }],
  [{ report: [{ url: 'https://x.example' }] }, { error: 'report[0][name] is missing' }],
  [{ artifacts: [{ name: ' ', url: 'https://x.example' }] }, { error: 'artifacts[0][name] is empty' }],
  [
    { artifacts: Array(21).fill({ name: 'a', url: 'https://x.example' }) },
    { error: 'artifacts has more than 20 items' },
  ],
  [
    { report: [{ name: 'a', url: 'javascript:alert(1)' }] },
    { message: { 'report[0][url]': ['is blocked: Only allowed schemes are http, https'] } },
  ],
  [
    { artifacts: [{ name: 'n'.repeat(256), url: `https://x/${'a'.repeat(2048)}` }] },
    {
      message: {
        'artifacts[0][url]': ['is too long (maximum is 2048 characters)'],
        'artifacts[0][name]': ['is too long (maximum is 255 characters)'],
      },
    },
  ],
])('a post with the links %j is refused and leaves nothing', async (given, body) => {
  const sha = await freshCommit()
  expect(await postBody(sha, { state: 'success', ...given })).toMatchObject({ status: 400, body })
  expect(await list(sha, 'all=true')).toEqual([])
})

test('without a ref, a status belongs to the default branch, else to a branch that contains the commit, else to none', async () => {
  expect(await posted(commits.first, { state: 'success' })).toMatchObject({ ref: 'main' })
  expect(await posted('feature/x.y', { state: 'success' })).toMatchObject({
    sha: commits.side,
    ref: 'feature/x.y',
  })
  const detached = await work.commit({ branch: 'to-be-removed' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'to-be-removed:refs/tags/detached')
  expect(await posted(detached, { state: 'success' })).toMatchObject({ ref: null })
  expect(await list(detached)).toHaveLength(1)
})

test('the list shows the default branch, and every ref when the default branch has no status', async () => {
  await posted(commits.second, { state: 'success', ref: 'main', name: 'm' })
  await posted(commits.second, { state: 'success', ref: 'other', name: 'o' })
  expect((await list(commits.second)).map(({ name }) => name)).toEqual(['m'])
  expect((await list(commits.second, 'ref=other')).map(({ name }) => name)).toEqual(['o'])
  expect(await list(commits.second, 'name=none')).toEqual([])
  expect(await list(commits.second, 'stage=build')).toEqual([])
  expect(await list(commits.second, 'stage=external&name=m')).toHaveLength(1)
  await posted(commits.side, { state: 'success', ref: 'feature/x.y', name: 's' })
  expect((await list('feature/x.y')).map(({ name }) => name)).toContain('s')
})

test('parallel posts to one label create one record', async () => {
  const sha = await freshCommit()
  const ids = await Promise.all(
    Array.from({ length: 8 }, async () => (await posted(sha, { state: 'running', name: 'p' })).id),
  )
  expect(new Set(ids).size).toBe(1)
  expect(await list(sha, 'all=true')).toHaveLength(1)
})

test('the commit shows the state derived from its statuses', async () => {
  const sha = await freshCommit()
  expect(await commitStatus(sha)).toBe(null)
  await posted(sha, { state: 'success', name: 'a' })
  expect(await commitStatus(sha)).toBe('success')
  await posted(sha, { state: 'pending', name: 'b' })
  expect(await commitStatus(sha)).toBe('running')
  await posted(sha, { state: 'failed', name: 'b' })
  expect(await commitStatus(sha)).toBe('failed')
  await posted(sha, { state: 'success', name: 'b' })
  expect(await commitStatus(sha)).toBe('success')
})

test('a status is visible at once in every instance, wherever it was posted', async () => {
  const bases = [harness.baseUrl, await harness.start()]
  const sha = await freshCommit()
  const path = `/projects/${project.id}/repository/commits/${sha}`
  const seen = async () => {
    const answers = bases.map((base) => harness.send('reporter', 'GET', path, undefined, base))
    const bodies = await Promise.all((await Promise.all(answers)).map((answer) => answer.json()))
    return (bodies as { status: string | null }[]).map(({ status }) => status)
  }
  expect(await seen()).toEqual([null, null])
  for (const [index, state] of ['running', 'failed', 'running', 'success', 'failed', 'success'].entries()) {
    const query = `state=${state}&name=seen`
    const posting = `/projects/${project.id}/statuses/${sha}?${query}`
    const { status } = await harness.send('developer', 'POST', posting, undefined, bases[index % 2])
    expect(status).toBe(201)
    expect(await seen()).toEqual([state, state])
    expect(await seen()).toEqual([state, state])
  }
})

test.each([
  [{}, { error: 'state is missing, state does not have a valid value' }],
  [{ state: 'created' }, { error: 'state does not have a valid value' }],
  [{ state: 'success', coverage: 'much' }, { error: 'coverage is invalid' }],
  [{ state: 'success', coverage: '1e200' }, { error: 'coverage does not have a valid value' }],
  [
    { state: 'success', target_url: 'javascript:alert(1)' },
    { message: { target_url: ['is blocked: Only allowed schemes are http, https'] } },
  ],
  [
    { state: 'success', target_url: 'http://x.example/\nSet-Cookie: a' },
    { message: { target_url: ['is blocked: Only allowed schemes are http, https'] } },
  ],
  [
    { state: 'success', target_url: `https://x/${'a'.repeat(2048)}` },
    { message: { target_url: ['is too long (maximum is 2048 characters)'] } },
  ],
  [
    { state: 'success', description: 'd'.repeat(10_001) },
    { message: { description: ['is too long (maximum is 10000 characters)'] } },
  ],
  [{ state: 'success', ref: 'a\0b' }, { error: 'ref is invalid' }],
])('a post with %j is refused and leaves nothing', async (query, body) => {
  const sha = await freshCommit()
  const response = await post(sha, query as Record<string, string>)
  expect([response.status, await response.json()]).toMatchObject([400, body])
  expect(await list(sha, 'all=true')).toEqual([])
})

test('an unknown or impossible commit is not found', async () => {
  for (const sha of ['unknown', '--all', 'f'.repeat(40)]) {
    const response = await post(sha, { state: 'success' })
    expect([response.status, await response.json()]).toMatchObject([404, { message: '404 Commit Not Found' }])
  }
})

test('reporters read and developers write, also on a public project', async () => {
  const open = await pushSample(harness, { visibility: 'public' })
  for (const [which, sees] of [
    [project.id, 404],
    [open.project.id, 200],
  ] as const) {
    const path = `/projects/${which}/repository/commits/main/statuses`
    expect((await harness.send('anonymous', 'GET', path)).status).toBe(401)
    expect((await harness.send('stranger', 'GET', path)).status).toBe(sees)
    expect((await harness.send('reporter', 'GET', path)).status).toBe(200)
  }
  expect(
    (await harness.send('guest', 'GET', `/projects/${project.id}/repository/commits/main/statuses`)).status,
  ).toBe(403)
  expect((await post('main', { state: 'success' }, 'anonymous')).status).toBe(401)
  expect((await post('main', { state: 'success' }, 'stranger')).status).toBe(404)
  expect((await post('main', {}, 'reporter')).status).toBe(403)
  await open.work.close()
})

/** Changes that happen between the first and the last post of a build without a ref. */
const changes: Record<string, (topic: string) => Promise<unknown>> = {
  'a branch earlier by name is pushed at the same commit': (topic) =>
    work.git('push', '--quiet', harness.remote('owner', project), `${topic}:refs/heads/a-${topic}`),
  'the branch is merged': async (topic) => {
    await work.git('switch', '--quiet', 'main')
    await work.git('merge', '--quiet', '--ff-only', topic)
    await work.git('push', '--quiet', harness.remote('owner', project), 'main')
  },
  'the branch is deleted': (topic) =>
    work.git('push', '--quiet', '--delete', harness.remote('owner', project), topic),
}

test.each(Object.keys(changes))(
  'a build without a ref finishes the status that it began although %s',
  async (what) => {
    const topic = `topic-${Object.keys(changes).indexOf(what)}`
    const sha = await work.commit({ branch: topic })
    await work.git('push', '--quiet', harness.remote('owner', project), topic)
    const begun = await posted(sha, { state: 'pending', name: 'build' })
    expect(begun.ref).toBe(topic)
    await changes[what]?.(topic)
    const ended = await posted(sha, { state: 'success', name: 'build' })
    expect(ended).toMatchObject({ id: begun.id, ref: topic, status: 'success' })
    expect(await list(sha, 'all=true')).toHaveLength(1)
    expect(await commitStatus(sha)).toBe('success')
    await work.git('switch', '--quiet', 'main')
  },
)

test('parallel posts without a ref create one record, beside a post with another ref', async () => {
  const sha = await freshCommit()
  const explicit = await posted(sha, { state: 'running', name: 'deploy', ref: 'elsewhere' })
  const begun = await Promise.all(
    Array.from({ length: 12 }, () => posted(sha, { state: 'running', name: 'deploy' })),
  )
  expect(new Set(begun.map(({ id }) => id))).toEqual(new Set([explicit.id]))
  const others = await Promise.all(
    Array.from({ length: 12 }, () => posted(sha, { state: 'pending', name: 'scan' })),
  )
  expect(new Set(others.map(({ id }) => id)).size).toBe(1)
  await posted(sha, { state: 'success', name: 'deploy' })
  await posted(sha, { state: 'success', name: 'scan' })
  expect(await commitStatus(sha)).toBe('success')
  // Without an active status, the next build creates a record on the branch that contains the commit.
  expect((await posted(sha, { state: 'running', name: 'deploy' })).ref).toBe('statuses')
})

test('among several active statuses, a post without a ref changes the status of the branch, else the newest', async () => {
  const sha = await freshCommit()
  const own = await posted(sha, { state: 'pending', name: 'x', ref: 'statuses' })
  const first = await posted(sha, { state: 'pending', name: 'x', ref: 'one' })
  const second = await posted(sha, { state: 'pending', name: 'x', ref: 'two' })
  const ended = []
  for (let post = 0; post < 3; post += 1) ended.push((await posted(sha, { state: 'failed', name: 'x' })).id)
  expect(ended).toEqual([own.id, second.id, first.id])
})

test('a skipped status is finished, and does not affect the state where others count', async () => {
  const sha = await freshCommit()
  const skipped = await posted(sha, { state: 'skipped', name: 'docs' })
  expect(skipped).toMatchObject({ status: 'skipped', started_at: null, finished_at: expect.any(String) })
  expect(await commitStatus(sha)).toBe('skipped')
  await posted(sha, { state: 'failed', name: 'unit' })
  expect(await commitStatus(sha)).toBe('failed')
  await posted(sha, { state: 'success', name: 'unit' })
  expect(await commitStatus(sha)).toBe('success')
  expect((await posted(sha, { state: 'running', name: 'docs' })).id).not.toBe(skipped.id)
  const running = await posted(sha, { state: 'skipped', name: 'docs' })
  expect(running).toMatchObject({ status: 'skipped', finished_at: expect.any(String) })
})

test('a status is recorded and answered even when the disk has no room for the mark that other instances read', async () => {
  const sha = await freshCommit()
  const mark = join(harness.storageRoot, project.diskPath, 'switchyard-statuses')
  rmSync(mark, { force: true })
  symlinkSync('/dev/full', mark)
  try {
    await posted(sha, { state: 'success', name: 'full' })
  } finally {
    rmSync(mark)
  }
  expect(await list(sha)).toMatchObject([{ name: 'full', status: 'success' }])
})
