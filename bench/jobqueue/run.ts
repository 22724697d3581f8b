import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import { Secret } from '@switchyard/service-kit/config'
import { createLogger } from '@switchyard/service-kit/observability'
import { Redis } from 'ioredis'
import type { JobSource } from '../../services/jobqueue-metrics/src/sources/job-source.js'
import { openSources } from '../../services/jobqueue-metrics/src/sources/open-sources.js'
import { jobSources } from '../../services/jobqueue-metrics/src/sources/source-config.js'
import { bareBullmq, bareSidekiq } from './bare.js'
import { fillBullmq, fillSidekiq, type Size } from './fill.js'
import { thousandRequests } from './http.js'
import { compare, longestBlock, median, timed } from './measure.js'
import { startRedis } from './redis.js'

type Kind = 'sidekiq' | 'bullmq'

const large: Size = {
  queues: Number(process.env.QUEUES ?? 1000),
  jobsPerQueue: Number(process.env.JOBS ?? 10_000),
  processes: Number(process.env.PROCESSES ?? 500),
}
const rounds = Number(process.env.ROUNDS ?? 40)
const oneWayMs = 1

const redis = await startRedis()
const fill = { sidekiq: fillSidekiq, bullmq: fillBullmq }
const say = (kind: Kind, what: string, value: string) =>
  console.log(`${kind.padEnd(8)} ${what.padEnd(58)} ${value}`)
const ms = (value: number) => `${value.toFixed(1)} ms`

async function open(kind: Kind, url: string): Promise<JobSource> {
  const [source] = openSources({
    sources: jobSources().parse(JSON.stringify([{ name: 'bench', kind }])),
    redisUrl: new Secret(url),
    timeoutMs: 10_000,
    clock: () => new Date(),
    logger: createLogger('bench', 'silent'),
  })
  if (!source) throw new Error('no source')
  while (!(await source.read().catch(() => null))) await new Promise((resolve) => setTimeout(resolve, 20))
  return source
}

async function bareOf(kind: Kind, client: Redis): Promise<() => Promise<unknown>> {
  if (kind === 'sidekiq') return () => bareSidekiq(client)
  const keys = registryKeys('bull')
  const names = await client.smembers(keys.queues)
  const ids = await client.zrange(keys.processes, '0', '-1')
  return () => bareBullmq(client, names, ids)
}

/** Time a read takes through a link of 2 ms, beyond what it takes without: how often it waits for an answer. */
async function roundTrips(kind: Kind): Promise<number> {
  const proxy: ChildProcess = fork(fileURLToPath(new URL('./delay-proxy.ts', import.meta.url)), [
    redis.path,
    String(oneWayMs),
  ])
  const [port] = await once(proxy, 'message')
  const far = await open(kind, `redis://127.0.0.1:${port}`)
  const near = await open(kind, `unix://${redis.path}`)
  const ping = new Redis({ port: Number(port), host: '127.0.0.1' })
  const figures = { far: [] as number[], near: [] as number[], ping: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    figures.far.push(await timed(() => far.read()))
    figures.near.push(await timed(() => near.read()))
    figures.ping.push(await timed(() => ping.ping()))
  }
  far.close()
  near.close()
  ping.disconnect()
  proxy.kill()
  return (median(figures.far) - median(figures.near)) / median(figures.ping)
}

async function measureLarge(kind: Kind): Promise<number> {
  console.log(`filling: ${large.queues} queues × ${large.jobsPerQueue} jobs × ${large.processes} processes`)
  await fill[kind](redis.client, large)
  const source = await open(kind, `unix://${redis.path}`)
  const client = new Redis({ path: redis.path })
  const read = await compare(() => source.read(), await bareOf(kind, client), rounds)
  say(kind, 'full snapshot, p50', ms(read.ours))
  say(kind, 'bare two-pipeline read of the same keys, p50', ms(read.theirs))
  say(kind, 'ratio', read.ratio.toFixed(2))
  const blocks: number[] = []
  for (let round = 0; round < rounds; round += 1) blocks.push(await longestBlock(() => source.read()))
  say(
    kind,
    'event loop blocked by a snapshot: longest of all, median',
    `${ms(Math.max(...blocks))}, ${ms(median(blocks))}`,
  )
  say(kind, 'round trips', (await roundTrips(kind)).toFixed(1))
  const http = await thousandRequests(source)
  say(kind, `${http.requests} requests at once`, `${http.reads} reads of the source, ${ms(http.ms)} for all`)
  say(kind, 'event loop blocked by one request', ms(http.singleBlockMs))
  source.close()
  client.disconnect()
  return read.ours
}

async function measureSmaller(kind: Kind, largeMs: number): Promise<void> {
  await fill[kind](redis.client, { ...large, jobsPerQueue: 10 })
  const source = await open(kind, `unix://${redis.path}`)
  const few = await compare(
    () => source.read(),
    async () => {},
    rounds,
  )
  say(
    kind,
    'full snapshot with 10 jobs a queue, p50',
    `${ms(few.ours)}; ratio ${(largeMs / few.ours).toFixed(2)}`,
  )
  source.close()
  await fill[kind](redis.client, { queues: 10, jobsPerQueue: 10, processes: 5 })
  say(kind, 'round trips with 10 queues', (await roundTrips(kind)).toFixed(1))
}

try {
  for (const kind of ['sidekiq', 'bullmq'] as const) await measureSmaller(kind, await measureLarge(kind))
} finally {
  await redis.stop()
}
