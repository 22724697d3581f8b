import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inTransaction, listAuditExports, recordAuditEvent } from '@switchyard/db'
import { verify } from '@switchyard/webhooks/signature'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startHarness } from '../harness.js'
import { startWorkerProcess } from '../worker-process.js'
import { readSyslog, startCollector, startSyslog } from './log-receiver.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let folder: string
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  harness = await startHarness()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-audit-'))
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'ca.pem')]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  await execa('openssl', ['req', '-x509', ...key, ...names, ...files])
})
afterAll(async () => {
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  await harness.redis.flushall()
  await harness.database.pool.query(
    'DELETE FROM audit_exports; DELETE FROM audit_events; DELETE FROM saga_sweeps',
  )
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const author = { authorId: 1, authorName: 'Ada "é" 🚂\n', tokenId: 2, requestId: 'r', ipAddress: '192.0.2.1' }

async function log(...entityIds: string[]): Promise<number[]> {
  for (const entityId of entityIds)
    await inTransaction(harness.database, (transaction) =>
      recordAuditEvent(transaction, author, {
        eventName: 'member_added',
        entityType: 'Project',
        entityId,
        details: { access_level: 30 },
      }),
    )
  const { rows } = await harness.database.pool.query<{ id: string }>(
    'SELECT id FROM audit_events ORDER BY id',
  )
  return rows.slice(-entityIds.length).map(({ id }) => Number(id))
}

async function startWorker(settings: Record<string, string>) {
  const worker = await harness.startWorker(settings)
  cleanups.push(worker.close)
  return worker
}

const runNow = () => harness.queue('audit-export').add('audit-export', {})
const states = () => listAuditExports(harness.database)
const positions = async () => (await states()).map(({ position }) => Number(position))
/** Makes the retry due, and expires the lease of a dead worker. */
const makeDue = () =>
  harness.database.pool.query(
    "UPDATE audit_exports SET retry_at = NULL; UPDATE saga_sweeps SET owned_until = now() - interval '1 s'",
  )

describe('syslog', () => {
  it('receives every entry by TCP, in order and once, as ASCII with its length before it', async () => {
    const syslog = await startSyslog()
    cleanups.push(syslog.close)
    const ids = await log('1', '2')
    await startWorker({ AUDIT_EXPORT_SYSLOG: `tcp://127.0.0.1:${syslog.port}` })
    await expect.poll(() => syslog.messages.length).toBe(2)
    const later = await log('3')
    await runNow()
    await expect.poll(positions).toEqual(later)
    expect(syslog.messages.map((message) => readSyslog(message).entry.id)).toEqual([...ids, ...later])
    const [first = ''] = syslog.messages
    expect(first).toMatch(/^[\x20-\x7e]+$/)
    expect(readSyslog(first)).toMatchObject({
      priority: '109',
      app: 'switchyard',
      id: 'member_added',
      entry: {
        event_name: 'member_added',
        entity_type: 'Project',
        entity_id: '1',
        author_id: 1,
        request_id: 'r',
        details: { access_level: 30, author_name: author.authorName, token_id: 2, ip_address: '192.0.2.1' },
      },
    })
    expect(readSyslog(first).time).toBe(readSyslog(first).entry.created_at)
  })

  it('receives entries by TLS when its certificate is trusted, and nothing otherwise', async () => {
    const [cert, key] = [await readFile(join(folder, 'ca.pem')), await readFile(join(folder, 'key.pem'))]
    const syslog = await startSyslog({ cert, key })
    cleanups.push(syslog.close)
    const ids = await log('1')
    const address = { AUDIT_EXPORT_SYSLOG: `tls://localhost:${syslog.port}` }
    const distrustful = await startWorker(address)
    await expect
      .poll(async () => (await states()).map(({ lastError }) => lastError))
      .toEqual(['the connection failed: DEPTH_ZERO_SELF_SIGNED_CERT'])
    const metrics = await (await fetch(`${distrustful.baseUrl}/metrics`)).text()
    expect(metrics).toMatch(/audit_export_failures_total\{[^}]*destination="syslog"[^}]*\} 1/)
    expect(metrics).toMatch(/audit_export_lag_seconds\{[^}]*destination="syslog"[^}]*\} 0*[\d.]+/)
    await distrustful.close()
    expect(syslog.messages).toEqual([])
    await makeDue()
    await startWorker({ ...address, AUDIT_EXPORT_SYSLOG_CA_FILE: join(folder, 'ca.pem') })
    await expect.poll(positions).toEqual(ids)
    expect(syslog.messages.map((message) => readSyslog(message).entry.id)).toEqual(ids)
    expect(await states()).toMatchObject([{ failures: 0, lastError: null, failingSince: null }])
  })

  it('receives batches of at most 500, each on its own connection', async () => {
    const syslog = await startSyslog()
    cleanups.push(syslog.close)
    await harness.database.pool.query(
      `INSERT INTO audit_events (author_name, event_name, entity_type, entity_id, details)
       SELECT 'Ada', 'member_added', 'Project', n::text, '{}' FROM generate_series(1, 1200) n`,
    )
    await startWorker({ AUDIT_EXPORT_SYSLOG: `tcp://127.0.0.1:${syslog.port}` })
    await expect.poll(() => syslog.messages.length).toBe(1200)
    expect(syslog.connections).toEqual([500, 500, 200])
  })
})

describe('an HTTP server', () => {
  it('receives lines of JSON with its token and a signature, and the same batch again until it accepts it', async () => {
    const collector = await startCollector((response, number) =>
      response.writeHead(number === 1 ? 503 : 204).end(),
    )
    cleanups.push(collector.close)
    const ids = await log('1', '2')
    await startWorker({
      AUDIT_EXPORT_HTTP_URL: collector.url,
      AUDIT_EXPORT_HTTP_TOKEN: 'token-of-the-collector',
      AUDIT_EXPORT_HTTP_SECRET: 'secret-of-the-collector',
    })
    await expect
      .poll(states)
      .toMatchObject([{ failures: 1, lastError: 'the server answered 503', position: 0n }])
    await runNow()
    await makeDue()
    await runNow()
    await expect.poll(positions).toEqual(ids.slice(-1))
    expect(collector.ids()).toEqual([ids, ids])
    const [first, second] = collector.requests
    expect(first?.headers['x-switchyard-batch']).toBe(`${ids[0]}-${ids[1]}`)
    expect(second?.headers['x-switchyard-batch']).toBe(first?.headers['x-switchyard-batch'])
    expect(first?.headers.authorization).toBe('Bearer token-of-the-collector')
    const signature = String(first?.headers['x-switchyard-signature'])
    const body = first?.body ?? ''
    expect(verify({ secret: 'secret-of-the-collector', signature, body })).toBe(true)
  })

  it('receives an entry that is committed after later ones', async () => {
    const collector = await startCollector((response) => response.end())
    cleanups.push(collector.close)
    const late = await harness.database.pool.connect()
    const insert = `INSERT INTO audit_events (author_name, event_name, entity_type, entity_id, details)
      VALUES ('Ada', 'late', 'Project', '1', '{}') RETURNING id`
    await late.query('BEGIN')
    const { rows } = await late.query<{ id: string }>(insert)
    const [later] = await log('2')
    await startWorker({ AUDIT_EXPORT_HTTP_URL: collector.url })
    await expect.poll(async () => (await states()).length).toBe(1)
    expect(collector.requests).toEqual([])
    await late.query('COMMIT')
    late.release()
    await expect.poll(collector.ids).toEqual([[Number(rows[0]?.id), later]])
  })

  it('receives a batch again when its worker was killed before it had the answer', async () => {
    const collector = await startCollector((response, number) => number > 1 && response.end())
    cleanups.push(collector.close)
    const ids = await log('1')
    const settings = { ...harness.environment, AUDIT_EXPORT_HTTP_URL: collector.url }
    const first = await startWorkerProcess(settings)
    await expect.poll(() => collector.requests.length).toBe(1)
    first.child.kill('SIGKILL')
    await first.exited
    expect(await positions()).toEqual([0])
    await harness.redis.flushall()
    await makeDue()
    await startWorker({ AUDIT_EXPORT_HTTP_URL: collector.url })
    await expect.poll(positions).toEqual(ids)
    expect(collector.ids()).toEqual([ids, ids])
  })
})

describe('an OpenTelemetry collector', () => {
  it('receives log records with the headers of the settings, and again after it refused them', async () => {
    const collector = await startCollector((response, number) =>
      response.writeHead(number === 1 ? 401 : 200).end(),
    )
    cleanups.push(collector.close)
    const ids = await log('1')
    await startWorker({
      AUDIT_EXPORT_OTLP_URL: collector.url,
      AUDIT_EXPORT_OTLP_HEADERS: 'x-api-key=key-of-the-collector, x-org=1',
    })
    await expect.poll(states).toMatchObject([{ lastError: 'the collector answered 401' }])
    await makeDue()
    await runNow()
    await expect.poll(positions).toEqual(ids)
    const [, taken] = collector.requests
    expect(taken?.url).toBe('/v1/logs')
    expect(taken?.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'x-api-key': 'key-of-the-collector',
      'x-org': '1',
    })
    expect(taken?.body.toString()).toContain('switchyard.audit.member_added')
    expect(taken?.body.toString()).toContain('"entity_type":"Project"')
  })
})

describe('old audit entries', () => {
  const old = (days: number) =>
    harness.database.pool.query('UPDATE audit_events SET created_at = now() - $1 * interval $$1 day$$', [
      days,
    ])
  const left = async () => {
    const { rows } = await harness.database.pool.query<{ id: string }>(
      'SELECT id FROM audit_events ORDER BY id',
    )
    return rows.map(({ id }) => Number(id))
  }

  it('are deleted after the configured days, and kept before and without that setting', async () => {
    await log('1', '2')
    await old(31)
    const [young] = await log('3')
    const keeping = await startWorker({})
    await keeping.close()
    expect(await left()).toHaveLength(3)
    await startWorker({ AUDIT_RETENTION_DAYS: '30' })
    await expect.poll(left).toEqual([young])
  })

  it('stay until every destination has them', async () => {
    let status = 503
    const collector = await startCollector((response) => response.writeHead(status).end())
    cleanups.push(collector.close)
    const ids = await log('1', '2')
    await old(31)
    await startWorker({ AUDIT_RETENTION_DAYS: '30', AUDIT_EXPORT_HTTP_URL: collector.url })
    const retention = harness.queue('audit-retention')
    await expect.poll(states).toMatchObject([{ lastError: 'the server answered 503' }])
    const job = await retention.add('audit-retention', {})
    await expect.poll(() => job.getState()).toBe('completed')
    expect(await left()).toEqual(ids)
    status = 200
    await makeDue()
    await runNow()
    await expect.poll(positions).toEqual(ids.slice(-1))
    await retention.add('audit-retention', {})
    await expect.poll(left).toEqual([])
  })
})
