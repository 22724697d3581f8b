import type { Database } from '@switchyard/db'
import { type Clock, dayMs } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { jobType } from '../job-type.js'
import type { SagaSettings } from '../saga-config.js'
import {
  readSweepPosition,
  type SweepPosition,
  withinBudget,
  withSweepLease,
  writeSweepPosition,
} from '../sweeps.js'
import {
  dropLogPartition,
  isDroppable,
  type LogScan,
  listOldLogPartitions,
  scanLog,
  thinLog,
} from './log-store.js'

const budgetMs = 4 * 60_000
const rowsMax = 20_000
const name = 'log-retention'

interface Dependencies {
  database: Database
  clock: Clock
  sagas: SagaSettings
}

/**
 * Drops old partitions of the event log without events of existing sagas. From the other old partitions, it
 * deletes the events of removed sagas, and checks them again a day later. At its time limit, a run stores its
 * position, from which the next run continues.
 */
export const sagaLogRetention = ({ database, clock, sagas }: Dependencies) =>
  jobType({
    queue: 'saga-log-retention',
    concurrency: 1,
    timeoutMs: 10 * 60_000,
    schedule: { pattern: '45 * * * *', atStart: true, attempts: 3, retryDelayMs: 10_000 },
    run: (_payload, { signal, logger }) =>
      withSweepLease(database, name, 10 * 60_000, async () => {
        const now = clock()
        const receivedBefore = new Date(now.getTime() - sagas.logKeptMs)
        const mayContinue = withinBudget(budgetMs, signal)
        await tidyLog({ database, now, receivedBefore, mayContinue, logger })
      }),
  })

interface Run {
  database: Database
  now: Date
  receivedBefore: Date
  mayContinue: () => boolean
  logger: Logger
}

/**
 * The next action for a partition and its argument: `check` and `thin` continue after an event id; `held`
 * keeps the partition, with the time of that decision.
 */
type Step = readonly ['check' | 'thin' | 'held', string]

async function tidyLog(run: Run): Promise<void> {
  const { database, receivedBefore, mayContinue } = run
  const partitions = await listOldLogPartitions(database, receivedBefore)
  const before = (await readSweepPosition(database, name)) as Record<string, Step>
  const position: Record<string, Step> = {}
  for (const partition of partitions) {
    let step: Step | null = before[partition] ?? firstStep(partition)
    while (step && isOpen(step, run.now) && mayContinue()) step = await takeStep(run, partition, step)
    if (step) position[partition] = step
    await writeSweepPosition(database, name, { ...before, ...position })
  }
  await writeSweepPosition(database, name, position satisfies SweepPosition)
}

const firstStep = (partition: string): Step => [isDroppable(partition) ? 'check' : 'thin', '0']

/** Returns whether a partition is due; a kept one is checked again a day later. */
const isOpen = ([kind, at]: Step, now: Date): boolean =>
  kind !== 'held' || now.getTime() - Date.parse(at) >= dayMs

/** @returns the next step; null when the partition no longer exists */
async function takeStep(run: Run, partition: string, [kind, after]: Step): Promise<Step | null> {
  const { database, now, receivedBefore, logger } = run
  if (kind === 'held') return firstStep(partition)
  const range = { partition, after, receivedBefore, rowsMax }
  if (kind === 'thin') {
    const { next, deleted }: LogScan = await thinLog(database, range)
    if (deleted > 0) logger.info({ partition, deleted }, 'deleted old events')
    return next === null ? ['held', now.toISOString()] : ['thin', next]
  }
  const { living, next }: LogScan = await scanLog(database, range)
  if (living > 0) return ['thin', '0']
  if (next !== null) return ['check', next]
  const dropped = await dropLogPartition(database, partition)
  logger.info(
    { partition, dropped },
    dropped ? 'dropped a partition of the event log' : 'the partition was not dropped: it is locked',
  )
  // A reader of the log locks the partition for a moment. The decision is dated back, so that it is tried
  // again a minute later.
  return dropped ? null : ['held', new Date(now.getTime() - dayMs + 60_000).toISOString()]
}
