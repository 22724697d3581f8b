import { parseArgs } from 'node:util'
import { createDatabase } from '@switchyard/db'
import { createLogger } from '@switchyard/service-kit/observability'
import { findDeploymentImpact } from '../../../services/worker/src/deployments/impact.js'
import { startDatabases } from '../../support/databases.js'
import { fill, sagaCount, warm } from '../../support/fill-sagas.js'
import { startRedis } from '../../support/redis.js'
import { median } from '../../support/statistics.js'
import { LoadProcess } from '../saga/load-process.js'
import type { LoadOrder } from '../saga/load-types.js'
import { cpuSecondsOfTree, usageOf } from '../saga/process-usage.js'
import { startReporter } from '../saga/subjects.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** Seconds of load in each measurement. */
    seconds: { type: 'string', default: '6' },
  },
})
const rounds = Number(options.rounds)
const minuteMs = 60_000
const windowMs = 60 * minuteMs

/** The folder in `DATA_DIR` is kept, so that the next run finds it filled. */
const databases = await startDatabases(['impact'], process.env.DATA_DIR)
const url = databases.urls.impact
const database = createDatabase({ url, poolSizeMax: 2, applicationName: 'bench', answerTimeoutMs: 0 })
const redisServer = await startRedis()
const redis = redisServer.client
const settings = { tiers: ['production'], windowMinutes: 60, sagasMin: 20, stuckAfterMs: 30 * minuteMs }
const logger = createLogger('bench', 'silent')

/** A service with 400 sagas an hour, a third of which fail from an hour before the benchmark on. */
const planted = 'planted'
const plantedAt = new Date(Date.now() - windowMs)
const plantedSagas = `INSERT INTO sagas
    (tenant, id, service_name, status, outcome, started_at, ended_at, first_seen_at, last_event_at)
  SELECT 'default', 'planted-' || n, $1, 'Ended',
    CASE WHEN at > $2 AND n % 3 = 0 THEN 'compensated' ELSE 'succeeded' END,
    at, at + interval '2 seconds', at, at + interval '2 seconds'
  FROM generate_series(1, 19600) AS n,
    LATERAL (SELECT $2::timestamptz + interval '9 seconds' * (n - 19200) AS at) AS times`

/**
 * Compares a deployment of a service as the worker does after the end of its window.
 *
 * @returns milliseconds, and whether there were findings
 */
async function attribute(service: string, finishedAt: Date) {
  const deployment = {
    projectId: 1,
    id: 1,
    iid: 1,
    sha: '0'.repeat(40),
    ref: 'main',
    pathWithNamespace: 'root/shop',
    environmentId: 1,
    environment: { name: 'production', tier: 'production' },
    services: [service],
    createdAt: new Date(finishedAt.getTime() - minuteMs),
    finishedAt,
    known: [],
    knownQueues: [],
  }
  const startedMs = performance.now()
  const now = new Date(finishedAt.getTime() + windowMs)
  const { findings } = await findDeploymentImpact({ database, redis, settings, logger }, deployment, now)
  return { ms: performance.now() - startedMs, isFound: findings.length > 0 }
}

/** Returns CPU milliseconds of this process and of PostgreSQL. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + cpuSecondsOfTree(databases.pid) * 1000
}

async function measureAttribution(): Promise<void> {
  await timed('any service', 100, (number) => {
    const daysAgo = 1 + ((number * 37) % 80)
    return attribute(`service-${number % 50}`, new Date(Date.now() - daysAgo * 24 * windowMs))
  })
  await timed('planted failures', 20, async () => {
    const attributed = await attribute(planted, plantedAt)
    if (!attributed.isFound) throw new Error('the planted failures were not found')
    return attributed
  })
}

async function timed(what: string, count: number, work: (number: number) => Promise<{ ms: number }>) {
  const before = cpuMs()
  const times: number[] = []
  for (let number = 0; number < count; number += 1) times.push((await work(number)).ms)
  console.log(
    `${what.padEnd(18)} ${count} deployments among ${sagaCount} sagas: p50 ${median(times).toFixed(0)} ms, ` +
      `worst ${Math.max(...times).toFixed(0)} ms, CPU ${((cpuMs() - before) / count).toFixed(0)} ms`,
  )
}

/** Compares deployments with findings, one a second, until it is stopped. */
function keepAttributing() {
  let isWanted = true
  const ended = (async () => {
    while (isWanted) {
      const { ms } = await attribute(planted, plantedAt)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 - ms)))
    }
  })()
  return async () => {
    isWanted = false
    await ended
  }
}

const loads = { single: { callers: 100 }, batch: { callers: 8, batchEvents: 100 } } as const satisfies Record<
  string,
  Partial<LoadOrder>
>

/** Measures the cost of reporting an event with and without parallel comparisons of deployments. */
async function measureReports(): Promise<void> {
  const reporter = await startReporter(url)
  const load = new LoadProcess()
  let runs = 0
  const measure = async (kind: keyof typeof loads) => {
    runs += 1
    const [before, databaseBefore] = [usageOf(reporter.pid).cpuSeconds, cpuSecondsOfTree(databases.pid)]
    const result = await load.run({
      port: reporter.port,
      seconds: Number(options.seconds),
      warmUpSeconds: 2,
      runDigits: `${1_000_000 + runs}`,
      ...loads[kind],
    })
    const perEvent = (seconds: number) => (seconds * 1e6) / result.acknowledged
    return {
      'events a second': result.perSecond,
      'CPU of the reporter, µs': perEvent(usageOf(reporter.pid).cpuSeconds - before),
      'CPU of PostgreSQL, µs': perEvent(cpuSecondsOfTree(databases.pid) - databaseBefore),
    }
  }
  try {
    for (const kind of ['single', 'batch'] as const) {
      await measure(kind)
      const measured: [without: Record<string, number>, beside: Record<string, number>][] = []
      for (let round = 0; round < rounds; round += 1) {
        const without = await measure(kind)
        const stop = keepAttributing()
        measured.push([without, await measure(kind)])
        await stop()
      }
      for (const name of Object.keys(measured[0]?.[0] ?? {})) {
        const of = (side: 0 | 1) => measured.map((pair) => pair[side][name] ?? Number.NaN)
        const ratios = measured.map(([without, beside]) => (beside[name] ?? 0) / (without[name] ?? 0))
        console.log(
          `${kind.padEnd(8)} ${name.padEnd(26)} without ${median(of(0)).toFixed(0)}, beside ${median(of(1)).toFixed(0)}, ` +
            `ratio ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
        )
      }
    }
  } finally {
    load.close()
    await reporter.stop()
  }
}

try {
  const { rows } = await database.pool.query('SELECT FROM sagas LIMIT 1')
  if (rows.length === 0) await fill(database, console.log)
  await database.pool.query("DELETE FROM sagas WHERE tenant = 'default' AND service_name = $1", [planted])
  await database.pool.query(plantedSagas, [planted, plantedAt])
  await database.pool.query('ANALYZE sagas')
  await warm(database)
  await measureAttribution()
  await measureReports()
} finally {
  await redisServer.stop()
  await database.close()
  await databases.close()
}
