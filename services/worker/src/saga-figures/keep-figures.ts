import { randomUUID } from 'node:crypto'
import {
  type Database,
  figuresSweep,
  holdSweep,
  readEndedCursor,
  readNewlyEnded,
  readSagaGauges,
  releaseSweep,
  writeEndedCursor,
} from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import type { SagaFigures } from './saga-figures.js'

export interface KeepFiguresOptions {
  database: Database
  figures: SagaFigures
  logger: Logger
  everyMs: number
}

export interface KeptFigures {
  /** Hides what only one process may show and lets another one show it. */
  stop(): Promise<void>
}

/**
 * Keeps the figures of sagas current in one of all workers: the one that holds them goes on holding them, so that
 * their series do not wander, until it stops, or fails to renew in time. Then they are hidden at once, by its own
 * clock, before another worker may take them over.
 */
export function keepFigures({ database, figures, logger, everyMs }: KeepFiguresOptions): KeptFigures {
  const owner = randomUUID()
  const heldMs = everyMs * 3
  let hiding: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    const askedMs = Date.now()
    if (!(await holdSweep(database, figuresSweep, owner, heldMs))) return figures.hideGauges()
    clearTimeout(hiding)
    // It was granted after it was asked for, so this is over before it is.
    hiding = setTimeout(figures.hideGauges, heldMs - (Date.now() - askedMs)).unref()
    figures.showGauges(await readSagaGauges(database))
    await countEnded(database, figures)
  }

  const tick = () => {
    running ??= run()
      .catch((error: unknown) => logger.warn({ err: error }, 'could not read the figures of sagas'))
      .finally(() => {
        running = null
      })
  }
  const timer = setInterval(tick, everyMs)
  tick()

  return {
    async stop() {
      clearInterval(timer)
      await running
      clearTimeout(hiding)
      figures.hideGauges()
      // Without the database the lease runs out by itself.
      await releaseSweep(database, figuresSweep, owner).catch((error: unknown) =>
        logger.debug({ err: error }, 'could not give the figures of sagas up'),
      )
    },
  }
}

/** Counts what has ended since the last time. What ended before anybody counted is not counted. */
async function countEnded(database: Database, figures: SagaFigures): Promise<void> {
  const { ended, cursor } = await readNewlyEnded(database, await readEndedCursor(database))
  await writeEndedCursor(database, cursor)
  for (const saga of ended) figures.ended(saga)
}
