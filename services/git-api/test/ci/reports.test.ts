import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listReports } from '../../src/ci/reports/store.js'
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

const url = (sha: string, rest: string, of = project) =>
  `/projects/${of.id}/statuses/${encodeURIComponent(sha)}/${rest}`
const get = (sha: string, rest: string, who: Who = 'reporter') => harness.ask(who, 'GET', url(sha, rest))
const setStatus = async (sha: string, name: string, fields: object = {}) =>
  (
    await harness.ask('developer', 'POST', `/projects/${project.id}/statuses/${sha}`, {
      state: 'success',
      name,
      ...fields,
    })
  ).body

async function post(
  sha: string,
  query: string,
  body: string | Uint8Array<ArrayBuffer>,
  { who = 'developer' as Who, type = 'application/xml', headers = {} as Record<string, string> } = {},
) {
  const token: Record<string, string> = who === 'anonymous' ? {} : { 'PRIVATE-TOKEN': harness.tokens[who] }
  const sent = { method: 'POST', body, headers: { 'Content-Type': type, ...token, ...headers } }
  const response = await fetch(`${harness.baseUrl}/api/v4${url(sha, `report?${query}`)}`, sent)
  const answer = (await response.json()) as { ref: string; tests: object | null }
  return { status: response.status, body: answer }
}

/** Returns a suite whose tests are named by their outcome: `a+` passes, `a-` fails, `a?` was skipped. */
const suite = (...tests: string[]) => `<testsuite name="s">${tests.map(testcase).join('')}</testsuite>`
function testcase(test: string) {
  const inner = { '+': '', '-': '<failure message="no">stack</failure>', '?': '<skipped/>' }[
    test.at(-1) ?? ''
  ]
  return `<testcase classname="c" name="${test.slice(0, -1)}" time="0.5">${inner}</testcase>`
}
const sarif = (...lines: number[]) =>
  JSON.stringify({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'scan' } },
        results: lines.map((startLine) => ({
          ruleId: `R${startLine}`,
          message: { text: 'Look' },
          locations: [
            { physicalLocation: { artifactLocation: { uri: 'src/a.txt' }, region: { startLine } } },
          ],
        })),
      },
    ],
  })

test('a test report is read back with its status, in lists and alone', async () => {
  const { pipeline_id } = await setStatus(commits.first, 'unit', { ref: 'main' })
  const { status, body } = await post(commits.first.slice(0, 9), 'name=unit', suite('a+', 'b-', 'c?'))
  expect([status, body]).toEqual([
    201,
    {
      id: expect.any(Number),
      sha: commits.first,
      ref: 'main',
      name: 'unit',
      format: 'junit',
      pipeline_id,
      created_at: expect.any(String),
      author: expect.objectContaining({ username: 'dora' }),
      tests: { total: 3, success: 1, failed: 1, error: 0, skipped: 1, time: 1.5 },
      findings: null,
    },
  ])
  expect((await get(commits.first, 'reports')).body).toEqual([body])
  const shown = { suite: 's', classname: 'c', file: null, time: 0.5, flaky: false }
  expect((await get(commits.first, 'report?name=unit')).body).toEqual({
    ...body,
    test_cases: [
      { ...shown, name: 'a', status: 'success', message: null, details: null },
      { ...shown, name: 'b', status: 'failed', message: 'no', details: 'stack' },
      { ...shown, name: 'c', status: 'skipped', message: null, details: null },
    ],
    results: [],
  })
})

test('a list of reports does not read their contents, which may be megabytes', async () => {
  const { reports } = await listReports(harness.database, { projectId: project.id, sha: commits.first })
  expect(Object.keys(reports[0] ?? {})).toEqual(expect.arrayContaining(['name', 'tests', 'findings']))
  for (const content of ['outcomes', 'entries']) expect(reports[0]).not.toHaveProperty(content)
})

test('an analysis report exists beside a test report, and each ref has its own', async () => {
  for (const ref of ['main', 'release']) await setStatus(commits.second, 'both', { ref })
  await post(commits.second, 'name=both&ref=main', suite('a+'), { type: 'text/xml; charset=utf-8' })
  const json = { type: 'application/sarif+json' }
  const { body } = await post(commits.second, 'name=both&ref=main', sarif(3, 4), json)
  expect(body).toMatchObject({ tests: null, findings: { total: 2, error: 0, warning: 2, note: 0, none: 0 } })
  const other = await setStatus(commits.second, 'both', { ref: 'release', state: 'failed' })
  const ofPipeline = `name=both&pipeline_id=${other.pipeline_id}`
  expect((await post(commits.second, ofPipeline, sarif(), { type: 'application/json' })).body.ref).toBe(
    'release',
  )
  const found = async (query: string) =>
    (await get(commits.second, `reports?${query}`)).body.map((each: { ref: string; format: string }) => [
      each.ref,
      each.format,
    ])
  expect(await found('')).toEqual([
    ['release', 'sarif'],
    ['main', 'sarif'],
    ['main', 'junit'],
  ])
  expect(await found('ref=main&format=junit')).toEqual([['main', 'junit']])
  expect(await found('name=none')).toEqual([])
  expect(await found('per_page=1&page=2')).toEqual([['main', 'sarif']])
  expect((await get(commits.second, 'report?name=both&format=sarif&ref=main')).body.results).toEqual(
    [3, 4].map((line) => ({
      tool: 'scan',
      rule: `R${line}`,
      level: 'warning',
      message: 'Look',
      path: 'src/a.txt',
      line,
      end_line: line,
    })),
  )
})

test('the next report of a status replaces the last one, even in parallel, and tests that failed and passed are flaky', async () => {
  await setStatus(commits.third, 'again')
  await post(commits.third, 'name=again', suite('a-', 'b+', 'c-'))
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(commits.third, 'name=again', suite('a+', 'b+', 'c-'))),
  )
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  expect((await get(commits.third, 'reports')).body).toHaveLength(1)
  const { body } = await get(commits.third, 'report?name=again')
  expect(
    body.test_cases.map((each: { status: string; flaky: boolean }) => [each.status, each.flaky]),
  ).toEqual([
    ['success', true],
    ['success', false],
    ['failed', false],
  ])
})

test('a commit shows the differences between its reports and the reports of its parent', async () => {
  const before = await work.commit({ branch: 'changes' })
  const now = await work.commit({ branch: 'changes' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'changes')
  for (const sha of [before, now]) await setStatus(sha, 'unit')
  await post(before, 'name=unit', suite('kept+', 'heals-', 'ails-', 'breaks+', 'gone+'))
  await post(now, 'name=unit', suite('flaky-'))
  await post(now, 'name=unit', suite('kept+', 'heals+', 'ails-', 'breaks-', 'fresh+', 'flaky+'))
  await post(before, 'name=unit', sarif(3, 5), { type: 'application/json' })
  await post(now, 'name=unit', sarif(4, 5), { type: 'application/json' })
  const { status, body } = await get(now, 'report_changes')
  const names = (count: number, ...tests: string[]) => ({ count, tests: tests.map((name) => ({ name })) })
  expect([status, body]).toMatchObject([
    200,
    [
      {
        report: { format: 'sarif' },
        parent_sha: before,
        new_failures: names(0),
        results: [
          { rule: 'R4', new: true },
          { rule: 'R5', new: false },
        ],
        new_results: 1,
        fixed_results: 1,
      },
      {
        report: { format: 'junit', tests: { total: 6 } },
        parent_sha: before,
        new_tests: names(2, 'fresh', 'flaky'),
        new_failures: names(1, 'breaks'),
        existing_failures: names(1, 'ails'),
        fixed: names(1, 'heals'),
        flaky: names(1, 'flaky'),
        results: [],
      },
    ],
  ])
  const [, first] = (await get(before, 'report_changes')).body
  expect(first).toMatchObject({
    parent_sha: null,
    new_tests: names(0),
    new_failures: names(2, 'heals', 'ails'),
  })
  expect((await get(commits.first, 'report_changes', 'guest')).status).toBe(403)
  expect((await get('unknown', 'report_changes')).status).toBe(404)
})

test('a pipeline has its test reports in the shape of GitLab', async () => {
  const sha = await work.commit({ branch: 'suites' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'suites')
  const { id, pipeline_id } = await setStatus(sha, 'unit')
  await setStatus(sha, 'e2e')
  await setStatus(sha, 'other', { ref: 'elsewhere' })
  await post(sha, 'name=unit', suite('a+', 'b-'))
  await post(sha, 'name=e2e', suite('c?'))
  await post(sha, 'name=e2e', sarif(1), { type: 'application/json' })
  await post(sha, 'name=other', suite('d+'))
  const of = async (what: string) =>
    (await harness.ask('reporter', 'GET', `/projects/${project.id}/pipelines/${pipeline_id}/${what}`)).body
  const counts = { success_count: 1, failed_count: 1, skipped_count: 1, error_count: 0 }
  const shown = { classname: 'c', file: null, execution_time: 0.5, stack_trace: null, recent_failures: null }
  const report = await of('test_report')
  expect(report).toMatchObject({ total_time: 1.5, total_count: 3, ...counts })
  expect(report.test_suites).toMatchObject([
    {
      name: 'unit',
      total_time: 1,
      total_count: 2,
      suite_error: null,
      test_cases: [
        { ...shown, name: 'a', status: 'success', system_output: null },
        { ...shown, name: 'b', status: 'failed', system_output: 'no\nstack' },
      ],
    },
    { name: 'e2e', skipped_count: 1, test_cases: [{ name: 'c', status: 'skipped' }] },
  ])
  const summary = await of('test_report_summary')
  expect(summary.total).toEqual({
    time: 1.5,
    count: 3,
    success: 1,
    failed: 1,
    skipped: 1,
    error: 0,
    suite_error: null,
  })
  expect(summary.test_suites).toMatchObject([
    { name: 'unit', failed_count: 1, build_ids: [id] },
    { name: 'e2e', skipped_count: 1 },
  ])
})

test('a large report delays nobody, and may be compressed', async () => {
  await setStatus(commits.side, 'large')
  const tests = Array.from({ length: 20_000 }, (_, index) => `test ${index}${index % 2 ? '+' : '-'}`)
  const packed = new Blob([suite(...tests)]).stream().pipeThrough(new CompressionStream('gzip'))
  const body = new Uint8Array(await new Response(packed).arrayBuffer())
  const sent = post(commits.side, 'name=large', body, { headers: { 'Content-Encoding': 'gzip' } })
  expect((await get(commits.side, 'reports')).status).toBe(200)
  expect(await sent).toMatchObject({ status: 201, body: { tests: { total: 20_000, failed: 10_000 } } })
  expect((await get(commits.side, 'report?name=large')).body.test_cases).toHaveLength(20_000)
})

const laughs =
  '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'
const xml = 'application/xml'
test.each([
  ['no body', '', xml, 400, { error: 'the body is empty' }],
  [
    'another type',
    '{}',
    'text/plain',
    415,
    { error: "The provided content-type 'text/plain' is not supported." },
  ],
  ['a form', 'a=b', 'application/x-www-form-urlencoded', 415, {}],
  [
    'broken XML',
    '<testsuite>',
    xml,
    400,
    { error: expect.stringMatching(/^the report is no well-formed XML: line 1/) },
  ],
  ['a billion laughs', laughs, xml, 400, { error: expect.stringMatching(/document type/) }],
  ['deep nesting', '<testsuite>'.repeat(50_000), xml, 400, { error: 'the report is nested too deeply' }],
  ['NUL', '<testsuite name="\0"/>', xml, 400, {}],
  ['JSON that is called XML', sarif(1), xml, 400, {}],
  [
    'XML that is called JSON',
    '<testsuite/>',
    'application/json',
    400,
    { error: 'the report is no valid JSON' },
  ],
  ['deep JSON', '['.repeat(100_000), 'application/json', 400, { error: 'the report is nested too deeply' }],
  [
    'too many tests',
    `<testsuite>${'<testcase name="a"/>'.repeat(20_001)}</testsuite>`,
    xml,
    413,
    { message: 'the report has more than 20000 tests' },
  ],
  ['too many bytes', ' '.repeat(10 * 1024 * 1024 + 1), xml, 413, {}],
])('a report with %s is refused and leaves nothing', async (_what, body, type, status, answer) => {
  await setStatus(commits.first, 'bad')
  expect(await post(commits.first, 'name=bad', body, { type })).toMatchObject({ status, body: answer })
  expect((await get(commits.first, 'reports?name=bad')).body).toEqual([])
})

test('bad parameters are refused', async () => {
  for (const [query, error] of [
    ['', 'name is missing'],
    ['name=%20', 'name is empty'],
    ['name=a%00', 'name is invalid'],
    ['name=a&pipeline_id=x', 'pipeline_id is invalid'],
  ] as const) {
    expect(await post(commits.first, query, suite())).toMatchObject({ status: 400, body: { error } })
  }
  expect((await get(commits.first, 'report')).body.error).toBe('name is missing')
  expect((await get(commits.first, 'reports?format=tap')).body.error).toBe(
    'format does not have a valid value',
  )
})

test('an unknown commit, and a commit without such a status or report, are not found', async () => {
  await setStatus(commits.first, 'known')
  const message = '404 Status of this commit, name and ref Not Found'
  for (const query of ['name=unknown', 'name=known&ref=other', 'name=known&pipeline_id=999999'])
    expect(await post(commits.first, query, suite('a+'))).toMatchObject({ status: 404, body: { message } })
  expect(await get(commits.first, 'report?name=known')).toMatchObject({
    status: 404,
    body: { message: '404 Report Not Found' },
  })
  for (const sha of ['unknown', '--all', 'f'.repeat(40)]) {
    expect((await post(sha, 'name=known', suite('a+'))).status).toBe(404)
    expect((await get(sha, 'reports')).status).toBe(404)
    expect((await get(sha, 'report?name=known')).status).toBe(404)
  }
})

test('developers post reports, reporters read them', async () => {
  for (const [who, posts, reads] of [
    ['anonymous', 401, 401],
    ['stranger', 404, 404],
    ['guest', 403, 403],
    ['reporter', 403, 200],
    ['narrow', 403, 403],
  ] as const) {
    expect([who, (await post(commits.first, 'name=unit', suite('a+'), { who })).status]).toEqual([who, posts])
    expect([who, (await get(commits.first, 'reports', who)).status]).toEqual([who, reads])
  }
})

test('a commit has at most 100 reports, each of which can still be replaced', async () => {
  const sha = await work.commit({ branch: 'many' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'many')
  await setStatus(sha, 'first')
  await setStatus(sha, 'one more')
  await post(sha, 'name=first', suite('a+'))
  await harness.database.pool.query(
    `INSERT INTO status_reports (project_id, sha, ref, name, format, pipeline_id, status_id, outcomes, entries)
     SELECT $1, $2, 'many', 'n' || n, 'junit', 1, 1, '', '' FROM generate_series(1, 99) n`,
    [project.id, sha],
  )
  expect(await post(sha, 'name=one%20more', suite('a+'))).toMatchObject({
    status: 422,
    body: { message: 'The commit has 100 reports already' },
  })
  expect((await post(sha, 'name=first', suite('a-'))).body.tests).toMatchObject({ failed: 1 })
  expect((await get(sha, 'reports?per_page=100')).body).toHaveLength(100)
})
