import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Project } from '@switchyard/db'
import { type JobIssuer, startJobIssuer, type TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let issuer: JobIssuer
let harness: GitHarness
let project: Project
let work: TestGitRepository
let folder: string
/** The part of a forge that issues identity tokens to jobs. */
let forge: Server
let tokenUrl: string
/** Environment variables of every job. */
let surroundings: Record<string, string>

const examples = new URL('../../../../examples/ci/keyless/', import.meta.url)
const example = (name: string) => readFile(new URL(name, examples), 'utf8')
const audience = 'https://switchyard.example.com/acme/engine'

beforeAll(async () => {
  issuer = await startJobIssuer()
  const env = { TRUSTED_ISSUER_HOSTS: issuer.url, WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' }
  harness = await startGitHarness({ env })
  ;({ project, work } = await pushSample(harness))
  folder = await mkdtemp(join(tmpdir(), 'switchyard-keyless-'))
  await writeFile(join(folder, 'make'), '#!/bin/sh\n')
  await chmod(join(folder, 'make'), 0o755)
  await harness.ask('owner', 'POST', `/projects/${project.id}/trusted_issuers`, {
    name: 'keyless',
    issuer: issuer.url,
    audience,
    claims: { sub: 'job of acme/engine' },
    scopes: ['api', 'read_repository'],
  })
  forge = createServer((request, response) => {
    const aud = new URL(request.url ?? '', tokenUrl).searchParams.get('audience')
    const identity = aud === `${harness.baseUrl}/${project.pathWithNamespace}` ? audience : aud
    void issuer
      .token({ sub: 'job of acme/engine', aud: identity, jti: randomUUID() })
      .then((value) => response.end(JSON.stringify({ value })))
  }).listen(0, '127.0.0.1')
  await once(forge, 'listening')
  tokenUrl = `http://127.0.0.1:${(forge.address() as AddressInfo).port}`
  surroundings = {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    HOME: folder,
    SWITCHYARD_URL: harness.baseUrl,
    SWITCHYARD_PROJECT: String(project.id),
    SWITCHYARD_TOKEN: await issuer.token({ sub: 'job of acme/engine', aud: audience }),
  }
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
  await issuer?.close()
  forge?.close()
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** Runs a script in a shell that stops at the first failure, as CI systems do. */
async function run(script: string, variables: Record<string, string> = {}): Promise<number> {
  const env = { ...surroundings, ...variables }
  const [code] = (await once(spawn('bash', ['-e', '-c', script], { env, stdio: 'ignore' }), 'exit')) as [
    number,
  ]
  return code
}

async function freshCommit(branch: string) {
  const sha = await work.commit({ branch })
  await work.git('push', '--quiet', harness.remote('owner', project), branch)
  return sha
}

const statusesOf = async (sha: string) =>
  (await harness.ask('reporter', 'GET', `/projects/${project.id}/repository/commits/${sha}/statuses`)).body

test('GitLab: the job posts its result as the bot of the rule', async () => {
  const sha = await freshCommit('gitlab')
  const { after_script: script } = parse(await example('gitlab-ci.yml')).test
  const job = { CI_JOB_STATUS: 'success', CI_COMMIT_SHA: sha, CI_JOB_NAME: 'test' }
  expect(await run(script.join('\n'), { ...job, CI_COMMIT_REF_NAME: 'gitlab' })).toBe(0)
  expect(await statusesOf(sha)).toMatchObject([
    { name: 'test', status: 'success', ref: 'gitlab', author: { name: 'keyless' } },
  ])
})

test('Jenkins: the build posts that it succeeded', async () => {
  const sha = await freshCommit('jenkins')
  const script = /success \{.*?sh '''(.*?)'''/s.exec(await example('Jenkinsfile'))?.[1] ?? 'false'
  expect(await run(script, { GIT_COMMIT: sha, BRANCH_NAME: 'jenkins' })).toBe(0)
  expect(await statusesOf(sha)).toMatchObject([{ name: 'jenkins', status: 'success' }])
})

test('Kubernetes: the job clones with the token from its file', async () => {
  const { spec } = parse(await example('kubernetes.yml')).spec.template
  await writeFile(join(folder, 'token'), surroundings.SWITCHYARD_TOKEN ?? '')
  const script = spec.containers[0].args[0]
    .replace('https://', 'http://')
    .replace(
      'switchyard.example.com/acme/engine',
      `${new URL(harness.baseUrl).host}/${project.pathWithNamespace}`,
    )
    .replace('/var/run/switchyard', folder)
    .replace('/tmp/engine', join(folder, 'engine'))
  expect(await run(script)).toBe(0)
  expect(await readdir(join(folder, 'engine'))).toContain('.git')
})

interface Workflow {
  jobs: { test: { steps: { name?: string; run?: string }[] } }
}

/** Runs the named steps of a workflow with the environment of an Actions runner. */
async function runSteps(name: string, steps: readonly string[], sha: string): Promise<number> {
  const { jobs } = parse(await example(name)) as Workflow
  const scripts = steps.map((step) => jobs.test.steps.find((each) => each.name === step)?.run ?? 'false')
  const variables = {
    SWITCHYARD_PROJECT: project.pathWithNamespace,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x',
    ACTIONS_ID_TOKEN_REQUEST_URL: `${tokenUrl}/token?api=1`,
    GITHUB_SHA: sha,
    GITHUB_REF_NAME: 'actions',
    GITHUB_ENV: join(folder, 'env'),
    STATE: 'success',
  }
  await writeFile(variables.GITHUB_ENV, '')
  return run(scripts.join(`\nset -a; . "$GITHUB_ENV"; set +a\n`), variables)
}

test.each([
  ['GitHub', 'github-actions.yml', ['Get a token of an hour', 'Say how it ended'], 'github/test'],
  ['Forgejo', 'forgejo-actions.yml', ['Say how it ended'], 'forgejo/test'],
])('%s: the job asks for its token and posts how it ended', async (_forge, file, steps, name) => {
  const sha = await freshCommit(file)
  expect(await runSteps(file, steps, sha)).toBe(0)
  expect(await statusesOf(sha)).toMatchObject([
    { name, status: 'success', job_identity: { issuer: issuer.url } },
  ])
})

test('no example contains a secret', async () => {
  for (const name of await readdir(examples))
    expect(await example(name)).not.toMatch(/secrets\.|PRIVATE-TOKEN|glpat-|secretKeyRef/)
})
