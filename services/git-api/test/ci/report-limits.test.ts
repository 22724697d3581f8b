import { randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let sha: string

beforeAll(async () => {
  harness = await startGitHarness()
  let commits: { second: string }
  ;({ project, work, commits } = await pushSample(harness))
  sha = commits.second
  const status = { state: 'success', name: 'unit', ref: 'main' }
  await harness.ask('developer', 'POST', `/projects/${project.id}/statuses/${sha}`, status)
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

async function post(xml: string) {
  const response = await fetch(
    `${harness.baseUrl}/api/v4/projects/${project.id}/statuses/${sha}/report?name=unit`,
    {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': harness.tokens.developer, 'Content-Type': 'application/xml' },
      body: xml,
    },
  )
  const body = (await response.json()) as { message: string; tests: { time: number } }
  return { status: response.status, body }
}
const changes = (who: 'reporter' | 'owner') =>
  harness.ask(who, 'GET', `/projects/${project.id}/statuses/${sha}/report_changes`)

test('the sum of test times has no binary rounding errors', async () => {
  const xml = `<testsuite>${['0.1', '0.2', '0.000001']
    .map((time, index) => `<testcase name="t${index}" time="${time}"/>`)
    .join('')}</testsuite>`
  expect((await post(xml)).body.tests.time).toBe(0.300001)
  const { pipeline_id } = (
    await harness.ask(
      'reporter',
      'GET',
      `/projects/${project.id}/repository/commits/${sha}/statuses?ref=main`,
    )
  ).body[0]
  const summary = await harness.ask(
    'reporter',
    'GET',
    `/projects/${project.id}/pipelines/${pipeline_id}/test_report_summary`,
  )
  expect(summary.body.total.time).toBe(0.300001)
})

async function slots(state: string): Promise<number> {
  const text = await (await fetch(`${harness.baseUrl}/metrics`)).text()
  return Number(
    new RegExp(`^git_api_slots\\{[^}]*work="report",state="${state}"[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1],
  )
}

test('many comparisons of one sender run one at a time, and another sender is served beside them', async () => {
  const answered = (await changes('owner')).body
  const client = await harness.database.pool.connect()
  await client.query('BEGIN; LOCK TABLE status_reports IN ACCESS EXCLUSIVE MODE')
  const flood = Array.from({ length: 60 }, () => changes('reporter'))
  // One request reads reports, 50 requests wait for their turn, and the remaining nine are refused.
  await expect.poll(() => slots('waiting')).toBe(50)
  expect(await slots('held')).toBe(1)
  const neighbour = changes('owner')
  await expect.poll(() => slots('held')).toBe(2)
  const branches = await harness.ask('reporter', 'GET', `/projects/${project.id}/repository/branches`)
  expect(branches.status).toBe(200)
  await client.query('COMMIT')
  client.release()
  expect(await neighbour).toMatchObject({ status: 200, body: answered })
  const answers = await Promise.all(flood)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 429))
  expect(refused[0]?.headers.get('Retry-After')).toBe('30')
  for (const { status, body } of answers) if (status === 200) expect(body).toEqual(answered)
})

test('a comparison is no longer shown when its report is replaced', async () => {
  await post('<testsuite><testcase name="a"><failure/></testcase></testsuite>')
  expect((await changes('reporter')).body[0].new_failures.count).toBe(1)
  expect((await changes('reporter')).body[0].new_failures.count).toBe(1)
  await post('<testsuite><testcase name="a"/></testsuite>')
  expect((await changes('reporter')).body[0]).toMatchObject({
    new_failures: { count: 0 },
    flaky: { count: 1 },
  })
})

test('reports count towards the quota of their project, and replaced ones do not', async () => {
  const statistics = async () =>
    (await harness.ask('owner', 'GET', `/projects/${project.id}?statistics=true`)).body.statistics
  const noise = () => randomBytes(30_000).toString('hex')
  const large = () =>
    `<testsuite>${Array.from({ length: 100 }, () => `<testcase name="${noise().slice(0, 1000)}"/>`).join('')}</testsuite>`
  await post(large())
  const before = await statistics()
  expect(before.pipeline_artifacts_size).toBeGreaterThan(50_000)
  expect(before.storage_size).toBe(before.repository_size + before.pipeline_artifacts_size)
  await post('<testsuite><testcase name="a"/></testsuite>')
  const small = await statistics()
  expect(small.pipeline_artifacts_size).toBeLessThan(1_000)

  // The row looks like after housekeeping.
  await harness.database.prisma.storageUse.update({
    where: { projectId: project.id },
    data: { repositoryBytes: small.repository_size },
  })
  const limit = { repository_size_limit: small.storage_size + 2_000 }
  const asRoot = { 'PRIVATE-TOKEN': 'root-token-of-the-tests-0123456789', 'Content-Type': 'application/json' }
  const limited = await fetch(`${harness.baseUrl}/api/v4/projects/${project.id}`, {
    method: 'PUT',
    headers: asRoot,
    body: JSON.stringify(limit),
  })
  expect(limited.status).toBe(200)
  const refused = await post(large())
  const sentence = 'The repository, the LFS objects and the files of this project may take'
  expect([refused.status, refused.body.message]).toEqual([413, expect.stringContaining(sentence)])
  expect((await statistics()).pipeline_artifacts_size).toBe(small.pipeline_artifacts_size)
  expect((await post('<testsuite><testcase name="b"/></testsuite>')).status).toBe(201)
})
