import { parseArgs } from 'node:util'
import { analyze, checkLog, startDatabases } from '../../support/databases.js'
import { median } from '../../support/statistics.js'
import { LoadProcess } from './load-process.js'
import type { LoadOrder, LoadResult } from './load-types.js'
import { createUnnestInserts } from './plain-inserts.js'
import { cpuSecondsOfTree, usageOf } from './process-usage.js'
import { type Subject, startReporter, startServer } from './subjects.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    /** Seconds of load before each measurement. */
    warmUp: { type: 'string', default: '2' },
    /** `throughput`, `latency`, or both. */
    only: { type: 'string', default: 'throughput,latency' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const parts = options.only.split(',')

/** The measured subjects: servers under single calls, and the reporter under batches. */
const loads = {
  echo: { callers: 100, isEcho: true },
  single: { callers: 100 },
  'insert-each': { callers: 100 },
  batch: { callers: 8, batchEvents: 100 },
} as const satisfies Record<string, Partial<LoadOrder>>
type Side = keyof typeof loads
const sides = Object.keys(loads) as Side[]
/** The number of the reporter's parallel transactions. */
const transactions = 2

const databases = await startDatabases(['single', 'insert-each', 'batch', 'unnest'])
const load = new LoadProcess()
const acknowledged: Record<Side, number> = { echo: 0, single: 0, 'insert-each': 0, batch: 0 }
let runs = 0

const start: Record<Side, () => Promise<Subject>> = {
  echo: () => startServer('echo'),
  single: () => startReporter(databases.urls.single),
  'insert-each': () => startServer('insert-each', databases.urls['insert-each']),
  batch: () => startReporter(databases.urls.batch),
}

async function measure(
  side: Side,
  { port, pid }: Subject,
  given: Partial<LoadOrder> = {},
): Promise<LoadResult> {
  runs += 1
  const [before, databaseBefore] = [usageOf(pid).cpuSeconds, cpuSecondsOfTree(databases.pid)]
  const order = { port, seconds, warmUpSeconds: Number(options.warmUp), runDigits: `${1_000_000 + runs}` }
  const result = await load.run({ ...order, ...loads[side], ...given })
  acknowledged[side] += result.acknowledged
  const microseconds = (used: number) => `${((used * 1e6) / result.acknowledged).toFixed(0)} µs`
  console.log(
    `${side.padEnd(12)} ${result.perSecond.toFixed(0).padStart(6)} events/s  p50 ${result.p50Ms.toFixed(1)} ms  ` +
      `p99 ${result.p99Ms.toFixed(1)} ms  CPU per event: server ${microseconds(usageOf(pid).cpuSeconds - before)}, ` +
      `database ${microseconds(cpuSecondsOfTree(databases.pid) - databaseBefore)}, load ${result.loadMicroseconds.toFixed(0)} µs`,
  )
  return result
}

function say(what: string, ratios: number[]): void {
  const each = ratios.map((value) => value.toFixed(2)).join(' ')
  console.log(`${what.padEnd(52)} ${median(ratios).toFixed(2).padStart(6)}  (${each})`)
}

/** Measures ratios of events a second, each from two measurements of the same round. */
async function measureThroughput(subjects: Record<Side, Subject>): Promise<void> {
  const perSecond: Record<Side | 'unnest', number[]> = {
    echo: [],
    single: [],
    'insert-each': [],
    batch: [],
    unnest: [],
  }
  // The first round compiles the code, and leaves the rows for the plain inserts.
  for (const side of sides) await measure(side, subjects[side])
  for (const side of ['single', 'batch'] as const) await analyze(databases.urls[side])
  const inserts = await createUnnestInserts(databases.urls.batch, databases.urls.unnest, transactions)
  await inserts.run('2000000')
  for (let round = 1; round <= rounds; round += 1) {
    for (const side of sides) perSecond[side].push((await measure(side, subjects[side])).perSecond)
    perSecond.unnest.push(await inserts.run(`${2_000_000 + round}`))
    console.log(`unnest       ${perSecond.unnest.at(-1)?.toFixed(0).padStart(6)} events/s`)
  }
  await inserts.close()
  const ratio = (over: Side, under: Side | 'unnest') =>
    perSecond[over].map((value, round) => value / (perSecond[under][round] ?? Number.NaN))
  console.log()
  say('single calls ÷ echo', ratio('single', 'echo'))
  say('single calls ÷ one INSERT per call', ratio('single', 'insert-each'))
  say("batch calls ÷ the echo's calls", ratio('batch', 'echo'))
  say('batch calls ÷ plain unnest inserts of the same rows', ratio('batch', 'unnest'))
}

/** Prints the p99 latency of each side at half of its throughput, which is measured immediately before. */
async function measureLatency(subjects: Record<Side, Subject>): Promise<void> {
  const p99: Record<'single' | 'echo', number[]> = { single: [], echo: [] }
  for (let round = 1; round <= rounds; round += 1) {
    for (const side of ['single', 'echo'] as const) {
      const { perSecond } = await measure(side, subjects[side])
      const half = await measure(side, subjects[side], { rate: perSecond / 2, seconds: seconds * 2 })
      p99[side].push(half.p99Ms)
    }
  }
  console.log()
  say(
    "p99 of single calls at half of the most ÷ the echo's",
    p99.single.map((value, round) => value / (p99.echo[round] ?? Number.NaN)),
  )
}

try {
  const subjects = {} as Record<Side, Subject>
  for (const side of sides) subjects[side] = await start[side]()
  if (parts.includes('throughput')) await measureThroughput(subjects)
  if (parts.includes('latency')) await measureLatency(subjects)
  for (const subject of Object.values(subjects)) await subject.stop()
  for (const side of ['single', 'insert-each', 'batch'] as const)
    await checkLog(databases.urls[side], acknowledged[side])
} finally {
  load.close()
  await databases.close()
}
