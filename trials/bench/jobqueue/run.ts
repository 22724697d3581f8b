import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Secret } from '@switchyard/config'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import { createLogger } from '@switchyard/service-kit/observability'
import { Redis } from 'ioredis'
import { jobSources } from '../../../services/jobqueue-metrics/src/source-config.js'
import { openSources } from '../../../services/jobqueue-metrics/src/sources/open-sources.js'
import type { JobSource } from '../../../services/jobqueue-metrics/src/sources/sources.js'
import { startRedis } from '../../support/redis.js'
import { median } from '../../support/statistics.js'
import { bareBullmq, bareSidekiq } from './bare.js'
import { fillBullmq, fillSidekiq, type Size } from './fill.js'
import { thousandRequests } from './http.js'
import { type Cost, compare, longestTurn, measure, timed } from './measure.js'

type Kind = 'sidekiq' | 'bullmq'

const large: Size = {
  queues: Number(process.env.QUEUES ?? 1000),
  jobsPerQueue: Number(process.env.JOBS ?? 10_000),
  processes: Number(process.env.PROCESSES ?? 500),
}
const rounds = Number(process.env.ROUNDS ?? 40)
const kinds: Kind[] = process.argv[2] ? [process.argv[2] as Kind] : ['sidekiq', 'bullmq']

const redis = await startRedis()
const fill = { sidekiq: fillSidekiq, bullmq: fillBullmq }
const say = (kind: Kind, what: string, value: string) =>
  console.log(`${kind.padEnd(8)} ${what.padEnd(58)} ${value}`)
const ms = (value: number) => `${value.toFixed(1)} ms`
const both = (cost: Cost) => `${ms(cost.ms)} (${ms(cost.cpuMs)} of CPU)`
const ratio = (a: Cost, b: Cost) => `${(a.ms / b.ms).toFixed(2)} (${(a.cpuMs / b.cpuMs).toFixed(2)} of CPU)`

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

interface Link {
  /** Duration of a read, p50. */
  ms: number
  /**
   * Number of times that a read waits for an answer: the additional time over the link, in pings of the link.
   */
  roundTrips: number
}

async function readThroughLink(kind: Kind, oneWayMs: number, times: number): Promise<Link> {
  const proxy: ChildProcess = fork(fileURLToPath(new URL('./delay-proxy.ts', import.meta.url)), [
    redis.path,
    String(oneWayMs),
  ])
  const [port] = await once(proxy, 'message')
  const far = await open(kind, `redis://127.0.0.1:${port}`)
  const near = await open(kind, `unix://${redis.path}`)
  const ping = new Redis({ port: Number(port), host: '127.0.0.1' })
  const figures = { far: [] as number[], near: [] as number[], ping: [] as number[] }
  for (let round = 0; round < times; round += 1) {
    figures.far.push(await timed(() => far.read()))
    figures.near.push(await timed(() => near.read()))
    figures.ping.push(await timed(() => ping.ping()))
  }
  far.close()
  near.close()
  ping.disconnect()
  proxy.kill()
  const roundTrips = (median(figures.far) - median(figures.near)) / median(figures.ping)
  return { ms: median(figures.far), roundTrips }
}

/** Prints round trips over a link that is so slow that the work on both ends does not matter. */
async function sayRoundTrips(kind: Kind, what: string): Promise<void> {
  const { roundTrips } = await readThroughLink(kind, 100, 5)
  say(kind, `round trips ${what}`, roundTrips.toFixed(1))
}

async function measureLarge(kind: Kind): Promise<Cost> {
  console.log(`filling: ${large.queues} queues × ${large.jobsPerQueue} jobs × ${large.processes} processes`)
  await fill[kind](redis.client, large)
  const source = await open(kind, `unix://${redis.path}`)
  const client = new Redis({ path: redis.path })
  // Measured before the collector has garbage of other work, as in a service.
  const alone = await measure(() => source.read(), rounds)
  say(kind, 'full snapshot, nothing else being done, p50', both(alone))
  const { ours, theirs } = await compare(() => source.read(), await bareOf(kind, client), rounds)
  say(kind, 'full snapshot, beside bare reads, p50', both(ours))
  say(kind, 'bare read of the same keys, p50', both(theirs))
  say(kind, 'ratio', ratio(ours, theirs))
  await measureTurns(kind, source)
  say(kind, 'full snapshot through a link of 2 ms, p50', ms((await readThroughLink(kind, 1, rounds)).ms))
  await sayRoundTrips(kind, `with ${large.queues} queues`)
  const http = await thousandRequests(source)
  say(kind, `${http.requests} requests at once`, `reads of the source: ${http.reads}; ${ms(http.ms)} for all`)
  say(kind, 'longest turn of the event loop in one request', both(http.turn))
  source.close()
  client.disconnect()
  return alone
}

async function measureTurns(kind: Kind, source: JobSource): Promise<void> {
  const turns: Cost[] = []
  for (let round = 0; round < rounds; round += 1) turns.push(await longestTurn(() => source.read()))
  const middle = { ms: median(turns.map((turn) => turn.ms)), cpuMs: median(turns.map((turn) => turn.cpuMs)) }
  const longest = {
    ms: Math.max(...turns.map((turn) => turn.ms)),
    cpuMs: Math.max(...turns.map((turn) => turn.cpuMs)),
  }
  say(kind, 'longest turn of the event loop in a snapshot, median', both(middle))
  say(kind, `longest of ${rounds} snapshots`, both(longest))
}

async function measureSmaller(kind: Kind, largest: Cost): Promise<void> {
  await fill[kind](redis.client, { ...large, jobsPerQueue: 10 })
  const source = await open(kind, `unix://${redis.path}`)
  const ours = await measure(() => source.read(), rounds)
  say(kind, 'full snapshot with 10 jobs a queue, p50', both(ours))
  say(kind, `${large.jobsPerQueue} jobs a queue ÷ 10 jobs a queue`, ratio(largest, ours))
  source.close()
  await fill[kind](redis.client, { queues: 10, jobsPerQueue: 10, processes: 5 })
  await sayRoundTrips(kind, 'with 10 queues')
}

try {
  for (const kind of kinds) await measureSmaller(kind, await measureLarge(kind))
} finally {
  await redis.stop()
}
