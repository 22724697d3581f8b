import type { Readable } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import {
  administrator,
  administratorOrScope,
  type Route,
  refusingUnknown,
  route,
} from '@switchyard/service-kit/http'
import type { ReportByCell } from '../cells/report-by-cell.js'
import type { ResolveSaga } from '../use-cases/resolve-saga.js'
import type { BulkDependencies } from './bulk/bulk-parameters.js'
import { bulkRoutes } from './bulk/index.js'
import { createNote } from './create-note.js'
import { exportSagas } from './export-sagas.js'
import { getPayload } from './get-payload.js'
import { getSaga } from './get-saga.js'
import { listParkedActivities } from './list-parked-activities.js'
import { listSagaEvents } from './list-saga-events.js'
import { listSagas } from './list-sagas.js'
import { reportEvents, reporter } from './report-events.js'
import { resolveSaga } from './resolve-saga.js'
import { sagaStats } from './saga-stats.js'
import { type StreamDependencies, streamSagas } from './stream-sagas.js'
import type { WebhookDependencies } from './webhooks/dependencies.js'
import { webhookRoutes } from './webhooks/index.js'

export interface RouteDependencies {
  /** Connections for reading, with a time limit for each statement, so that reads do not delay events. */
  readDatabase: Readable
  clock: Clock
  report: ReportByCell
  /** Only holders of certificates may report. */
  isForCertificates: boolean
  resolve: ResolveSaga
  bulk: BulkDependencies
  stream: StreamDependencies
  webhooks: WebhookDependencies
  /** Where traces are shown, with `{trace_id}` for the id. */
  traceUrlTemplate: string | undefined
}

/** The HTTP routes of this service: method, path, guard, endpoint. */
export function routes(deps: RouteDependencies): Route[] {
  const { readDatabase, clock, resolve, bulk, stream, webhooks } = deps
  const reader = administratorOrScope('read_sagas')
  return refusingUnknown([
    route('POST', '/saga_events', reporter(deps.isForCertificates), reportEvents(deps.report)),
    route('GET', '/sagas', reader, listSagas(readDatabase)),
    // Before `/sagas/:id`, which would take these names for ids.
    route('GET', '/sagas/parked_activities', reader, listParkedActivities(readDatabase)),
    route('GET', '/sagas/stats', reader, sagaStats(readDatabase, clock)),
    route('GET', '/sagas/export', reader, exportSagas(readDatabase), { longLived: true }),
    route('GET', '/sagas/stream', reader, streamSagas(stream), { longLived: true }),
    ...webhookRoutes(webhooks),
    ...bulkRoutes(bulk),
    route('GET', '/sagas/:id', reader, getSaga(readDatabase)),
    route('GET', '/sagas/:id/events', reader, listSagaEvents(readDatabase, deps.traceUrlTemplate)),
    route('GET', '/sagas/:id/activities/:activity_id/payloads/:kind', reader, getPayload(readDatabase)),
    route('POST', '/sagas/:id/notes', administrator, createNote(readDatabase)),
    route('POST', '/sagas/:id/resolve', administrator, resolveSaga(resolve)),
  ])
}
