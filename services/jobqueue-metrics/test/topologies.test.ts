import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHeartbeat } from '@switchyard/jobs-heartbeat'
import { createRedis } from '@switchyard/service-kit/redis'
import { getFreePort, waitFor } from '@switchyard/testing'
import { Queue, Worker } from 'bullmq'
import { execa } from 'execa'
import { Cluster } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSource } from './support/open-source.js'
import { createRedisServers } from './support/redis-servers.js'

let servers: Awaited<ReturnType<typeof createRedisServers>>
beforeEach(async () => {
  servers = await createRedisServers()
})
afterEach(() => servers.stop())

const plain = ['--save', '', '--bind', '127.0.0.1']

/**
 * A URL with settings that do not apply to the listed servers of a source: these servers would refuse the
 * URL's user, database and TLS.
 */
const urlOfAnotherServer = 'rediss://switchyard:secret@127.0.0.1:1/3'

it('a cluster of three nodes is read with one pipeline per node, for Sidekiq and BullMQ alike', async () => {
  const ports = [await getFreePort(), await getFreePort(), await getFreePort()]
  const nodes = await Promise.all(
    ports.map((port) => servers.start(port, [...plain, '--port', String(port), '--cluster-enabled', 'yes'])),
  )
  const [first] = nodes
  for (const [index, { redis }] of nodes.entries()) {
    await redis.cluster(
      'ADDSLOTSRANGE',
      Math.ceil((index * 16384) / 3),
      Math.ceil(((index + 1) * 16384) / 3) - 1,
    )
    if (index > 0) await first?.redis.call('CLUSTER', 'MEET', '127.0.0.1', String(ports[index]))
  }
  const info = async () => Promise.all(nodes.map(({ redis }) => redis.cluster('INFO')))
  await waitFor(async () => (await info()).every((text) => String(text).includes('cluster_state:ok')), {
    what: 'the cluster',
  })
  const cluster = new Cluster([{ host: '127.0.0.1', port: ports[0] }])
  const names = Array.from({ length: 30 }, (_each, index) => `queue-${index}`)
  const nowMs = Date.now()
  for (const name of names) {
    await cluster.sadd('queues', name)
    await cluster.lpush(`queue:${name}`, JSON.stringify({ enqueued_at: nowMs / 1000 - 7.5 }))
  }
  const prefix = '{bull}'
  const queue = new Queue('mail', { connection: cluster, prefix })
  await queue.addBulk(Array.from({ length: 4 }, () => ({ name: 'job', data: {} })))
  const heartbeat = createHeartbeat()
  const worker = new Worker(
    'other',
    heartbeat.count(async () => {}),
    { connection: cluster, prefix, concurrency: 6 },
  )
  heartbeat.start(worker)

  const addresses = { cluster: [`127.0.0.1:${ports[1]}`] }
  const sidekiq = openSource({ kind: 'sidekiq', ...addresses }, urlOfAnotherServer, () => new Date(nowMs))
  const bullmq = openSource({ kind: 'bullmq', prefix, ...addresses }, urlOfAnotherServer)
  const found = await waitFor(() => sidekiq.read(), { what: 'the cluster' })
  expect(found.queues.map(({ backlog, latencySeconds }) => [backlog, latencySeconds])).toEqual(
    names.map(() => [1, 7]),
  )
  await expect
    .poll(async () => (await bullmq.read()).processes)
    .toMatchObject([{ queues: ['other'], concurrency: 6, pid: process.pid }])
  // The search through the keys of every node has found the queue without a worker.
  const backlogs = async () => (await bullmq.read()).queues.map(({ name, backlog }) => [name, backlog])
  await expect.poll(backlogs).toEqual([
    ['mail', 4],
    ['other', 0],
  ])
  sidekiq.close()
  bullmq.close()
  await worker.close()
  await heartbeat.stop()
  await queue.close()
  cluster.disconnect()
})

it('the master that Sentinel names is read, also after a change, by a separate source and by REDIS_URL', async () => {
  const [one, two, three] = [await getFreePort(), await getFreePort(), await getFreePort()]
  const master = await servers.start(one, [...plain, '--port', String(one)])
  const replica = await servers.start(two, [
    ...plain,
    '--port',
    String(two),
    '--replicaof',
    '127.0.0.1',
    String(one),
    '--repl-diskless-sync-delay',
    '0',
  ])
  const file = join(servers.folder, 'sentinel.conf')
  await writeFile(
    file,
    `port ${three}\nbind 127.0.0.1\nsentinel monitor jobs 127.0.0.1 ${one} 1\n` +
      'sentinel down-after-milliseconds jobs 1000\nsentinel failover-timeout jobs 3000\n',
  )
  const sentinel = await servers.start(three, [file, '--sentinel'])
  await master.redis.sadd('queues', 'mail')
  await master.redis.lpush('queue:mail', '{}')
  await waitFor(async () => (await replica.redis.scard('queues')) === 1, { what: 'the replica' })
  await waitFor(
    async () => String(await sentinel.redis.call('SENTINEL', 'REPLICAS', 'jobs')).includes(String(two)),
    { what: 'Sentinel to know the replica' },
  )

  const source = openSource(
    { kind: 'sidekiq', sentinel: { nodes: [`127.0.0.1:${three}`], master: 'jobs' } },
    urlOfAnotherServer,
  )
  const url = `redis+sentinel://127.0.0.1:${three}/jobs`
  const byUrl = openSource({ kind: 'sidekiq' }, url)
  // Asks the Sentinel almost continuously, so also at the moment of the switch to another master.
  const often = { retryStrategy: () => 5, sentinelRetryStrategy: () => 500 }
  const eager = createRedis({ url, onError: () => {}, ...often })
  const backlogsOf = async (of: typeof source) => (await of.read()).queues.map(({ backlog }) => backlog)
  for (const each of [source, byUrl])
    expect(await waitFor(() => backlogsOf(each), { what: 'the master' })).toEqual([1])
  master.kill()
  await waitFor(async () => String(await replica.redis.info('replication')).includes('role:master'), {
    what: 'the failover',
  })
  await replica.redis.lpush('queue:mail', '{}')
  for (const each of [source, byUrl]) {
    const isRead = async () => (await backlogsOf(each))[0] === 2
    expect(await waitFor(isRead)).toBe(true)
    each.close()
  }
  expect(await replica.redis.call('ACL', 'LOG')).toEqual([])
  expect(await sentinel.redis.call('ACL', 'LOG')).toEqual([])
  await expect.poll(() => eager.status).toBe('ready')
  eager.disconnect()
})

it('a server with only TLS is read by a user with a certificate', async () => {
  const port = await getFreePort()
  const path = (name: string) => join(servers.folder, name)
  const subject = ['-subj', '/CN=jobs.internal', '-addext', 'subjectAltName=DNS:jobs.internal']
  const made = ['-keyout', path('key.pem'), '-out', path('cert.pem')]
  await execa('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...made, ...subject])
  const files = ['--tls-cert-file', path('cert.pem'), '--tls-key-file', path('key.pem'), '--tls-ca-cert-file']
  const tls = { rejectUnauthorized: false }
  const withCertificate = {
    ...tls,
    cert: await readFile(path('cert.pem')),
    key: await readFile(path('key.pem')),
  }
  const { redis } = await servers.start(
    port,
    [...plain, '--port', '0', '--tls-port', String(port), ...files, path('cert.pem')],
    { tls: withCertificate },
  )
  await redis.call('ACL', 'SETUSER', 'reader', 'on', '>s3cret', '%R~*', '+@read', '+ping', '+info')
  await redis.sadd('queues', 'mail')

  const url = `rediss://127.0.0.1:${port}`
  const certificates = { ca: path('cert.pem'), cert: path('cert.pem'), key: path('key.pem') }
  const known = { ...certificates, servername: 'jobs.internal' }
  const account = { kind: 'sidekiq', url, username: 'reader', password: 's3cret' }
  const source = openSource({ ...account, tls: known }, url)
  const { queues } = await waitFor(() => source.read(), { what: 'TLS' })
  expect(queues.map(({ name }) => name)).toEqual(['mail'])
  source.close()

  // The certificate of the server has another name than the source expects.
  const careful = openSource({ ...account, tls: { ...certificates, servername: 'other.internal' } }, url)
  await expect(waitFor(() => careful.read(), { timeoutMs: 1000 })).rejects.toThrow('timed out')
  careful.close()
})
