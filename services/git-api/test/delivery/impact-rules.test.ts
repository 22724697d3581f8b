import type { Project } from '@switchyard/db'
import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
/** Commits of the repository, oldest first. */
let shas: { first: string; second: string; third: string }
let path: string

beforeAll(async () => {
  harness = await startGitHarness({ env: { WEBHOOK_ALLOWED_HOSTS: 'ci.example.com' } })
  const sample = await pushSample(harness)
  await sample.work.close()
  project = sample.project
  shas = sample.commits
  path = `/projects/${project.id}/impact_rules`
})
afterAll(() => harness?.close())
beforeEach(async () => {
  const { prisma } = harness.database
  await prisma.deployment.deleteMany()
  await prisma.impactRule.deleteMany()
})

type Who = Parameters<GitHarness['ask']>[0]
const ask = (method: string, rest = '', body?: unknown, who: Who = 'owner') =>
  harness.ask(who, method, `${path}${rest}`, body)
const add = async (fields: object = {}) =>
  (await ask('POST', '', { name: 'Stop', freeze: true, dry_run: false, ...fields })).body

const deploy = (fields: object = {}) =>
  harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, {
    environment: 'production',
    sha: shas.third,
    ref: 'main',
    tag: false,
    status: 'success',
    ...fields,
  })

const finding = {
  tenant: 'default',
  serviceName: 'billing',
  measure: 'failures',
  fingerprint: '',
  before: 0.01,
  after: 0.25,
  samplesBefore: 120,
  samplesAfter: 120,
  chance: 1e-6,
}
const { chance: pValue, ...figures } = finding
/** Returns the finding, which the row of a run repeats. */
const found = () => ({ ...figures, pValue, changePointAt: new Date(), foundAt: new Date() })

/** Stores a deployment to which the worker has applied a rule. */
async function applied(fields: object = {}, ruleFields: object = {}) {
  const rule = await add(ruleFields)
  const { body: deployment } = await deploy()
  const run = await harness.database.prisma.impactRuleRun.create({
    data: {
      projectId: project.id,
      ruleId: rule.id,
      deploymentId: deployment.id,
      environmentId: deployment.environment.id,
      dryRun: false,
      freezes: true,
      notifiesWebhooks: false,
      findings: [finding],
      appliedAt: new Date(),
      ...fields,
    },
  })
  return { rule, deployment, run, runs: `/${rule.id}/runs` }
}

const auditNames = async () =>
  (await harness.database.prisma.auditEvent.findMany({ orderBy: { id: 'asc' } })).map(
    ({ eventName }) => eventName,
  )

describe('impact rules', () => {
  it('are dry runs by default, and each change is in the audit log', async () => {
    const made = await ask('POST', '', { name: 'Stop', freeze: true })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'Stop', dry_run: true, services: [], ratio_min: null, banner_message: null },
    })
    const one = `/${made.body.id}`
    expect((await ask('GET')).body).toEqual([made.body])
    const changed = await ask('PUT', one, { banner_message: 'Wait: {{services}}', services: 'mail, stock' })
    expect(changed.body).toMatchObject({
      freeze: true,
      services: ['mail', 'stock'],
      banner_message: 'Wait: {{services}}',
      banner_theme: 'red',
      banner_dismissable: false,
      banner_target_path: null,
    })
    const names = ['pay, later', 'מייל\u200f', 'mail']
    expect((await ask('PUT', one, { services: names })).body.services).toEqual(names)
    expect(await ask('PUT', one, { services: [], dryrun: true })).toMatchObject({ status: 400 })
    const cleared = await ask('PUT', one, { banner_message: '' })
    expect(cleared.body.banner_message).toBeNull()
    expect((await ask('PUT', one)).body).toEqual(cleared.body)
    expect((await ask('DELETE', one)).status).toBe(204)
    for (const [method, rest] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['GET', '/runs'],
      ['POST', '/runs/1/revert'],
    ] as const)
      expect([method, rest, (await ask(method, `${one}${rest}`)).status]).toEqual([method, rest, 404])
    expect((await auditNames()).slice(-5)).toEqual([
      'impact_rule_created',
      ...Array(3).fill('impact_rule_changed'),
      'impact_rule_removed',
    ])
  })

  it.each([
    [{ freeze: true }, /name is missing/],
    [
      { name: 'Idle' },
      /"freeze":\["is off, and neither banner_message nor webhook is set: the rule would do nothing"\]/,
    ],
    [{ name: 'Stop', freeze: true, service: ['mail'] }, /service is not a parameter/],
    [{ name: 'Stop', freeze: true, services: ['a\0b'] }, /services\[0\] is invalid/],
    [{ name: 'Stop', freeze: true, services: ['a\u0001b'] }, /control characters/],
    [{ name: 'Stop', freeze: true, services: [{}] }, /services\[0\] is invalid/],
    [{ name: 'x'.repeat(256), freeze: true }, /too long/],
    [{ name: 'Stop', freeze: true, measures: ['luck'] }, /measures/],
    [{ name: 'Stop', freeze: true, tiers: 'prod' }, /tiers/],
    [{ name: 'Stop', freeze: true, environments: ['../x\u202e'] }, /is no name of an environment/],
    [{ name: 'Stop', freeze: true, services: Array(51).fill('a') }, /more than 50 items/],
    [{ name: 'Stop', freeze: true, ratio_min: 0.5 }, /between 1 and/],
    [{ name: 'Stop', freeze: true, confidence_min: 99 }, /between 0 and 1/],
    [{ name: 'Stop', banner_message: '{{password}}' }, /unknown name/],
    [{ name: 'Stop', banner_message: `a\0b` }, /banner_message is invalid/],
  ])('refuses %j', async (fields, problem) => {
    const { status, body } = await ask('POST', '', fields)
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(problem)])
  })

  it('are limited in number', async () => {
    const fields = { projectId: project.id, name: 'Stop', freezes: true, notifiesWebhooks: false }
    await harness.database.prisma.impactRule.createMany({ data: Array(50).fill(fields) })
    expect(await ask('POST', '', { name: 'More', freeze: true })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('50 impact rules') },
    })
  })

  it("show banners outside of their project's pages only when administrators set it", async () => {
    const banner = { name: 'Tell', banner_message: 'Wait', banner_target_path: '/shop/*' }
    const { secret } = await createToken(
      harness.database,
      await createUser(harness.database, { admin: true }),
      {},
    )
    const asAdministrator = async (method: string, rest: string, body: object) => {
      const headers = { 'PRIVATE-TOKEN': secret, 'Content-Type': 'application/json' }
      const address = `${harness.baseUrl}/api/v4${path}${rest}`
      const answer = await fetch(address, { method, headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as { id: number } }
    }
    expect((await ask('POST', '', banner)).status).toBe(403)
    const made = await asAdministrator('POST', '', banner)
    expect(made).toMatchObject({ status: 201, body: { banner_target_path: '/shop/*' } })
    const one = `/${made.body.id}`
    expect((await ask('PUT', one, { name: 'Tell all' })).status).toBe(403)
    expect((await asAdministrator('PUT', one, { dry_run: false })).status).toBe(200)
  })
})

describe('the run of a rule', () => {
  it('is listed with its reasons, shown with the deployment, and reverted once', async () => {
    const banner = { message: 'Wait', targetPath: '/a*', theme: 'red', dismissable: false }
    const { rule, deployment, run, runs } = await applied({ banner })
    const { body } = await ask('GET', runs)
    expect(body).toMatchObject([
      {
        id: run.id,
        rule: { id: rule.id, name: 'Stop' },
        deployment: { id: deployment.id },
        environment: 'production',
        dry_run: false,
        freeze: true,
        banner_message: 'Wait',
        in_force: true,
        ended_at: null,
        end_reason: null,
        ended_by: null,
        findings: [{ service_name: 'billing', measure: 'failures', ratio: 25, confidence: 1 - 1e-6 }],
      },
    ])
    const impact = `/projects/${project.id}/deployments/${deployment.id}/impact`
    expect((await harness.ask('reporter', 'GET', impact)).body.rule_runs).toEqual(body)
    expect(await ask('DELETE', `/${rule.id}`)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('revert it first') },
    })
    // The effects stay in force, whatever happens to the rule.
    expect((await ask('GET', '')).body).toMatchObject([{ dry_run: false, in_force: true }])
    const tried = { dry_run: true, in_force: true }
    expect((await ask('PUT', `/${rule.id}`, { dry_run: true })).body).toMatchObject(tried)
    expect((await ask('GET', `/${rule.id}`)).body).toMatchObject(tried)
    const freezes = async (who: Who) => (await harness.ask(who, 'GET', '/freezes')).body
    const made = { id: run.id, rule: { id: rule.id, name: 'Stop' }, environment: 'production' }
    expect(await freezes('reporter')).toMatchObject([
      { project: { id: project.id }, freeze_period: null, impact_rule_run: made, ends_at: null },
    ])
    expect(await freezes('guest')).toEqual([])
    const reverted = await ask('POST', `${runs}/${run.id}/revert`)
    expect(reverted).toMatchObject({
      status: 200,
      body: { in_force: false, end_reason: 'reverted', ended_by: { username: 'olga' } },
    })
    expect(await freezes('reporter')).toMatchObject([{ ends_at: reverted.body.ended_at }])
    expect((await ask('POST', `${runs}/${run.id}/revert`)).status).toBe(409)
    expect((await ask('POST', `${runs}/${run.id}/revert`, { reason: 'x' })).status).toBe(400)
    expect((await auditNames()).at(-1)).toBe('impact_rule_reverted')
    expect((await ask('GET', '')).body).toMatchObject([{ in_force: false }])
    expect((await ask('DELETE', `/${rule.id}`)).status).toBe(204)
  })

  it('of a dry run cannot be reverted', async () => {
    const { run, runs } = await applied({ dryRun: true })
    expect((await ask('GET', runs)).body).toMatchObject([{ dry_run: true, in_force: false }])
    expect((await ask('POST', `${runs}/${run.id}/revert`)).status).toBe(409)
    expect((await ask('POST', `${runs}/${run.id + 1}/revert`)).status).toBe(404)
    expect((await ask('POST', `${runs}/x/revert`)).status).toBe(400)
  })

  it('hides other tenants from a token that is bound to tenants', async () => {
    const { runs } = await applied({ findings: [finding, { ...finding, tenant: 'acme' }] })
    const user = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'olga' } })
    const { secret } = await createToken(harness.database, user, { tenants: ['acme'] })
    const response = await fetch(`${harness.baseUrl}/api/v4${path}${runs}`, {
      headers: { 'PRIVATE-TOKEN': secret },
    })
    expect(await response.json()).toMatchObject([{ findings: [{ tenant: 'acme' }] }])
  })
})

describe('a freeze by a rule', () => {
  const enforced = (fields: object = {}) => deploy({ status: 'running', enforce: true, ...fields })
  const inAMinute = () => new Date(Date.now() + 60_000).toISOString()

  it('affects its environment like a freeze period, and lets an earlier commit pass', async () => {
    expect((await deploy({ sha: shas.first })).status).toBe(201)
    const { deployment, rule, run } = await applied()
    expect((await deploy({ status: 'running', sha: shas.second })).body.frozen).toBe(true)
    const reason = `because of deployment #${deployment.iid} (id ${deployment.id})`
    expect(await enforced({ sha: shas.second })).toMatchObject({
      status: 403,
      body: {
        message: `403 Forbidden - The environment is frozen by the rule 'Stop' ${reason}: dismiss what was found about it, revert what the rule did, or step back to a commit that the environment ran before`,
        freeze_end_at: null,
        deployment_id: deployment.id,
        impact_rule_id: rule.id,
        impact_rule_run_id: run.id,
      },
    })
    expect((await enforced()).status).toBe(403)
    expect((await enforced({ environment: 'staging' })).body.frozen).toBe(false)
    expect((await enforced({ sha: shas.first })).body.frozen).toBe(false)
  })

  it.each([
    ['the findings are dismissed', 'dismissal'],
    ['a later deployment succeeds', 'deployment'],
    ['somebody reverts it', 'revert'],
    ['the rule only tries', 'dry run'],
  ])('ends when %s', async (_when, how) => {
    const { deployment, run, runs } = await applied({ dryRun: how === 'dry run' })
    if (how !== 'dry run') expect((await enforced()).status).toBe(403)
    const dismissal = `/projects/${project.id}/deployments/${deployment.id}/impact/dismissal`
    const key = { projectId: project.id, deploymentId: deployment.id }
    await harness.database.prisma.deploymentFinding.create({ data: { ...key, ...found() } })
    if (how === 'dismissal') await harness.ask('developer', 'POST', dismissal, { reason: 'The bank' })
    if (how === 'deployment') expect((await deploy({ sha: shas.second })).status).toBe(201)
    if (how === 'revert') await ask('POST', `${runs}/${run.id}/revert`)
    expect((await enforced()).body.frozen).toBe(false)
    expect((await ask('GET', runs)).body[0].in_force).toBe(false)
    expect((await ask('POST', `${runs}/${run.id}/revert`)).status).toBe(409)
    const listed = (await harness.ask('reporter', 'GET', '/freezes')).body
    expect(listed).toMatchObject(how === 'dry run' ? [] : [{ ends_at: expect.any(String) }])
    const { body: earlier } = await harness.ask('reporter', 'GET', `/freezes?ends_after=${inAMinute()}`)
    expect(earlier).toEqual([])
  })

  it('stays ended when the dismissal that ended it is removed', async () => {
    const { deployment, rule, run, runs } = await applied()
    const dismissal = `/projects/${project.id}/deployments/${deployment.id}/impact/dismissal`
    const key = { projectId: project.id, deploymentId: deployment.id }
    await harness.database.prisma.deploymentFinding.create({ data: { ...key, ...found() } })
    await harness.ask('developer', 'POST', dismissal, { reason: 'The bank' })
    expect((await harness.ask('developer', 'DELETE', dismissal)).status).toBe(204)
    expect((await enforced()).body.frozen).toBe(false)
    expect((await ask('GET', runs)).body[0]).toMatchObject({ in_force: false, end_reason: 'dismissed' })
    const events = await harness.database.prisma.auditEvent.findMany({
      where: { eventName: 'impact_rule_ended' },
    })
    expect(events.map(({ details }) => details)).toEqual([
      {
        impact_rule_id: rule.id,
        impact_rule_run_id: run.id,
        deployment_id: deployment.id,
        reason: 'dismissed',
      },
    ])
  })

  it('refuses deployments that begin in a protected environment', async () => {
    await applied()
    const protection = { name: 'production', deploy_access_levels: [{ access_level: 30 }] }
    const environments = `/projects/${project.id}/protected_environments`
    expect((await harness.ask('owner', 'POST', environments, protection)).status).toBe(201)
    expect((await deploy({ status: 'running', sha: shas.second })).status).toBe(403)
    const { body: waiting } = await deploy({ status: 'created', sha: shas.second })
    const one = `/projects/${project.id}/deployments/${waiting.id}`
    expect((await harness.ask('developer', 'PUT', one, { status: 'running' })).status).toBe(403)
    expect((await harness.ask('owner', 'DELETE', `${environments}/production`)).status).toBe(204)
  })
})

it('a test of a rule webhook sends the newest rule', async () => {
  const hooks = `/projects/${project.id}/hooks`
  const { body: hook } = await harness.ask('owner', 'POST', hooks, {
    url: 'https://ci.example.com/hook',
    impact_rule_events: true,
  })
  const test = () => harness.ask('owner', 'POST', `${hooks}/${hook.id}/test/impact_rule_events`)
  await deploy()
  expect((await test()).status).toBe(400)
  await add()
  expect((await test()).status).toBe(201)
  const [delivery] = await harness.database.prisma.webhookDelivery.findMany({ where: { webhookId: hook.id } })
  expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({
    object_kind: 'impact_rule',
    rule: { name: 'Stop' },
    freeze: true,
    environment: 'production',
  })
})
