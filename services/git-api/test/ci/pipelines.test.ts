import { Gitlab } from '@gitbeaker/rest'
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
  ;({ project, work, commits } = await pushSample(harness, { visibility: 'public' }))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)
const path = (rest = '', of: { id: number } = project) => `/projects/${of.id}/pipelines${rest}`
const post = (sha: string, body: object, of: { id: number } = project) =>
  ask('developer', 'POST', `/projects/${of.id}/statuses/${sha}`, body)
const idOf = async (sha: string, body: object) => (await post(sha, body)).body.pipeline_id as number
const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id)
const commitOf = async (sha: string) =>
  (await ask('reporter', 'GET', `/projects/${project.id}/repository/commits/${sha}`)).body

test('a commit and ref have one pipeline, whose id stays and whose state follows its statuses', async () => {
  const ids = [
    await idOf(commits.first, { state: 'running', ref: 'main', name: 'unit' }),
    await idOf(commits.first, { state: 'success', ref: 'main', name: 'unit', coverage: 80 }),
    await idOf(commits.first, { state: 'pending', ref: 'main', name: 'lint' }),
  ]
  expect(new Set(ids).size).toBe(1)
  const [id] = ids
  const other = await idOf(commits.first, { state: 'failed', ref: 'side', name: 'unit' })
  expect(other).not.toBe(id)
  const one = async () => (await ask('reporter', 'GET', path(`/${id}`))).body
  expect(await one()).toMatchObject({ id, status: 'running', finished_at: null, duration: null })
  const restarted = await idOf(commits.first, { state: 'running', ref: 'main', name: 'unit' })
  await idOf(commits.first, { state: 'success', ref: 'main', name: 'unit', coverage: 91 })
  await idOf(commits.first, { state: 'success', ref: 'main', name: 'lint', coverage: 92.5 })
  expect(restarted).toBe(id)
  expect(await one()).toMatchObject({
    id,
    iid: id,
    project_id: project.id,
    sha: commits.first,
    ref: 'main',
    status: 'success',
    source: 'external',
    name: null,
    before_sha: '0'.repeat(40),
    tag: false,
    user: { username: 'dora' },
    coverage: 91.75,
    finished_at: expect.any(String),
    detailed_status: { text: 'Passed', label: 'passed', group: 'success' },
  })
})

test('a stored coverage that cannot be averaged is left out of the coverage of the pipeline', async () => {
  const coverages = { unit: 1_000_000, e2e: -1_000_000, docs: 30, lint: 50 }
  for (const [name, coverage] of Object.entries(coverages)) {
    await idOf(commits.side, { state: 'success', ref: 'average', name, coverage })
  }
  await harness.database.pool.query(
    `UPDATE commit_statuses SET coverage = 1e200 WHERE sha = $1 AND ref = 'average' AND name = 'docs'`,
    [commits.side],
  )
  const id = await idOf(commits.side, { state: 'success', ref: 'average', name: 'image', coverage: 100 })
  expect((await ask('reporter', 'GET', path(`/${id}`))).body.coverage).toBe(37.5)
})

test('parallel posts create one pipeline, whose state is derived from all of them', async () => {
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      post(commits.third, { state: index === 17 ? 'failed' : 'success', ref: 'many', name: `job-${index}` }),
    ),
  )
  const ids = new Set(answers.map(({ body }) => body.pipeline_id))
  expect(ids.size).toBe(1)
  expect((await ask('reporter', 'GET', path(`/${[...ids][0]}`))).body.status).toBe('failed')
})

test('a status without a ref, on a commit in no branch, has its own pipeline', async () => {
  const loose = await work.commit({ branch: 'loose' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'loose')
  await ask('owner', 'DELETE', `/projects/${project.id}/repository/branches/loose`)
  const ids = [await idOf(loose, { state: 'running' }), await idOf(loose, { state: 'success' })]
  expect(new Set(ids).size).toBe(1)
  expect((await ask('reporter', 'GET', path(`/${ids[0]}`))).body).toMatchObject({
    ref: null,
    status: 'success',
  })
})

test('`pipeline_id` of a post determines the ref, and must match the commit and the ref', async () => {
  const id = await idOf(commits.second, { state: 'success', ref: 'release', name: 'a' })
  const joined = await post(commits.second, { state: 'success', pipeline_id: id, name: 'b' })
  expect(joined).toMatchObject({ status: 201, body: { ref: 'release', pipeline_id: id } })
  const text = '404 Pipeline for pipeline_id, sha and ref Not Found'
  for (const [sha, body] of [
    [commits.first, { pipeline_id: id }],
    [commits.second, { pipeline_id: id, ref: 'main' }],
    [commits.second, { pipeline_id: 999_999 }],
  ] as const) {
    expect(await post(sha, { state: 'failed', ...body })).toMatchObject({
      status: 404,
      body: { message: text },
    })
  }
  expect((await post(commits.second, { state: 'failed', pipeline_id: 'x' })).body.error).toBe(
    'pipeline_id is invalid',
  )
  const statuses = `/projects/${project.id}/repository/commits/${commits.second}/statuses`
  const listed = await ask('reporter', 'GET', `${statuses}?pipeline_id=${id}`)
  expect(listed.body.map(({ name }: { name: string }) => name)).toEqual(['a', 'b'])
  const early = await idOf(commits.second, { state: 'success', ref: 'aaa', name: 'c' })
  await post(commits.second, { state: 'success', pipeline_id: id, name: 'd' })
  const grouped = await ask('reporter', 'GET', `${statuses}?ref=&all=true&order_by=pipeline_id&sort=desc`)
  expect(grouped.body.map((each: { pipeline_id: number }) => each.pipeline_id)).toEqual([early, id, id, id])
})

test('pipelines and jobs are read by ids of eight bytes, too', async () => {
  const made = await harness.project()
  await work.git('push', '--quiet', harness.remote('owner', made), 'main')
  for (const table of ['pipelines', 'commit_statuses'])
    await harness.database.pool.query(`SELECT setval(pg_get_serial_sequence($1, 'id'), 3000000000)`, [table])
  const created = await post(commits.third, { state: 'failed', ref: 'main', name: 'large' }, made)
  expect(created.status).toBe(201)
  const { id: job, pipeline_id: id } = created.body
  expect([id > 3_000_000_000, job > 3_000_000_000]).toEqual([true, true])
  for (const rest of [`pipelines/${id}`, `pipelines/${id}/jobs`, `jobs/${job}`])
    expect([rest, (await ask('reporter', 'GET', `/projects/${made.id}/${rest}`)).status]).toEqual([rest, 200])
  const again = { state: 'success', ref: 'main', name: 'large', pipeline_id: id }
  expect((await post(commits.third, again, made)).body.pipeline_id).toBe(id)
})

test('statuses are sorted in both directions with every combination of filters', async () => {
  const id = await idOf(commits.first, { state: 'success', ref: 'sorted', stage: 'test', name: 'a' })
  await post(commits.first, { state: 'success', pipeline_id: id, stage: 'test', name: 'a' })
  const statuses = `/projects/${project.id}/repository/commits/${commits.first}/statuses`
  const filters = ['ref=sorted', 'stage=test', 'name=a', `pipeline_id=${id}`]
  for (let chosen = 0; chosen < 2 ** filters.length; chosen += 1) {
    const query = filters.filter((_, index) => chosen & (2 ** index)).join('&')
    for (const order of ['order_by=id', 'order_by=pipeline_id']) {
      for (const sort of ['sort=asc', 'sort=desc']) {
        const path = `${statuses}?${[query, order, sort, 'all=true'].join('&')}`
        expect([path, (await ask('reporter', 'GET', path)).status]).toEqual([path, 200])
      }
    }
  }
})

test('a commit shows its newest pipeline, and null without one', async () => {
  const fresh = await work.commit({ branch: 'fresh' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'fresh')
  expect(await commitOf(fresh)).toMatchObject({ status: null, last_pipeline: null })
  await post(fresh, { state: 'success', ref: 'fresh' })
  const id = await idOf(fresh, { state: 'failed', ref: 'other' })
  expect(await commitOf(fresh)).toMatchObject({
    status: 'failed',
    last_pipeline: { id, sha: fresh, ref: 'other', status: 'failed', source: 'external' },
  })
})

test('pipelines are filtered, sorted and counted', async () => {
  const made = await harness.project()
  const id = async (sha: string, body: object) => (await post(sha, body, made)).body.pipeline_id as number
  await work.git('push', '--quiet', harness.remote('owner', made), '--all')
  await work.git('push', '--quiet', harness.remote('owner', made), '--tags')
  const old = await id(commits.first, { state: 'success', ref: 'main' })
  const running = await id(commits.second, { state: 'running', ref: 'v1.0' })
  const newest = await id(commits.third, { state: 'failed', ref: 'main' })
  const gone = await id(commits.side, { state: 'skipped', ref: 'deleted' })
  const found = async (query: string) => {
    const { status, body, headers } = await ask('reporter', 'GET', path(`?${query}`, made))
    expect([query, status]).toEqual([query, 200])
    expect(headers.get('x-total')).toBe(String(body.length))
    return idsOf({ body })
  }
  expect(await found('')).toEqual([gone, newest, running, old])
  expect(await found('sort=asc')).toEqual([old, running, newest, gone])
  expect(await found('ref=main')).toEqual([newest, old])
  expect(await found(`sha=${commits.second}`)).toEqual([running])
  expect(await found('status=failed')).toEqual([newest])
  expect(await found('scope=running')).toEqual([running])
  expect(await found('scope=finished')).toEqual([gone, newest, old])
  expect(await found('scope=finished&status=running')).toEqual([])
  expect(await found('scope=branches')).toEqual([newest])
  expect(await found('scope=tags')).toEqual([running])
  expect(await found('source=push')).toEqual([])
  expect(await found('source=external&username=DORA&ref=main')).toEqual([newest, old])
  expect(await found('username=olga')).toEqual([])
  expect(await found('yaml_errors=true')).toEqual([])
  expect(await found('updated_after=2999-01-01')).toEqual([])
  expect(await found('created_after=2020-01-01&created_before=2999-01-01')).toHaveLength(4)
  expect(await found('order_by=status&sort=asc')).toEqual([newest, running, gone, old])
  expect(await found('order_by=ref&sort=asc')).toEqual([gone, old, newest, running])
  expect((await ask('reporter', 'GET', path(`/${running}`, made))).body.tag).toBe(true)
  const page = await ask('reporter', 'GET', path('?per_page=3&page=2', made))
  expect([idsOf(page), page.headers.get('x-total')]).toEqual([[old], '4'])
  for (const query of ['scope=none', 'status=done', 'order_by=name', 'sort=up', 'updated_after=soon']) {
    expect((await ask('reporter', 'GET', path(`?${query}`, made))).status).toBe(400)
  }
})

test('the latest pipeline is the pipeline of the newest commit of the ref', async () => {
  expect((await ask('reporter', 'GET', path('/latest'))).status).toBe(404)
  const id = await idOf(commits.third, { state: 'success', ref: 'main' })
  expect((await ask('anonymous', 'GET', path('/latest'))).body).toMatchObject({ id, ref: 'main' })
  expect(await ask('reporter', 'GET', path('/latest?ref=feature/x.y'))).toMatchObject({
    status: 404,
    body: { message: '404 Pipeline Not Found' },
  })
  expect((await ask('reporter', 'GET', path('/latest?ref=nope'))).status).toBe(404)
})

test('the jobs of a pipeline are its statuses, with retried ones on request', async () => {
  const sha = commits.side
  await post(sha, { state: 'failed', ref: 'jobs', name: 'unit' })
  await post(sha, { state: 'success', ref: 'jobs', name: 'unit', target_url: 'https://ci.test/7' })
  const id = await idOf(sha, { state: 'running', ref: 'jobs', name: 'lint' })
  const jobs = async (query = '') => (await ask('anonymous', 'GET', path(`/${id}/jobs${query}`))).body
  const [lint, unit] = await jobs()
  expect(lint).toMatchObject({ name: 'lint', status: 'running', pipeline: { id }, commit: { id: sha } })
  expect(unit).toMatchObject({ name: 'unit', status: 'success', web_url: 'https://ci.test/7', runner: null })
  expect(await jobs('?include_retried=true')).toHaveLength(3)
  expect(await jobs('?scope[]=success&scope[]=failed')).toHaveLength(1)
  expect(await jobs('?scope=running')).toHaveLength(1)
  expect((await ask('reporter', 'GET', path(`/${id}/jobs?scope=done`))).status).toBe(400)
  expect(await ask('reporter', 'GET', path('/999999/jobs'))).toMatchObject({
    status: 404,
    body: { message: '404 Not found' },
  })
})

test('pipelines cannot run here: starting, stopping and deleting are refused with the reason', async () => {
  const message = '405 Method Not Allowed - Switchyard runs no pipelines: they follow from commit statuses'
  for (const [who, method, url] of [
    ['developer', 'POST', `/projects/${project.id}/pipeline`],
    ['developer', 'POST', path('/1/cancel')],
    ['owner', 'DELETE', path('/1')],
  ] as const) {
    expect(await ask(who, method, url)).toMatchObject({ status: 405, body: { message } })
    expect((await ask('reporter', method, url)).status).toBe(403)
  }
})

test('a retry of a pipeline is sent to the pipeline webhooks, and refused without any', async () => {
  const sha = await work.commit({ branch: 'retry' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'retry')
  await idOf(sha, { state: 'success', ref: 'retry', name: 'lint', stage: 'check' })
  const id = await idOf(sha, { state: 'failed', ref: 'retry', name: 'unit', stage: 'test' })
  const retry = () => ask('developer', 'POST', path(`/${id}/retry`))
  expect(await retry()).toMatchObject({
    status: 405,
    body: { message: expect.stringContaining('the project has no webhook that would tell a CI system') },
  })
  const { prisma } = harness.database
  const given = { scope: 'project', projectId: project.id, url: 'http://x.example', host: 'x' }
  const webhook = await prisma.webhook.create({ data: { ...given, events: ['pipeline'] } })
  try {
    expect(await retry()).toMatchObject({ status: 201, body: { id, status: 'failed' } })
    const [delivery] = await prisma.webhookDelivery.findMany({ where: { webhookId: webhook.id } })
    expect(delivery?.requestHeaders).toMatchObject({ 'X-Gitlab-Event': 'Pipeline Hook' })
    expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({
      object_kind: 'pipeline',
      object_attributes: {
        id,
        ref: 'retry',
        sha,
        stages: ['test', 'check'],
        finished_at: null,
        status: 'pending',
        detailed_status: 'pending',
        retry_requested: true,
      },
      user: { username: 'dora' },
      builds: [
        { name: 'unit', stage: 'test', status: 'pending', finished_at: null },
        { name: 'lint', stage: 'check', status: 'success' },
      ],
    })
  } finally {
    await prisma.webhook.delete({ where: { id: webhook.id } })
  }
  expect((await ask('developer', 'POST', path('/999999/retry'))).status).toBe(404)
  expect((await ask('developer', 'POST', path('/x/retry'))).status).toBe(400)
  for (const [who, status] of [
    ['reporter', 403],
    ['anonymous', 401],
  ] as const)
    expect((await ask(who, 'POST', path(`/${id}/retry`))).status).toBe(status)
})

async function badge(rest: string, who: 'anonymous' | 'reporter' | 'stranger' = 'anonymous', of = project) {
  const url = `${harness.baseUrl}/${of.pathWithNamespace}/badges/${rest}`
  const headers: Record<string, string> = who === 'anonymous' ? {} : { 'PRIVATE-TOKEN': harness.tokens[who] }
  const response = await fetch(url, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Returns the two texts of a badge. */
const shown = ({ text }: { text: string }) =>
  [...text.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, value]) => value)

test('badges show the state and the coverage of a ref', async () => {
  const tip = await work.commit({ branch: 'badge/1' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'badge/1')
  expect(shown(await badge('badge/1/pipeline.svg'))).toEqual(['pipeline', 'unknown'])
  expect(shown(await badge('nowhere/pipeline.svg'))).toEqual(['pipeline', 'unknown'])
  expect(shown(await badge('badge/1/coverage.svg'))).toEqual(['coverage', 'unknown'])
  await post(tip, { state: 'success', ref: 'badge/1', name: 'a', coverage: 80 })
  await post(tip, { state: 'success', ref: 'badge/1', name: 'b', coverage: 91 })
  const pipeline = await badge('badge/1/pipeline.svg?style=flat-square')
  expect(pipeline.headers.get('content-type')).toMatch(/^image\/svg\+xml/)
  expect(pipeline.headers.get('cache-control')).toContain('no-store')
  expect(shown(pipeline)).toEqual(['pipeline', 'passed'])
  const coverage = await badge('badge%2F1/coverage.svg')
  expect(shown(coverage)).toEqual(['coverage', '85.50%'])
  expect(coverage.text).toContain('#dfb317')
  expect((await badge('badge/1/coverage.svg?min_good=85')).text).toContain('#4c1')
  expect(shown(await badge('badge/1/coverage.svg?job=b&key_text=of%20b'))).toEqual(['of b', '91.00%'])
  const moved = await work.commit({ branch: 'badge/1' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'badge/1')
  await post(moved, { state: 'skipped', ref: 'badge/1' })
  expect(shown(await badge('badge/1/pipeline.svg'))).toEqual(['pipeline', 'skipped'])
  expect(shown(await badge('badge/1/pipeline.svg?ignore_skipped=true'))).toEqual(['pipeline', 'passed'])
})

test('badges contain no foreign markup, refuse long texts, and hide private projects', async () => {
  const text = encodeURIComponent('"><script>&')
  const { text: image } = await badge(`main/pipeline.svg?key_text=${text}&key_width=40`)
  expect(image).not.toContain('<script')
  expect(image).toContain('&quot;&gt;&lt;script&gt;&amp;')
  for (const query of [`key_text=${'x'.repeat(26)}`, 'key_width=0', 'key_width=513', 'style=round']) {
    expect((await badge(`main/pipeline.svg?${query}`)).status).toBe(400)
  }
  expect((await badge('main/coverage.svg?min_good=101')).status).toBe(400)
  const hidden = await harness.project()
  expect((await badge('main/pipeline.svg', 'anonymous', hidden)).status).toBe(404)
  expect((await badge('main/pipeline.svg', 'stranger', hidden)).status).toBe(404)
  expect((await badge('main/pipeline.svg', 'reporter', hidden)).status).toBe(200)
})

test('gitbeaker reads pipelines, their jobs and the newest one', async () => {
  const { Pipelines, Jobs, Commits } = new Gitlab({ host: harness.baseUrl, token: harness.tokens.developer })
  const sha = await work.commit({ branch: 'beaker' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'beaker')
  const posted = await Commits.editStatus(project.id, sha, 'failed', { ref: 'beaker', name: 'unit' })
  const all = await Pipelines.all(project.id, { ref: 'beaker' })
  expect(all).toMatchObject([{ id: posted.pipeline_id, status: 'failed', sha }])
  const id = all[0]?.id ?? 0
  expect(await Pipelines.show(project.id, id)).toMatchObject({ id, user: { username: 'dora' } })
  expect(await Pipelines.showLatest(project.id, { ref: 'beaker' })).toMatchObject({ id })
  expect(await Jobs.all(project.id, { pipelineId: id })).toMatchObject([{ name: 'unit', status: 'failed' }])
  await expect(Pipelines.retry(project.id, id)).rejects.toThrow('runs no pipelines')
})

test.each(['bridges', 'variables'])(
  '%s of a pipeline are an empty list with the headers of pages',
  async (name) => {
    const id = await idOf(commits.first, { state: 'success', ref: 'main', name: 'unit' })
    const { status, body, headers } = await ask('reporter', 'GET', path(`/${id}/${name}`))
    expect([status, body, headers.get('x-total')]).toEqual([200, [], '0'])
    expect((await ask('reporter', 'GET', path(`/${id}/${name}?page=0`))).status).toBe(400)
    expect(await ask('reporter', 'GET', path(`/999999/${name}`))).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    })
  },
)
