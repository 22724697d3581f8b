import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { credentials } from '@grpc/grpc-js'
import { SagaIngestClient } from '@switchyard/contracts/saga-ingest'
import { startDatabases } from '../../support/databases.js'
import { median } from '../../support/statistics.js'
import { cpuMsBelow } from '../git/cpu-time.js'
import { report } from '../saga/batch-load.js'
import { usageOf } from '../saga/process-usage.js'
import { type Figure, measureSizes, type Subject, type Tell } from './measure.js'
import { type Reporter, withReporter } from './saga-reporter.js'

const batches = 50
const batchEvents = 5
const everyMs = 200
const events = batches * batchEvents

/** Clients that follow all sagas while 25 events a second arrive. */
export const streams: Subject = {
  unit: 'open streams',
  scale: 'as each line says',
  sizes: [10, 100, 1_000],
  async run(sizes, tell) {
    const databases = await startDatabases(['sagas'])
    try {
      await withReporter(databases.urls.sagas, limits, (reporter) => follow(reporter, sizes, tell))
    } finally {
      await databases.close()
    }
  },
}

const limits = {
  SAGA_STREAMS_MAX: '2000',
  SAGA_STREAMS_PER_TOKEN_MAX: '2000',
  SAGA_STREAMS_PER_ADDRESS_MAX: '2000',
}

async function follow(reporter: Reporter, sizes: readonly number[], tell: Tell): Promise<void> {
  const client = new SagaIngestClient(`127.0.0.1:${reporter.grpcPort}`, credentials.createInsecure())
  const streams = new Streams(reporter)
  const measure = async (size: number): Promise<Figure[]> => {
    await streams.openUpTo(size)
    const { cpuMs, p50Ms } = await streams.deliver(client)
    return [
      { name: 'memory of the service, MiB', value: usageOf(reporter.pid).residentMiB },
      { name: 'CPU of an event and a stream, µs', value: (cpuMs * 1000) / (size * events) },
      { name: 'from report to delivery, p50, ms', value: p50Ms },
    ]
  }
  try {
    await measureSizes(sizes, measure, tell)
  } finally {
    streams.close()
    client.close()
  }
}

class Streams {
  readonly #reporter: Reporter
  readonly #open: IncomingMessage[] = []
  readonly #sentMs = new Map<string, number>()
  #sagas = 0
  #arrivals: number[] = []

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  async openUpTo(count: number): Promise<void> {
    const { httpPort: port, token } = this.#reporter
    while (this.#open.length < count) {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          port,
          path: '/api/v4/sagas/stream',
          headers: { 'PRIVATE-TOKEN': token },
        }
        get({ ...options, agent: false }, resolve).once('error', reject)
      })
      if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`)
      this.#read(response)
      this.#open.push(response)
    }
  }

  #read(response: IncomingMessage): void {
    let rest = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const nowMs = performance.now()
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const sagaId = /"saga_id":"([^"]+)"/.exec(line)?.[1]
        if (sagaId !== undefined) this.#arrivals.push(nowMs - (this.#sentMs.get(sagaId) ?? Number.NaN))
      }
    })
    // The service ends its streams when it stops.
    response.on('error', () => {})
  }

  /** Reports events for ten seconds, and waits until every stream has received all of them. */
  async deliver(client: SagaIngestClient): Promise<{ cpuMs: number; p50Ms: number }> {
    this.#arrivals = []
    const before = cpuMsBelow(process.pid)
    for (let batch = 0; batch < batches; batch += 1) {
      const next = delay(everyMs)
      const started = Array.from({ length: batchEvents }, () => this.#sagaStarted())
      await report(client, started)
      await next
    }
    const deliveries = events * this.#open.length
    for (let left = 600; this.#arrivals.length < deliveries; left -= 1) {
      if (left === 0) throw new Error(`${this.#arrivals.length} of ${deliveries} events were delivered`)
      await delay(50)
    }
    return { cpuMs: cpuMsBelow(process.pid) - before, p50Ms: median(this.#arrivals) }
  }

  #sagaStarted() {
    this.#sagas += 1
    const sagaId = `saga-${this.#sagas}`
    this.#sentMs.set(sagaId, performance.now())
    return { method: 'sagaStarted' as const, request: { sagaId, serviceName: 'booking' } }
  }

  close(): void {
    for (const response of this.#open) response.destroy()
  }
}
