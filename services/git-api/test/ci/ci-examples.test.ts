import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let folder: string
/** Environment variables of every job. */
let surroundings: Record<string, string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work } = await pushSample(harness))
  folder = await mkdtemp(join(tmpdir(), 'switchyard-ci-'))
  // The build itself is not part of the test.
  await writeFile(join(folder, 'make'), '#!/bin/sh\nexit "$MAKE_ENDS_WITH"\n')
  await chmod(join(folder, 'make'), 0o755)
  const issued = await harness.send('owner', 'POST', `/projects/${project.id}/access_tokens`, {
    name: 'ci',
    scopes: ['api'],
    access_level: 30,
  })
  surroundings = {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    SWITCHYARD_URL: harness.baseUrl,
    SWITCHYARD_PROJECT: String(project.id),
    SWITCHYARD_TOKEN: ((await issued.json()) as { token: string }).token,
  }
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const example = (name: string) =>
  readFile(new URL(`../../../../examples/ci/${name}`, import.meta.url), 'utf8')

/** Returns whether a script succeeds in a shell that stops at the first failure, as in CI systems. */
async function run(script: string, variables: Record<string, string>): Promise<boolean> {
  const shell = spawn('bash', ['-e', '-c', script], {
    env: { ...surroundings, ...variables },
    stdio: 'ignore',
  })
  const [code] = (await once(shell, 'exit')) as [number]
  return code === 0
}

interface Listed {
  name: string
  ref: string
  status: string
  target_url: string | null
  description: string | null
  coverage: number | null
  author: { name: string }
}

async function statusesOf(sha: string, query = ''): Promise<Listed[]> {
  const path = `/projects/${project.id}/repository/commits/${sha}/statuses?${query}`
  return (await (await harness.send('reporter', 'GET', path)).json()) as Listed[]
}

async function freshCommit() {
  const sha = await work.commit({ branch: 'built' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'built')
  return sha
}

const makeEnds = (good: boolean) => ({ MAKE_ENDS_WITH: good ? '0' : '2' })

/** Runs the steps of a job as GitHub does, with values for its expressions. */
async function githubJob(
  job: { env: Record<string, string>; steps: { run?: string; if?: string; env?: Record<string, string> }[] },
  values: Record<string, string>,
  good: boolean,
) {
  const filled = (text: string, status: string) =>
    text.replace(/\$\{\{\s*(.+?)\s*\}\}/g, (_all, name: string) => {
      const value = name === 'job.status' ? status : values[name]
      if (value === undefined) throw new Error(`the test has no value for ${name}`)
      return value
    })
  const env = (variables: Record<string, string> = {}, status = '') =>
    Object.fromEntries(Object.entries(variables).map(([name, text]) => [name, filled(text, status)]))
  let status = 'success'
  for (const step of job.steps) {
    if (step.run === undefined || (status !== 'success' && step.if !== 'always()')) continue
    const variables = { ...env(job.env), ...env(step.env, status), ...makeEnds(good) }
    if (!(await run(step.run, variables))) status = 'failure'
  }
  return status
}

test('GitHub Actions: the jobs of a matrix post their states in parallel', async () => {
  const sha = await freshCommit()
  const { jobs } = parse(await example('github-actions.yml'))
  const { matrix } = jobs.test.strategy
  const page = {
    'github.server_url': 'https://github.example',
    'github.repository': 'a/b',
    'github.run_id': '7',
  }
  const ends = await Promise.all(
    matrix.node.map((node: string, index: number) =>
      githubJob(
        jobs.test,
        {
          ...page,
          'vars.SWITCHYARD_URL': surroundings.SWITCHYARD_URL ?? '',
          'vars.SWITCHYARD_PROJECT': surroundings.SWITCHYARD_PROJECT ?? '',
          'secrets.SWITCHYARD_TOKEN': surroundings.SWITCHYARD_TOKEN ?? '',
          'github.sha': sha,
          'github.ref_name': 'built',
          'matrix.node': node,
        },
        index === 0,
      ),
    ),
  )
  expect(ends).toEqual(['success', 'failure'])
  const shown = {
    ref: 'built',
    target_url: 'https://github.example/a/b/actions/runs/7',
    author: { name: 'ci' },
  }
  const statuses = await statusesOf(sha)
  expect(statuses.sort((a, b) => a.name.localeCompare(b.name))).toMatchObject([
    { ...shown, name: 'github/test (node 20)', status: 'success', description: 'The job ended: success' },
    { ...shown, name: 'github/test (node 22)', status: 'failed', description: 'The job ended: failure' },
  ])
  expect(await statusesOf(sha, 'all=true')).toHaveLength(2)
})

/** Returns the shell scripts of a declarative pipeline, each with its enclosing block. */
function jenkinsScripts(pipeline: string) {
  const scripts: { within: string; script: string }[] = []
  let within = ''
  for (const [, stage, post, script] of pipeline.matchAll(
    /stage\('(\w+)'\)|^ {4}(success|failure|aborted) \{|sh '''([\s\S]*?)'''/gm,
  )) {
    within = stage ?? post ?? within
    // Groovy removes a backslash at the end of a line with the line break, as the shell would.
    if (script !== undefined) scripts.push({ within, script })
  }
  return scripts
}

test.each([
  ['success', true],
  ['failure', false],
] as const)('Jenkins: a build that ends with %s posts pending, running and its end', async (ending, good) => {
  const sha = await freshCommit()
  const scripts = jenkinsScripts(await example('Jenkinsfile'))
  expect(scripts.map(({ within }) => within)).toEqual([
    'Announce',
    'Test',
    'Test',
    'success',
    'failure',
    'aborted',
  ])
  const variables = {
    GIT_COMMIT: sha,
    BRANCH_NAME: 'built',
    BUILD_URL: 'https://jenkins.example/job/built/3/',
    BUILD_NUMBER: '3',
    ...makeEnds(good),
  }
  const seen: string[] = []
  for (const { within, script } of scripts) {
    if (!['Announce', 'Test', ending].includes(within)) continue
    const ended = await run(script, variables)
    expect([script, ended]).toEqual([script, good || !script.includes('make')])
    seen.push((await statusesOf(sha)).map(({ status }) => status).join())
  }
  const end = good ? 'success' : 'failed'
  expect(seen).toEqual(['pending', 'running', 'running', end])
  expect(await statusesOf(sha, 'all=true')).toMatchObject([
    {
      name: 'jenkins',
      ref: 'built',
      status: end,
      target_url: variables.BUILD_URL,
      description: 'Build 3 waits',
      coverage: good ? 87.5 : null,
    },
  ])
})

test('GitLab CI: every job posts under its name, and a repeated job has a new record', async () => {
  const sha = await freshCommit()
  const { default: around, ...jobs } = parse(await example('gitlab-ci.yml'))
  const runJob = async (name: string, good: boolean) => {
    const variables = {
      CI_COMMIT_SHA: sha,
      CI_COMMIT_REF_NAME: 'built',
      CI_JOB_NAME: name,
      CI_JOB_URL: `https://gitlab.example/${name}`,
      ...makeEnds(good),
    }
    const passed = await run([...around.before_script, ...jobs[name].script].join('\n'), variables)
    const status = { CI_JOB_STATUS: passed ? 'success' : 'failed' }
    expect(await run(around.after_script.join('\n'), { ...variables, ...status })).toBe(true)
    return passed
  }
  expect(Object.keys(jobs)).toEqual(['lint', 'test'])
  expect(await Promise.all([runJob('lint', true), runJob('test', false)])).toEqual([true, false])
  const shown = async (query = '') =>
    (await statusesOf(sha, query)).map(({ name, status }) => `${name} ${status}`).sort()
  expect(await shown()).toEqual(['gitlab/lint success', 'gitlab/test failed'])
  expect(await runJob('test', true)).toBe(true)
  expect(await shown()).toEqual(['gitlab/lint success', 'gitlab/test success'])
  expect(await shown('all=true')).toEqual([
    'gitlab/lint success',
    'gitlab/test failed',
    'gitlab/test success',
  ])
})

test('a pipeline with a wrong token fails and says why', async () => {
  const [script = ''] = parse(await example('gitlab-ci.yml')).default.before_script
  const shell = spawn('bash', ['-e', '-c', script], {
    env: { ...surroundings, SWITCHYARD_TOKEN: 'wrong', CI_COMMIT_SHA: 'main' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  shell.stdout.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(shell, 'close')
  expect(code).not.toBe(0)
  expect(said).toContain('401 Unauthorized')
})
