import { credentials, type ServiceError } from '@grpc/grpc-js'
import { EventOutcome, type ReportEventsResponse, SagaIngestClient } from '@switchyard/contracts/saga-ingest'
import { type LoadOrder, type LoadResult, resultOf } from './load-types.js'
import { reportedEvent, type TraceEvent, traceOf } from './traces.js'

/**
 * Runs callers that report the next events of many sagas in one call, with the client of @grpc/grpc-js. It
 * ends when the time is over and every started saga has ended, so that the expected content of the database
 * is known.
 */
export async function runBatchLoad(order: LoadOrder): Promise<LoadResult> {
  const { port, callers, batchEvents = 1, seconds, warmUpSeconds, runDigits } = order
  const client = new SagaIngestClient(`127.0.0.1:${port}`, credentials.createInsecure())
  const latenciesMs: number[] = []
  const beginMs = performance.now() + warmUpSeconds * 1000
  const endMs = beginMs + seconds * 1000
  let sagas = 0
  let acknowledged = 0

  const nextEvent = (left: TraceEvent[]): TraceEvent[] => {
    if (left.length === 0 && performance.now() < endMs) left.push(...traceOf(sagas++, runDigits))
    return left.splice(0, 1)
  }

  async function call(): Promise<void> {
    const orchestrators = Array.from({ length: batchEvents }, (): TraceEvent[] => [])
    for (;;) {
      const events = orchestrators.flatMap(nextEvent)
      if (events.length === 0) return
      const sentAtMs = performance.now()
      await report(client, events)
      const nowMs = performance.now()
      acknowledged += events.length
      if (nowMs >= beginMs && nowMs < endMs) latenciesMs.push(nowMs - sentAtMs)
    }
  }

  const cpuBefore = process.cpuUsage()
  await Promise.all(Array.from({ length: callers }, call))
  const cpu = process.cpuUsage(cpuBefore)
  client.close()
  return resultOf(order, latenciesMs, acknowledged, cpu)
}

/** Reports events in one call. @throws when one of them was not recorded */
export async function report(client: SagaIngestClient, events: readonly TraceEvent[]): Promise<void> {
  const { results } = await new Promise<ReportEventsResponse>((resolve, reject) => {
    const answer = (error: ServiceError | null, response: ReportEventsResponse) =>
      error ? reject(error) : resolve(response)
    client.reportEvents({ events: events.map(reportedEvent) }, answer)
  })
  const isRecorded = results.every(({ outcome }) => outcome === EventOutcome.EVENT_OUTCOME_RECORDED)
  if (!isRecorded || results.length !== events.length)
    throw new Error(`events were not recorded: ${results.map(({ errors }) => errors).find(Boolean)}`)
}
