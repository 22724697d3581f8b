import type { Project } from '@switchyard/db'
import { createProject, createToken } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let commits: Awaited<ReturnType<typeof pushSample>>['commits']
/** A project of another owner, visible only to the owner and to administrators. */
let hidden: Project

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  project = sample.project
  commits = sample.commits
  const stranger = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'stan' } })
  hidden = await createProject(harness.database, stranger)
  await plant()
})
afterAll(() => harness?.close())

type Who = Parameters<GitHarness['ask']>[0]
const services = (query = '', who: Who = 'reporter') => harness.ask(who, 'GET', `/services${query}`)

async function deploy(environment: string, sha: string, fields: object = {}): Promise<number> {
  const given = { environment, sha, ref: 'main', tag: false, status: 'success', services: ['billing'] }
  const body = { ...given, ...fields }
  const answer = await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, body)
  expect(answer.status).toBe(201)
  return answer.body.id
}

async function deployHidden(names: string[]) {
  const { prisma } = harness.database
  const environment = { projectId: hidden.id, name: 'production', slug: 'production', tier: 'production' }
  const { id: environmentId } = await prisma.environment.create({ data: environment })
  const of = { projectId: hidden.id, environmentId, iid: 1, ref: 'main', tag: false, sha: 'a'.repeat(40) }
  const now = new Date()
  const progress = { status: 'success', createdAt: now, finishedAt: now, frozen: false }
  await prisma.deployment.create({ data: { ...of, ...progress, services: names } })
}

async function plant() {
  await deploy('staging', commits.first)
  await deploy('production', commits.first)
  await deploy('production', commits.second)
  await deploy('production', commits.third, { services: ['mail'] })
  await deploy('production', commits.third, { status: 'failed' })
  await deploy('old', commits.first)
  await deploy('production', commits.third, { services: ['a_b/c d'], status: 'running' })
  await harness.database.prisma.environment.updateMany({ where: { name: 'old' }, data: { state: 'stopped' } })
  await deployHidden(['billing', 'secret'])
}

describe('the list of services', () => {
  it('has each service of a readable deployment once, with the newest deployment that ships it', async () => {
    const { status, body, headers } = await services()
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { name: 'a_b/c d', last_deployment: { status: 'running' } },
      {
        name: 'billing',
        last_deployment: {
          environment: { name: 'old' },
          user: { username: 'dora' },
          project: { id: project.id, path_with_namespace: project.pathWithNamespace },
        },
      },
      { name: 'mail', last_deployment: { sha: commits.third } },
    ])
    expect(headers.get('x-total')).toBe('3')
  })

  it('is filtered by part of the name, and paged', async () => {
    const names = async (query: string) =>
      (await services(query)).body.map(({ name }: { name: string }) => name)
    expect(await names('?search=BILL')).toEqual(['billing'])
    expect(await names('?search=_b')).toEqual(['a_b/c d'])
    expect(await names('?search=%25')).toEqual([])
    expect(await names('?per_page=1&page=2')).toEqual(['billing'])
    const beyond = await services('?per_page=1&page=9')
    expect([beyond.body, beyond.headers.get('x-total')]).toEqual([[], '3'])
    for (const query of ['?page=0', '?search=a%00b']) expect((await services(query)).status).toBe(400)
  })

  it('excludes projects whose deployments the caller may not read', async () => {
    const names = async (who: Who) => (await services('', who)).body.map(({ name }: { name: string }) => name)
    expect(await names('guest')).toEqual([])
    expect(await names('stranger')).toEqual(['billing', 'secret'])
    const headers = { 'PRIVATE-TOKEN': 'root-token-of-the-tests-0123456789' }
    const all = await fetch(`${harness.baseUrl}/api/v4/services`, { headers })
    expect(all.headers.get('x-total')).toBe('4')
    expect((await services('', 'anonymous')).status).toBe(401)
    expect((await services('', 'narrow')).status).toBe(403)
  })
})

describe('a service', () => {
  it('has the version that runs in each environment that is not stopped, production first', async () => {
    const { status, body } = await services('/billing')
    expect(status).toBe(200)
    expect(body.environments).toMatchObject([
      {
        name: 'production',
        tier: 'production',
        project: { id: project.id },
        deployment: { sha: commits.second, ref: 'main', user: { username: 'dora' } },
      },
      { name: 'staging', deployment: { sha: commits.first } },
    ])
    expect(body.environments).toHaveLength(2)
    expect(body.deployments.map((each: { status: string }) => each.status)).toEqual([
      'success',
      'failed',
      'success',
      'success',
      'success',
    ])
    expect((await services(`/${encodeURIComponent('a_b/c d')}`)).body).toMatchObject({
      name: 'a_b/c d',
      environments: [],
      deployments: [{ status: 'running' }],
      findings: [],
    })
  })

  it('has the findings of its deployments, in the tenants that the token can access', async () => {
    const deploymentId = await deploy('canary', commits.third, { services: ['stock'] })
    const at = new Date()
    const figures = { before: 0, after: 0.5, samplesBefore: 99, samplesAfter: 99, pValue: 1e-9 }
    const found = { ...figures, projectId: project.id, deploymentId, serviceName: 'stock' }
    await harness.database.prisma.deploymentFinding.createMany({
      data: ['default', 'acme', ''].map((tenant) => ({
        ...found,
        tenant,
        changePointAt: at,
        foundAt: at,
        measure: tenant === '' ? 'queue_latency' : 'failures',
      })),
    })
    const tenantsOf = ({ findings }: { findings: { tenant: string | null }[] }) =>
      findings.map(({ tenant }) => tenant)
    expect(new Set(tenantsOf((await services('/stock')).body))).toEqual(new Set(['default', 'acme', null]))
    const user = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'olga' } })
    const { secret } = await createToken(harness.database, user, { tenants: ['acme'] })
    const headers = { 'PRIVATE-TOKEN': secret }
    const answer = await fetch(`${harness.baseUrl}/api/v4/services/stock`, { headers })
    expect(tenantsOf(JSON.parse(await answer.text()))).toEqual(['acme'])
  })

  it('is not found, like a missing one, for callers who may read no deployment of it', async () => {
    const answers = await Promise.all([
      services('/secret'),
      services('/nowhere'),
      services('/billing', 'guest'),
      services('/billing', 'anonymous'),
      services('/billing', 'narrow'),
      services(`/${'x'.repeat(129)}`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 401, 403, 400])
    const own = await services('/billing', 'stranger')
    expect(own.body.environments).toMatchObject([{ project: { id: hidden.id } }])
    expect(own.body.deployments).toHaveLength(1)
  })
})
