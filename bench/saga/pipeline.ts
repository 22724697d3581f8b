import { createSagaEventStore } from '@switchyard/db'
import { createLogger, createMetrics } from '@switchyard/service-kit/observability'
import pg from 'pg'
import { createUnnestInserts } from './plain-inserts.js'
import { fillIds, type Template, traceOf } from './traces.js'

/** Sagas that report at the same time, each event after the answer to the one before. */
const sagasUnderWay = 500
const sagasOfRound = 4000
/** Transactions at the same time, as the service has by default. */
const transactionsMax = 2

/**
 * The reporter without gRPC in one process: from the bytes of requests to their answers, once with everything that the
 * service does, once as plain inserts of the rows that the former left behind. Built code, as it runs everywhere.
 */
interface Modules {
  'ingest/ingest-figures': typeof import('../../services/saga-reporter/src/ingest/ingest-figures.js')
  'ingest/saga-ingest': typeof import('../../services/saga-reporter/src/ingest/saga-ingest.js')
  'ingest/write-batch': typeof import('../../services/saga-reporter/src/ingest/write-batch.js')
  'use-cases/report-events': typeof import('../../services/saga-reporter/src/use-cases/report-events.js')
  'wire/decoders': typeof import('../../services/saga-reporter/src/wire/decoders.js')
}
const built = <Path extends keyof Modules>(path: Path): Promise<Modules[Path]> =>
  import(new URL(`../../services/saga-reporter/dist/${path}.js`, import.meta.url).href)
const { createIngestFigures } = await built('ingest/ingest-figures')
const { createSagaIngest } = await built('ingest/saga-ingest')
const { createWriteBatch } = await built('ingest/write-batch')
const { createReportEvents } = await built('use-cases/report-events')
const { decoders } = await built('wire/decoders')

const [pipelineUrl = '', plainUrl = '', rounds = '4'] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: pipelineUrl, max: 10 })
const store = createSagaEventStore({ pool })
const figures = createIngestFigures(createMetrics('bench'))
const ingest = createSagaIngest({
  writeBatch: createWriteBatch((events) => store.record(events), figures, createLogger('bench', 'silent')),
  transactionsMax,
  queue: { eventsMax: 10_000, bytesMax: 64 * 1024 * 1024 },
})
const reportEvents = createReportEvents({
  ingest,
  figures,
  rateLimit: { countByHeaders: () => {}, countByEvent: () => {} },
  clock: () => new Date(),
  validation: { serviceNameRequired: true },
  limits: { payloadBytesMax: 256 * 1024, errorsBytesMax: 16 * 1024 },
})
const metadata = {
  tenant: 'default',
  eventId: null,
  eventTime: null,
  eventSeq: null,
  attempt: null,
  traceParent: null,
  tags: [],
}
const sender = { peer: { name: null, service: null, tenant: null }, address: '127.0.0.1' }
const givenUp = () => false

async function report(template: Template, runDigits: string, saga: number): Promise<void> {
  const request = Buffer.allocUnsafe(template.message.length)
  fillIds(request, 0, template, runDigits, saga)
  const raw = decoders[template.rpc](request)
  const [result] = await reportEvents({ ...sender, reports: [{ raw, request, metadata }], givenUp })
  if (result !== 'recorded') throw new Error(`an event was answered ${result}`)
}

/** @returns events a second */
async function runPipeline(runDigits: string): Promise<number> {
  let next = 0
  let events = 0
  async function reportSagas(): Promise<void> {
    for (let saga = next++; saga < sagasOfRound; saga = next++) {
      for (const template of traceOf(saga)) {
        await report(template, runDigits, saga)
        events += 1
      }
    }
  }
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: sagasUnderWay }, reportSagas))
  return (events / (performance.now() - startedMs)) * 1000
}

const perSecond: { pipeline: number; plain: number }[] = []
// The first round fills caches, and gives the rows that are inserted afterwards.
await runPipeline('1000000')
const inserts = await createUnnestInserts(pipelineUrl, plainUrl, transactionsMax)
await inserts.run('1000000')
for (let round = 1; round <= Number(rounds); round += 1) {
  const runDigits = `${1_000_000 + round}`
  perSecond.push({ pipeline: await runPipeline(runDigits), plain: await inserts.run(runDigits) })
}
await inserts.compare()
await inserts.close()
await ingest.close()
await pool.end()
process.send?.(perSecond)
