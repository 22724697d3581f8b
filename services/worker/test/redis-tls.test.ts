import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getFreePort } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'
import { startWorkerProcess } from './worker-process.js'

const program = process.env.SWITCHYARD_TEST_REDIS_SERVER ?? 'redis-server'
const servers: ReturnType<typeof execa>[] = []
let folder: string
let harness: Awaited<ReturnType<typeof startHarness>>
let ports: { redis: number; sentinel: number }

beforeAll(async () => {
  harness = await startHarness()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-redis-tls-'))
  ports = { redis: await getFreePort(), sentinel: await getFreePort() }
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'ca.pem')]
  await execa('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names, ...files])
  await startServer('redis', ports.redis, 'save ""\nrequirepass s3cret\nmasterauth s3cret')
  await startServer(
    'sentinel',
    ports.sentinel,
    `sentinel resolve-hostnames yes\nsentinel announce-hostnames yes
sentinel monitor jobs localhost ${ports.redis} 1\nsentinel auth-pass jobs s3cret`,
    '--sentinel',
  )
})
afterAll(async () => {
  for (const server of servers) server.kill('SIGKILL')
  await Promise.all(servers)
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Starts a server that accepts only TLS, with the certificate of the folder. */
async function startServer(name: string, port: number, settings: string, ...args: string[]) {
  const own = join(folder, name)
  await mkdir(own)
  const tls = `port 0\ntls-port ${port}\ntls-replication yes\ntls-auth-clients no\nbind 127.0.0.1
tls-cert-file ${folder}/ca.pem\ntls-key-file ${folder}/key.pem\ntls-ca-cert-file ${folder}/ca.pem`
  await writeFile(join(own, 'server.conf'), `${tls}\ndir ${own}\n${settings}\n`)
  servers.push(execa(program, [join(own, 'server.conf'), ...args], { reject: false, stdio: 'ignore' }))
}

const startWorker = (url: string, trusted: Record<string, string>) =>
  startWorkerProcess({ ...harness.environment, REDIS_URL: url, ...trusted })

async function checksOf({ get }: Awaited<ReturnType<typeof startWorker>>) {
  const answer = await get('/-/readiness').catch(() => null)
  return answer && ((await answer.json()) as { checks: Record<string, string> }).checks
}

it('Redis and Sentinels with only TLS are reached by rediss: and rediss+sentinel:, and trusted only through NODE_EXTRA_CA_CERTS', async () => {
  const careful = await startWorker(`rediss://:s3cret@localhost:${ports.redis}`, {})
  await expect.poll(() => checksOf(careful)).toMatchObject({ postgres: 'ok' })
  const trusted = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  const byRedis = await startWorker(`rediss://:s3cret@localhost:${ports.redis}`, trusted)
  const bySentinel = await startWorker(`rediss+sentinel://:s3cret@localhost:${ports.sentinel}/jobs`, trusted)
  const connected = { postgres: 'ok', redis: 'ok' }
  await expect.poll(() => checksOf(byRedis)).toMatchObject(connected)
  await expect.poll(() => checksOf(bySentinel)).toMatchObject(connected)
  // This worker started first, so it would be connected already if it trusted the certificate.
  expect((await checksOf(careful))?.redis).not.toBe('ok')
  for (const { child, exited } of [byRedis, bySentinel, careful]) {
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  }
})
