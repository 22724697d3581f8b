import type { Readable } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import {
  administrator,
  administratorOrScope,
  type Route,
  refusingUnknown,
  route,
} from '@switchyard/service-kit/http'
import type { ReportEvents } from '../use-cases/report-events.js'
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
import { tenantRoute } from './tenant-route.js'
import type { WebhookDependencies } from './webhooks/dependencies.js'
import { webhookRoutes } from './webhooks/index.js'

export interface RouteDependencies {
  /** Connections for reading, with a time limit for each statement, so that reads do not delay events. */
  readDatabase: Readable
  clock: Clock
  report: ReportEvents
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
    route('POST', '/saga_events', reporter(deps.isForCertificates), reportEvents(deps.report), {
      keptTexts: { list: 'events', members: ['parameter', 'result'] },
    }),
    tenantRoute('GET', '/sagas', reader, listSagas(readDatabase)),
    // Before `/sagas/:id`, which would take these names for ids.
    tenantRoute('GET', '/sagas/parked_activities', reader, listParkedActivities(readDatabase)),
    tenantRoute('GET', '/sagas/stats', reader, sagaStats(readDatabase, clock)),
    tenantRoute('GET', '/sagas/export', reader, exportSagas(readDatabase), { longLived: true }),
    tenantRoute('GET', '/sagas/stream', reader, streamSagas(stream), { longLived: true }),
    ...webhookRoutes(webhooks),
    ...bulkRoutes(bulk),
    tenantRoute('GET', '/sagas/:id', reader, getSaga(readDatabase)),
    tenantRoute('GET', '/sagas/:id/events', reader, listSagaEvents(readDatabase, deps.traceUrlTemplate)),
    tenantRoute('GET', '/sagas/:id/activities/:activity_id/payloads/:kind', reader, getPayload(readDatabase)),
    tenantRoute('POST', '/sagas/:id/notes', administrator, createNote(readDatabase)),
    tenantRoute('POST', '/sagas/:id/resolve', administrator, resolveSaga(resolve)),
  ])
}
