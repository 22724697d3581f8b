import { unavailable } from '@switchyard/domain'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { Report } from './decode.js'
import { createReportMetrics } from './metrics.js'
import { createRecorder, RecordFailure, type WriteBatch } from './record.js'
import { createReportEvents } from './report.js'

const started = (sagaId: string, serviceName = 'booking'): Report => ({
  raw: { operation: 'SagaStarted', sagaId, serviceName },
  request: new Uint8Array(10),
  metadata: {
    tenant: 'default',
    eventId: null,
    eventTime: null,
    eventSeq: null,
    attempt: null,
    traceParent: null,
    parentSagaId: null,
    tags: [],
  },
})

function service(writeBatch: WriteBatch) {
  const registry = new Registry()
  const queue = { eventsMax: 100, bytesMax: 1 << 20 }
  const recorder = createRecorder({ writeBatch, transactionsMax: 1, queue })
  const reportEvents = createReportEvents({
    recorder,
    metrics: createReportMetrics({ registry }),
    rateLimit: undefined,
    clock: () => new Date(0),
    validation: { serviceNameRequired: true },
    limits: { payloadBytesMax: 1000, errorsBytesMax: 1000 },
  })
  const peer = { name: null, service: null, tenants: null }
  return {
    recorder,
    report: (...reports: Report[]) =>
      reportEvents({ reports, peer, address: '10.0.0.1', givenUp: () => false }),
    async counted() {
      const { values } = (await registry.getSingleMetric('saga_events_total')?.get()) ?? { values: [] }
      return Object.fromEntries(values.map(({ labels, value }) => [labels.result, value]))
    },
  }
}

it('each event of a call is counted and answered with its own outcome, even after a refused one', async () => {
  const { report, counted } = service(async (events) =>
    events.map(({ event }) => {
      if ('sagaId' in event && event.sagaId === 'known') return 'duplicate'
      return 'sagaId' in event && event.sagaId === 'bad'
        ? new RecordFailure(unavailable('later'))
        : 'recorded'
    }),
  )
  const outcomes = await report(started('new'), started('', ''), started('known'), started('bad'))
  expect(outcomes).toEqual(['recorded', expect.any(Error), 'duplicate', unavailable('later')])
  expect(await counted()).toEqual({ recorded: 1, rejected: 1, duplicate: 1, failed: 1 })
})

it('the events of a call count as failed when none of them was written', async () => {
  const { report, recorder, counted } = service(async (events) => events.map(() => 'recorded'))
  await recorder.close()
  await expect(report(started('one'), started('two'))).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await counted()).toEqual({ failed: 2 })
})
