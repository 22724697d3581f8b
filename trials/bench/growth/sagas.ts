import { createDatabase } from '@switchyard/db'
import { startDatabases } from '../../support/databases.js'
import { fill } from '../../support/fill-sagas.js'
import { runBatchLoad } from '../saga/batch-load.js'
import { fillLog } from '../saga-endurance/fill-log.js'
import { askAll, cpuOf, expectAnswer, type Figure, type Subject } from './measure.js'
import { type Reporter, withReporter } from './saga-reporter.js'

const eventsOfSaga = 8
const statuses = ['Ended', 'Error', 'Overtime', 'Pending', 'Started']

/**
 * A log of that many events with their sagas, and the same number of sagas of all kinds. Fifty million events
 * would take more than 50 GB of disk.
 */
export const sagas: Subject = {
  unit: 'events of sagas',
  sizes: [50_000, 500_000, 5_000_000],
  async run(sizes, tell) {
    const databases = await startDatabases(sizes.map(String))
    try {
      for (const size of sizes) {
        const url = databases.urls[size] ?? ''
        await fillAll(url, size)
        tell(size, await withReporter(url, {}, (reporter) => measure(reporter, size)))
      }
    } finally {
      await databases.close()
    }
  },
}

async function fillAll(url: string, size: number): Promise<void> {
  // Filling takes minutes.
  const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'bench', answerTimeoutMs: 0 })
  await fillLog(url, size, console.log)
  await fill(database, console.log, size / eventsOfSaga)
  await database.pool.query('CHECKPOINT')
  await database.close()
}

async function measure({ client, grpcPort }: Reporter, size: number): Promise<Figure[]> {
  const get = (path: string) => client.get(`/api/v4/sagas${path}`).then(expectAnswer)
  const id = (index: number) => `9${String(1 + ((index * 7919) % (size / eventsOfSaga))).padStart(18, '0')}`
  const questions = [
    {
      name: '20 of a status',
      ask: (index: number) => get(`?per_page=20&status=${statuses[index % statuses.length]}`),
    },
    { name: '20 that are stuck', ask: () => get('?per_page=20&stuck=true') },
    { name: 'counts of each status', ask: () => get('?per_page=1&with_counts=true') },
    { name: 'metrics of the last day', ask: () => get('/stats') },
    { name: 'one saga', ask: (index: number) => get(`/${id(index)}`) },
    { name: 'events of a saga', ask: (index: number) => get(`/${id(index + 500)}/events`) },
  ]
  // The first pass does not count, because new code is slower.
  await askAll(questions)
  return [...(await askAll(questions)), await reportBatches(grpcPort)]
}

const batchEvents = 100

/** Measures reports of new sagas by two callers; the ones after a warm-up count. */
async function reportBatches(port: number): Promise<Figure> {
  const report = (runDigits: string) =>
    runBatchLoad({ port, callers: 2, batchEvents, seconds: 4, warmUpSeconds: 0, runDigits })
  await report('1000001')
  const load = report('1000002')
  const { cpuMs } = await cpuOf(() => load)
  const { acknowledged, p50Ms } = await load
  const value = (cpuMs * batchEvents) / acknowledged
  return { name: `report of ${batchEvents} events`, value, p50Ms }
}
