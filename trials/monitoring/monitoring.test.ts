import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findPostgres } from '@switchyard/local-servers'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alerts, exporterMetrics, rules } from '../../ops/deploy/test/support/alert-rules.js'
import { dashboards } from '../../ops/deploy/test/support/dashboards.js'
import { metricOf, selectorsOf } from '../../ops/deploy/test/support/selectors.js'
import { repository } from '../../ops/docker/test/support/build-stages.js'
import { serviceNames } from '../../ops/docker/test/support/service-configs.js'
import { listDescendants } from '../support/processes.js'
import { startTree, type Tree } from '../support/tree.js'
import { type Containers, makeContainers } from './containers.js'
import { deploy } from './deliveries.js'
import { serveNames } from './names.js'
import { breakDatabase, settings, startTraffic } from './traffic.js'

/** Returns whether a metric exists only in Kubernetes. */
const isElsewhere = (name: string) => /^(kube-|the kubelet)/.test(exporterMetrics.get(name) ?? '')
/** Panels that are empty without problems. */
const onlyInTrouble = ['Parts that fail', 'Attempts that failed']
/** A metric that exists only with several storages. */
const ofSeveralStorages = /\bgit_api_forwarded_requests_total\b/

const folder = mkdtempSync(join(tmpdir(), 'switchyard-monitoring-'))
const prometheusUrl = 'http://127.0.0.1:9090'
const gatewayAddress = 'https://switchyard.example.com/-/gateway/liveness'
let tree: Tree
let containers: Containers
let names: Awaited<ReturnType<typeof serveNames>>
let traffic: Awaited<ReturnType<typeof startTraffic>>
let standby: pg.Client
/** The sent alerts by name. */
const received = new Map<string, { annotations: Record<string, string> }>()
const alertmanager = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  for (const alert of JSON.parse(Buffer.concat(parts).toString())) received.set(alert.labels.alertname, alert)
  response.end()
})

async function ask<Answer>(path: string, parameters: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${prometheusUrl}/api/v1/${path}?${new URLSearchParams(parameters)}`)
  const { status, data, error } = (await answer.json()) as { status: string; data: Answer; error?: string }
  if (status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${error}`)
  return data
}

interface Sample {
  metric: Record<string, string>
  value: [number, string]
}
const query = async (expression: string) =>
  (await ask<{ result: Sample[] }>('query', { query: expression })).result
const hasData = async (expression: string) =>
  (await query(expression)).some(({ value }) => value[1] !== 'NaN')

/** Returns the process of a service of the tree; undefined while there is none. */
const processOf = (service: string) =>
  listDescendants(tree.pid).find(({ command }) => command.includes(`services/${service}/dist/bundle/main.js`))
    ?.pid

/** Makes the tree restart a service. */
async function restart(service: string): Promise<void> {
  const before = processOf(service)
  if (before === undefined) throw new Error(`${service} does not run`)
  process.kill(before, 'SIGKILL')
  const isReady = async () =>
    processOf(service) !== before && (await fetch(`${tree.url}/-/${service}/readiness`)).ok
  await waitFor(isReady, { what: `${service} to be ready again`, timeoutMs: 60_000 })
}

/** Returns the port on which a service of the tree listens, from its environment. */
function portOf(service: string): number {
  const environment = readFileSync(`/proc/${processOf(service)}/environ`, 'utf8').split('\0')
  return Number(environment.find((line) => line.startsWith('PORT='))?.slice('PORT='.length))
}

async function serveTree(): Promise<void> {
  const database = new URL(findPostgres(join(tree.dataDir, 'postgres')) ?? '')
  const redis = listDescendants(tree.pid).map(({ command }) => /unixsocket:(\S+)/.exec(command)?.[1])
  const here = { host: '127.0.0.1' }
  const gateway = { ...here, port: tree.httpPort }
  names = await serveNames(
    folder,
    new Map([
      ...serviceNames.map((name) => [name, { port: 8080, to: { ...here, port: portOf(name) } }] as const),
      ['postgres', { port: 5432, to: { ...here, port: Number(database.port) } }],
      ['redis', { port: 6379, to: { path: redis.find((path) => path !== undefined) ?? '' } }],
      ['gateway', { port: 8080, to: gateway }],
      [new URL(gatewayAddress).hostname, { port: 443, to: gateway, tls: true }],
    ]),
    ['blackbox-exporter', 'node-exporter', 'postgres-exporter', 'redis-exporter', 'alertmanager'],
  )
  standby = new pg.Client({ connectionString: database.href, replication: 'true' } as pg.ClientConfig)
  standby.on('error', () => {})
}

/** Writes the configuration of an operator: the receiver of alerts, and the address for clients. */
function nameTargets(): void {
  const targets = containers.folderOf('prometheus', '/etc/prometheus/targets')
  const write = (name: string, address: string) =>
    writeFileSync(join(targets, `${name}.yml`), JSON.stringify([{ targets: [address] }]))
  write('alertmanagers', 'alertmanager:9093')
  const file = join(targets, 'gateways.yml')
  writeFileSync(file, `${readFileSync(file, 'utf8')}- targets: ["${gatewayAddress}"]\n`)
}

const disks = ['postgres', 'redis']
const watched = (name: string) => containers.folderOf('node-exporter', `/watched/${name}`)

/** Makes the mounted disks of Compose's node exporter, and the backup that reports itself there. */
async function makeDisks(): Promise<void> {
  for (const name of disks) execFileSync('mount', ['--bind', join(tree.dataDir, name), watched(name)])
  const metrics = join(containers.folderOf('node-exporter', '/metrics'), 'switchyard.prom')
  const env = { SWITCHYARD_DATA: tree.dataDir, BACKUP_METRICS_FILE: metrics, DATABASE_URL: '' }
  await execa('node', ['ops/backup.mjs', join(folder, 'backup')], { cwd: repository, env })
}

beforeAll(async () => {
  tree = await startTree({ env: { ...settings, SAGA_AUTH: 'token' } })
  await deploy(tree)
  // git-api reads the delivery metrics when it starts, and then every five minutes.
  await restart('git-api')
  containers = await makeContainers(folder, tree.url)
  await serveTree()
  const role = {
    DATABASE_URL: findPostgres(join(tree.dataDir, 'postgres')) ?? '',
    POSTGRES_PASSWORD_MONITORING_FILE: containers.secretPath('postgres_password_monitoring'),
  }
  await execa('node', ['packages/db/dist/bundle/migrate.js'], { cwd: repository, env: role })
  await makeDisks()
  nameTargets()
  await new Promise<void>((resolve) => alertmanager.listen(9093, '127.0.0.1', resolve))
  await containers.start({ SSL_CERT_FILE: names.authority })
  await standby.connect()
  standby.query('START_REPLICATION PHYSICAL 0/1000000').catch(() => {})
  traffic = await startTraffic(tree)
  // A rate needs two scrapes, and panels use the rate of the last minute.
  await delay(75_000)
  await traffic.stop()
})
afterAll(async () => {
  containers?.stop()
  standby?.end().catch(() => {})
  names?.close()
  alertmanager.close()
  await tree?.stop()
  for (const name of disks) execFileSync('umount', [watched(name)])
  rmSync(folder, { recursive: true, force: true })
})

it('every target is up, including every service', async () => {
  const up = await query('up')
  expect(up.filter(({ value }) => value[1] !== '1')).toEqual([])
  const { activeTargets, droppedTargets } =
    await ask<Record<'activeTargets' | 'droppedTargets', unknown[]>>('targets')
  expect(droppedTargets).toEqual([])
  expect(activeTargets).toHaveLength(serviceNames.length + 3 + 2)
})

it('every rule is evaluated without an error', async () => {
  const { groups } = await ask<{
    groups: { rules: { name: string; health: string; lastError?: string }[] }[]
  }>('rules')
  const evaluated = groups.flatMap((group) => group.rules)
  expect(evaluated).toHaveLength(rules.length)
  expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([])
})

describe.each(dashboards)('the dashboard %s', (_name, { panels }) => {
  const shown = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))
  it.each(shown.filter(([, expr]) => !ofSeveralStorages.test(expr)))(
    'has data in %s: %s',
    async (title, expression) => {
      const chosen = expression.replaceAll('$__rate_interval', '2m').replaceAll(/\$(source|queue)/g, '.*')
      if (!onlyInTrouble.includes(title)) expect(await hasData(chosen)).toBe(true)
      // The metric exists, although it has no value now.
      else
        for (const name of selectorsOf(chosen).map(metricOf))
          expect(await query(`count(${name})`)).toHaveLength(1)
    },
  )
})

describe('the rules', () => {
  beforeAll(async () => {
    await breakDatabase(tree)
    // Waits for two scrapes, and an evaluation of the rules after them.
    await delay(50_000)
  })

  it.each(rules.map(({ alert, record, expr }) => [alert ?? record, expr] as const))(
    '%s asks for series that exist',
    async (_name, expr) => {
      for (const selector of selectorsOf(expr).filter((each) => !isElsewhere(metricOf(each))))
        expect([selector, (await query(`count(last_over_time(${selector}[10m]))`)).length]).toEqual([
          selector,
          1,
        ])
    },
  )
})

it('an alert is sent, and its address is a page of the console', async () => {
  // Three starts of the console within half an hour trigger ServiceRestarts.
  for (let times = 0; times < 3; times += 1) {
    const before = (await query('max(process_start_time_seconds{service="console"})'))[0]?.value[1]
    await restart('console')
    await expect
      .poll(async () => (await query('max(process_start_time_seconds{service="console"})'))[0]?.value[1])
      .not.toBe(before)
  }
  await expect.poll(() => [...received.keys()]).toContain('ServiceRestarts')
  const address = received.get('ServiceRestarts')?.annotations.runbook_url ?? ''
  expect(address).toBe(`${tree.url}/console/runbooks/services#servicerestarts`)
  expect(await fetch(address)).toMatchObject({ status: 200 })
  expect(alerts.map(({ alert }) => alert)).toEqual(expect.arrayContaining([...received.keys()]))
})
