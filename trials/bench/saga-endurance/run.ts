import { parseArgs } from 'node:util'
import { checkLog, countLog, startDatabases } from '../../support/databases.js'
import { median } from '../../support/statistics.js'
import { LoadProcess } from '../saga/load-process.js'
import { cpuSecondsOfTree, usageOf } from '../saga/process-usage.js'
import { type Subject, startReporter } from '../saga/subjects.js'
import { fillLog } from './fill-log.js'

/**
 * Measures the CPU time of an event with an empty and with a full log, and the memory of the reporter over
 * time: two reporters are loaded in turn.
 */
const { values: options } = parseArgs({
  options: {
    /** Number of events in the full log before the load. */
    events: { type: 'string', default: '10000000' },
    /** Only this reporter is loaded: `empty` or `full`. */
    side: { type: 'string' },
    slices: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '12' },
    /** Folder of the databases, which is kept for the next run. */
    data: { type: 'string' },
    /** Fills the log without measuring. */
    fill: { type: 'boolean', default: false },
  },
})

const databases = await startDatabases(['empty', 'full'], options.data)
const load = new LoadProcess()
type Side = 'empty' | 'full'
const sides = (['empty', 'full'] as const).filter((side) => side === (options.side ?? side))

const slices: Record<Side, { cost: number; residentMiB: number }[]> = { empty: [], full: [] }
const events = { empty: 0, full: 0 }

async function measure(side: Side, subject: Subject, slice: number): Promise<void> {
  const [before, databaseBefore] = [usageOf(subject.pid), cpuSecondsOfTree(databases.pid)]
  const result = await load.run({
    port: subject.port,
    callers: 100,
    seconds: Number(options.seconds),
    warmUpSeconds: 0,
    runDigits: `${Date.now()}`.slice(-9, -2),
  })
  const after = usageOf(subject.pid)
  const perEvent = (seconds: number) => (seconds * 1e6) / result.acknowledged
  const cost = {
    reporter: perEvent(after.cpuSeconds - before.cpuSeconds),
    database: perEvent(cpuSecondsOfTree(databases.pid) - databaseBefore),
  }
  events[side] += result.acknowledged
  if (slice > 0) slices[side].push({ cost: cost.reporter + cost.database, residentMiB: after.residentMiB })
  console.log(
    `${side.padEnd(5)} ${String(events[side]).padStart(9)} events  ${result.perSecond.toFixed(0).padStart(6)}/s  CPU per event: ` +
      `reporter ${cost.reporter.toFixed(1)} µs, database ${cost.database.toFixed(1)} µs  memory ${after.residentMiB.toFixed(0)} MiB`,
  )
}

try {
  await fillLog(databases.urls.full, Number(options.events), console.log)
  if (!options.fill) {
    const before = { empty: await countLog(databases.urls.empty), full: await countLog(databases.urls.full) }
    const subjects = new Map<Side, Subject>()
    for (const side of sides) subjects.set(side, await startReporter(databases.urls[side]))
    for (let slice = 0; slice <= Number(options.slices); slice += 1) {
      for (const [side, subject] of subjects) await measure(side, subject, slice)
    }
    for (const [side, subject] of subjects) {
      await subject.stop()
      await checkLog(databases.urls[side], before[side] + events[side])
    }
    const cost = (side: Side) => median(slices[side].map((slice) => slice.cost))
    if (options.side === undefined) {
      console.log(
        `\nan event costs ${(cost('full') / cost('empty')).toFixed(2)} × as much beside ${before.full} events as beside none`,
      )
    }
  }
} finally {
  load.close()
  await databases.close()
}
