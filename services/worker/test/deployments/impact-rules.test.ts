import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { recordImpact } from '../../src/deployments/impact.js'
import { endRules } from '../../src/deployments/rules.js'
import { ago, now, startDeploymentsHarness } from './deployments-harness.js'

let harness: Awaited<ReturnType<typeof startDeploymentsHarness>>
beforeAll(async () => {
  harness = await startDeploymentsHarness()
})
beforeEach(() => harness.clear())
afterAll(() => harness?.close())

/**
 * Stores for the due deployments that billing has more failures, and returns the names of the applied rules.
 */
async function worse(): Promise<string[]> {
  const figures = { before: 0.01, after: 0.25, samplesBefore: 120, samplesAfter: 120, pValue: 1e-6 }
  const about = {
    tenant: 'default',
    serviceName: 'billing',
    measure: 'failures',
    fingerprint: '',
    changePointAt: now,
  }
  const windows = { windowFrom: ago(92), startedAt: ago(32), windowTo: now, nextLookAt: null }
  const impact = { ...windows, services: [], queues: null, findings: [{ ...about, ...figures }] }
  const context = { now, externalUrl: 'https://switchyard.example.com' }
  const found = await harness.due()
  // Two workers do this in parallel.
  const records = [...found, ...found].map((one) => recordImpact(harness.ownDatabase, one, impact, context))
  return (await Promise.all(records)).flat().sort()
}

const addRule = (fields: object) =>
  harness.database.prisma.impactRule.create({
    data: {
      projectId: harness.projectId,
      name: 'Act',
      dryRun: false,
      freezes: true,
      notifiesWebhooks: false,
      ...fields,
    },
  })

const banner = {
  message: '{{environment}}: {{services}}, [{{deployment}}]({{url}})',
  targetPath: null,
  theme: 'red',
  dismissable: false,
}

const rules = () =>
  harness.database.prisma.impactRuleRun.findMany({ orderBy: { ruleId: 'asc' }, include: { rule: true } })
const banners = () => harness.database.prisma.broadcastMessage.findMany()

it('a rule is applied to a deployment once, and a dry run changes only the list of its runs', async () => {
  const { prisma } = harness.database
  await addRule({ banner, notifiesWebhooks: true, ratioMin: 20 })
  await addRule({ name: 'Try', dryRun: true, banner, notifiesWebhooks: true })
  for (const never of [{ services: ['mail'] }, { tiers: ['staging'] }, { ratioMin: 26 }]) await addRule(never)
  const { id: webhookId } = await prisma.webhook.create({
    data: {
      scope: 'project',
      projectId: harness.projectId,
      url: 'https://ci.example.com/',
      host: 'ci.example.com',
      events: ['impact_rule'],
    },
  })
  const { id, iid } = await harness.deployed(30)
  expect(await worse()).toEqual(['Act', 'Try'])
  expect(await worse()).toEqual([])
  const [act, attempt, ...more] = await rules()
  expect([act?.rule.name, attempt?.rule.name, more]).toEqual(['Act', 'Try', []])
  expect(act).toMatchObject({
    deploymentId: id,
    dryRun: false,
    endedAt: null,
    findings: [{ serviceName: 'billing', measure: 'failures', before: 0.01, after: 0.25 }],
  })
  const { pathWithNamespace: path } = await prisma.project.findUniqueOrThrow({
    where: { id: harness.projectId },
  })
  expect(await banners()).toMatchObject([
    {
      message: `production: billing, [${iid}](https://switchyard.example.com/console/projects/${path}/deployments/${id})`,
      targetPath: `/console/projects/${path}\n/console/projects/${path}/*`,
      ruleProjectId: harness.projectId,
      ruleRunId: act?.id,
    },
  ])
  const deliveries = await prisma.webhookDelivery.findMany({ where: { webhookId } })
  expect(deliveries.map(({ payload }) => JSON.parse(payload))).toMatchObject([
    { object_kind: 'impact_rule', rule: { name: 'Act' }, freeze: true, deployment_id: id },
  ])
  const entries = await prisma.auditEvent.findMany({ where: { eventName: 'impact_rule_applied' } })
  expect(entries).toMatchObject([
    { authorId: null, authorName: 'Switchyard', details: { name: 'Act', impact_rule_run_id: act?.id } },
  ])
})

it.each(['dismissed', 'deployed', 'reverted'])(
  'what a rule did ends when it is %s, not when that is noticed',
  async (endReason) => {
    const { prisma } = harness.database
    const [endedAt, noticedAt] = [ago(-1), ago(-2)]
    await addRule({ banner })
    const { id: deploymentId } = await harness.deployed(30)
    await worse()
    expect(await endRules(harness.ownDatabase, now)).toBe(false)
    if (endReason === 'dismissed')
      await prisma.deploymentDismissal.create({
        data: { projectId: harness.projectId, deploymentId, reason: 'The bank', createdAt: endedAt },
      })
    if (endReason === 'deployed') await harness.deployed(-1, { services: [] })
    if (endReason === 'reverted') await prisma.impactRuleRun.updateMany({ data: { endReason, endedAt } })
    expect(await endRules(harness.ownDatabase, noticedAt)).toBe(true)
    expect(await rules()).toMatchObject([{ endReason, endedAt }])
    expect(await banners()).toMatchObject([{ endsAt: noticedAt }])
    const ended = await prisma.auditEvent.count({ where: { eventName: 'impact_rule_ended' } })
    expect(ended).toBe(endReason === 'reverted' ? 0 : 1)
    expect(await endRules(harness.ownDatabase, noticedAt)).toBe(false)
  },
)

it('the banner of a deleted deployment ends, and a deployment that was followed gets none', async () => {
  await addRule({ banner })
  await harness.deployed(30)
  await worse()
  await harness.database.prisma.deployment.deleteMany()
  expect(await endRules(harness.ownDatabase, now)).toBe(true)
  await harness.deployed(30)
  await harness.deployed(20, { services: [] })
  expect(await worse()).toEqual([])
  expect(await banners()).toMatchObject([{ endsAt: now }])
})
