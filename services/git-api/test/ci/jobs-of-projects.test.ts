import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
/** Ids of four statuses in two pipelines, in the order of their posts. */
const ids: number[] = []
let pipelines: number[]
let commits: Record<'first' | 'second', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
  const posts = [
    [commits.first, { state: 'failed', name: 'unit', ref: 'main' }],
    [commits.first, { state: 'success', name: 'unit', ref: 'main', target_url: 'https://ci.test/a b?c=d' }],
    [commits.second, { state: 'running', name: 'unit', ref: 'v1.0', coverage: 50 }],
    [commits.second, { state: 'pending', name: 'lint', ref: 'v1.0' }],
  ] as const
  const made: number[] = []
  for (const [sha, body] of posts) {
    const posted = await ask('developer', 'POST', `/projects/${project.id}/statuses/${sha}`, body)
    ids.push(posted.body.id)
    made.push(posted.body.pipeline_id)
  }
  pipelines = [...new Set(made)]
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)
const jobs = (rest = '', who: Parameters<typeof ask>[0] = 'reporter') =>
  ask(who, 'GET', `/projects/${project.id}/jobs${rest}`)
const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id)

test('the jobs of a project are its statuses, newest first, including replaced ones', async () => {
  const all = await jobs()
  expect(idsOf(all)).toEqual(ids.toReversed())
  expect(all.body[1]).toMatchObject({
    status: 'running',
    name: 'unit',
    tag: true,
    coverage: 50,
    commit: { id: commits.second },
    pipeline: { id: pipelines[1], sha: commits.second, ref: 'v1.0' },
    user: { username: 'dora' },
  })
  expect(idsOf(await jobs('?scope[]=running&scope[]=pending'))).toEqual([ids[3], ids[2]])
  expect(idsOf(await jobs('?scope=created'))).toEqual([])
})

test('a page of jobs names the next page, and has no total', async () => {
  const { headers, ...page } = await jobs('?per_page=3')
  expect(idsOf(page)).toEqual(ids.slice(1).toReversed())
  expect([headers.get('X-Next-Page'), headers.get('X-Total')]).toEqual(['2', null])
  const last = await jobs('?per_page=3&page=2')
  expect([idsOf(last), last.headers.get('X-Next-Page')]).toEqual([[ids[0]], ''])
})

test('a job has the same shape alone and in the lists', async () => {
  const { body } = await jobs(`/${ids[1]}`)
  expect(body).toMatchObject({ id: ids[1], status: 'success', web_url: 'https://ci.test/a b?c=d' })
  const ofPipeline = await ask('reporter', 'GET', `/projects/${project.id}/pipelines/${pipelines[0]}/jobs`)
  expect(ofPipeline.body).toEqual([body])
  expect((await jobs()).body).toContainEqual(body)
})

test('a trace redirects to the address of its status, and is 404 without one', async () => {
  const url = `${harness.baseUrl}/api/v4/projects/${project.id}/jobs/${ids[1]}/trace`
  const headers = { 'PRIVATE-TOKEN': harness.tokens.reporter }
  const response = await fetch(url, { headers, redirect: 'manual' })
  expect([response.status, response.headers.get('Location')]).toEqual([302, 'https://ci.test/a%20b?c=d'])
  expect(await jobs(`/${ids[0]}/trace`)).toMatchObject({
    status: 404,
    body: { message: '404 Trace Not Found' },
  })
})

test('the test report of a pipeline without reports is empty', async () => {
  const at = (rest: string) => `/projects/${project.id}/pipelines/${rest}`
  const report = await ask('reporter', 'GET', at(`${pipelines[0]}/test_report`))
  expect([report.status, report.body]).toEqual([
    200,
    {
      total_time: 0,
      total_count: 0,
      success_count: 0,
      failed_count: 0,
      skipped_count: 0,
      error_count: 0,
      test_suites: [],
    },
  ])
  const summary = await ask('reporter', 'GET', at(`${pipelines[0]}/test_report_summary`))
  expect(summary.body).toEqual({
    total: { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null },
    test_suites: [],
  })
  for (const name of ['test_report', 'test_report_summary'])
    expect((await ask('reporter', 'GET', at(`999999/${name}`))).status).toBe(404)
})

test.each([
  ['?scope=done', 400],
  ['?scope[]=running&scope[]=done', 400],
  ['?page=0', 400],
  ['/0', 400],
  ['/x', 400],
  ['/999999', 404],
  ['/999999/trace', 404],
])('GET /projects/:id/jobs%s is refused with %i', async (rest, status) => {
  expect((await jobs(rest)).status).toBe(status)
})

test('jobs need the right to read the code, and belong to one project', async () => {
  for (const rest of ['', `/${ids[1]}`, `/${ids[1]}/trace`]) {
    expect((await jobs(rest, 'anonymous')).status).toBe(404)
    expect((await jobs(rest, 'stranger')).status).toBe(404)
    expect((await jobs(rest, 'guest')).status).toBe(403)
    expect((await jobs(rest, 'narrow')).status).toBe(403)
  }
  const other = await harness.project()
  expect((await ask('owner', 'GET', `/projects/${other.id}/jobs/${ids[1]}`)).status).toBe(404)
})
