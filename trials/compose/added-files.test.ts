import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serviceNames } from '../../ops/docker/test/support/service-configs.js'
import { apiOf } from '../support/api.js'
import { makeAuthority, makeCertificate } from '../support/certificates.js'
import { startTraceReceiver } from '../support/trace-receiver.js'
import { askWithTls, reportStart, url } from './calls.js'
import { type Engine, startEngine } from './engine.js'
import { type Installation, makeInstallation } from './installation.js'
import { standIns } from './stand-ins.js'

/** An address outside of the containers' networks, like that of another machine. */
const outside = '192.0.2.1'
const folder = mkdtempSync(join(tmpdir(), 'switchyard-compose-'))
const file = (name: string) => readFileSync(join(folder, name))
let engine: Engine
let installed: Installation | undefined

beforeAll(async () => {
  await execa('ip', ['addr', 'add', `${outside}/32`, 'dev', 'lo'])
  engine = await startEngine()
  makeAuthority(folder)
  makeCertificate(folder, 'DNS:orders.internal', 'orders.pem', 'orders.key')
})
afterEach(async () => {
  await installed?.remove()
  installed = undefined
})
afterAll(async () => {
  await engine?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function install(added: string[], settings: Record<string, string>): Promise<Installation> {
  installed = await makeInstallation(engine, join(folder, 'switchyard'), added, settings)
  return installed
}

const trusting = () => credentials.createSsl(file('ca.pem'))
const withCertificate = () => credentials.createSsl(file('ca.pem'), file('orders.key'), file('orders.pem'))

/** Writes a folder like certbot's: links into an archive that only root can enter. */
function renew(lineage: string, version: number): void {
  const archive = join(folder, 'letsencrypt/archive')
  mkdirSync(archive, { recursive: true })
  chmodSync(archive, 0o700)
  const [chain, key] = [join(archive, `fullchain${version}.pem`), join(archive, `privkey${version}.pem`)]
  makeCertificate(folder, 'DNS:localhost,IP:127.0.0.1', chain, key)
  chmodSync(key, 0o600)
  rmSync(lineage, { recursive: true, force: true })
  mkdirSync(lineage, { recursive: true })
  symlinkSync(`../../archive/fullchain${version}.pem`, join(lineage, 'fullchain.pem'))
  symlinkSync(`../../archive/privkey${version}.pem`, join(lineage, 'privkey.pem'))
}

describe('TLS at the gateway', () => {
  const lineage = join(folder, 'letsencrypt/live/switchyard.example.com')

  it('serves a certificate of certbot, and the next one after the hook has run', async () => {
    const target = join(folder, 'certificates')
    const { folder: own, up, rootToken } = await install(['tls'], { TLS_FOLDER: target })
    const hook = join(own, 'ops/gateway/tls/deploy-hook.sh')
    const env = { ...engine.environment, TLS_FOLDER: target, RENEWED_LINEAGE: lineage }
    renew(lineage, 1)
    await execa(hook, [], { env: { ...env, RELOAD: 'true' } })
    await up()
    const ask = () => askWithTls('/-/git-api/readiness', { ca: file('ca.pem') })
    const first = await ask()
    expect(first.status).toBe(200)
    await expect(fetch(`${url}/-/git-api/readiness`)).resolves.toMatchObject({ status: 400 })
    expect(await reportStart('tls-1', { token: rootToken, channel: trusting() })).toMatchObject({
      isSuccess: true,
    })
    await expect(reportStart('tls-2', { token: rootToken })).rejects.toMatchObject({ code: 14 })

    renew(lineage, 2)
    // Runs the hook as certbot does: by `docker compose` in the folder of the installation.
    await execa(hook, [], { env })
    await expect.poll(async () => (await ask()).serialNumber).not.toBe(first.serialNumber)
    expect(await ask()).toMatchObject({ status: 200 })
    expect(await reportStart('tls-3', { token: rootToken, channel: trusting() })).toMatchObject({
      isSuccess: true,
    })
  })

  it('requests client certificates of its authorities: over gRPC always, over HTTP optionally', async () => {
    const target = join(folder, 'certificates')
    const settings = { TLS_FOLDER: target, CLIENT_CA_FILE: join(folder, 'ca.pem') }
    const { up, rootToken: token } = await install(['tls', 'mtls'], settings)
    await up()
    await expect(reportStart('mtls-1', { token, channel: trusting() })).rejects.toMatchObject({ code: 16 })
    expect(await reportStart('mtls-2', { token, channel: withCertificate() })).toMatchObject({
      isSuccess: true,
    })
    const [ca, cert, key] = ['ca.pem', 'orders.pem', 'orders.key'].map(file)
    expect(await askWithTls('/-/git-api/readiness', { ca })).toMatchObject({ status: 200 })
    expect(await askWithTls('/-/git-api/readiness', { ca, cert, key })).toMatchObject({ status: 200 })
  })
})

it('certificates at the reporter determine what an orchestrator may report', async () => {
  const own = join(folder, 'saga-tls')
  mkdirSync(own)
  makeCertificate(folder, 'DNS:localhost', join(own, 'fullchain.pem'), join(own, 'privkey.pem'))
  writeFileSync(join(own, 'client-ca.pem'), file('ca.pem'))
  chmodSync(join(own, 'privkey.pem'), 0o444)
  const settings = { SAGA_TLS_FOLDER: own, SAGA_MTLS_PEERS: 'orders.internal=service:orders' }
  const { up, rootToken } = await install(['saga-mtls'], settings)
  await up()
  const channel = withCertificate()
  expect(await reportStart('peer-1', { channel })).toMatchObject({ isSuccess: true })
  await expect(reportStart('peer-2', { channel, serviceName: 'billing' })).rejects.toMatchObject({ code: 7 })
  await expect(reportStart('peer-3', { channel: trusting() })).rejects.toMatchObject({ code: 14 })
  const api = apiOf(url, rootToken)
  expect(await api('GET', '/sagas/peer-1')).toMatchObject({ saga_id: 'peer-1' })
})

it('Prometheus reads every service, every exporter and the age of the backup', async () => {
  const { up, compose } = await install(['monitoring'], {})
  // Debian has no Grafana.
  const names = (await compose('config', '--services')).split('\n').filter((name) => name !== 'grafana')
  await up(...names)
  const query = async (expression: string) => {
    const answer = await fetch(`http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(expression)}`)
    const { data } = (await answer.json()) as {
      data: { result: { metric: { instance: string }; value: [number, string] }[] }
    }
    return data.result
  }
  // The exporters of PostgreSQL, Redis and disks, and the probe of the gateway.
  await expect.poll(() => query('up')).toHaveLength(serviceNames.length + 3 + 1)
  const down = async () => (await query('up==0')).map(({ metric }) => metric.instance)
  await expect.poll(down).toEqual([])
  for (const figure of ['pg_up', 'redis_up', 'probe_success'])
    await expect
      .poll(async () => (await query(figure)).map(({ value }) => value[1]), { message: figure })
      .toEqual(['1'])
  await compose('run', '--rm', '--no-deps', 'backup')
  await expect.poll(() => query('switchyard_backup_cut_timestamp_seconds')).toHaveLength(1)
})

describe('external systems', () => {
  it('a collector receives traces of every service, and a Redis of another team is monitored', async () => {
    const receiver = await startTraceReceiver(outside)
    const published = ['--detach', '--name', 'shop', '--publish', `${outside}:6390:6379`]
    await engine.podman(
      'run',
      ...published,
      standIns.get('redis') ?? '',
      'redis-server',
      '--protected-mode',
      'no',
    )
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tried',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      DATABASE_POOL_SIZE_MAX: '7',
      JOBQUEUE_HISTORY: 'false',
      CA_FILE: join(folder, 'ca.pem'),
      SAGA_AUTH: 'none',
      SAGA_AUTH_NONE_ON_NETWORK: 'true',
    }
    const { folder: own, up, exec, rootToken } = await install(['traces', 'ca'], settings)
    const sources = [
      { kind: 'sidekiq', name: 'shop', url: `redis://${outside}:6390/0` },
      { kind: 'bullmq', name: 'switchyard', prefix: '{switchyard}' },
    ]
    chmodSync(join(own, 'secrets/jobqueue_sources'), 0o644)
    writeFileSync(join(own, 'secrets/jobqueue_sources'), JSON.stringify(sources))
    await up()

    const api = apiOf(url, rootToken)
    await api('POST', '/projects', { name: 'traced' })
    await api('POST', '/broadcast_messages', { message: 'Deploys pause at noon' })
    expect(await reportStart('traced-1', {})).toMatchObject({ isSuccess: true })
    await engine.podman('exec', 'shop', 'redis-cli', 'sadd', 'queues', 'mail')
    const job = JSON.stringify({ class: 'Mail', jid: '1', enqueued_at: Date.now() / 1000 - 60 })
    await engine.podman('exec', 'shop', 'redis-cli', 'lpush', 'queue:mail', job)
    const shop = () => api('GET', '/jobqueue/queue_metrics?source=shop')
    await expect.poll(shop).toMatchObject({ queues: { mail: { backlog: 1 } } })

    await fetch(`${url}/console/`)
    const tracing = () => [...new Set(receiver.spans.map(({ service }) => service))].sort()
    await expect.poll(tracing).toEqual([...serviceNames].sort())
    expect(Buffer.concat(receiver.bodies).toString('latin1')).toContain('tried')

    const ask = (path: string) =>
      exec(
        'git-api',
        'node',
        '-e',
        `fetch('http://127.0.0.1:8080${path}').then(async (r) => console.log(await r.text()))`,
      )
    expect(await ask('/metrics')).toMatch(/^database_pool_size_max\{.*\} 7$/m)
    expect(await exec('jobqueue-metrics', 'sh', '-c', 'echo $JOBQUEUE_HISTORY')).toBe('false')
    receiver.close()
  })
})
